"""What a token may do: the scope that each call needs, and the audit line of those who speak for others."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST

from historian.model import Scope
from server.binding import Attached, current_memory, identity_keys
from server.http.binder import MAY_NOT_ACT, current_identity
from server.http.identity import ACT_AS, ADMIN, READ, WRITE, Identity
from server.http.metrics import Metrics
from server.toolsets import Published, by_toolset

LIST = "tools/list"
FREE = frozenset({"initialize", "ping", "server/discover", LIST, "prompts/list", "logging/setLevel"})
FREE_PREFIXES = ("notifications/", "resources/list", "resources/templates/list")
"""What any verified token may ask: it tells nothing that is anybody's."""

audit = logging.getLogger("shiguan.audit")


class Permissions:
    """Which scope a request needs, from what the tools say of themselves: a new tool needs no entry anywhere."""

    def __init__(self, tools: Iterable[Published]) -> None:
        admin = frozenset(tool.name for tool in by_toolset().get("admin", ()))
        self._tools = {tool.name: _scope_of(tool, admin) for tool in tools}

    def needed(self, method: object, params: object) -> str | None:
        """Return the scope, or None where any token suffices. What is not known needs as much as reading does."""
        if not isinstance(method, str) or method in FREE or method.startswith(FREE_PREFIXES):
            return None
        if method == "tools/call" and isinstance(params, Mapping):
            return self._tools.get(str(params.get("name")), READ)
        return READ

    def lacking(self, identity: Identity, method: object, params: object) -> str | None:
        """Return the scope that a request needs and `identity` has not, or None."""
        meta = params.get("_meta") if isinstance(params, Mapping) else None
        if identity_keys(meta if isinstance(meta, Mapping) else None) and not identity.may(ACT_AS):
            return ACT_AS
        scope = self.needed(method, params)
        return scope if scope is not None and not identity.may(scope) else None

    def listed(self, identity: Identity, tools: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return those of some listed tools that `identity` may call."""
        return [tool for tool in tools if identity.may(self._tools.get(str(tool.get("name")), READ))]


class Admission:
    """Middleware behind the binding of a request: the last word on scopes, which tools are listed, the audit line."""

    def __init__(self, permissions: Permissions, metrics: Metrics) -> None:
        self._permissions = permissions
        self._metrics = metrics

    async def __call__(self, ctx: ServerRequestContext[Attached, Any], call_next: CallNext) -> HandlerResult:
        """Let the request through, or refuse it by a protocol error."""
        identity = current_identity()
        lacking = self._permissions.lacking(identity, ctx.method, ctx.params)
        if lacking is not None:
            raise MCPError(code=INVALID_REQUEST, message=challenge_sentence(lacking))
        tool = _tool(ctx.method, ctx.params)
        self._metrics.asked(ctx.method, tool)
        meta = ctx.params.get("_meta") if ctx.params is not None else None
        if ctx.request_id is not None and identity_keys(meta if isinstance(meta, Mapping) else None):
            _note(identity, current_memory().scope, ctx, tool)
        result = await call_next(ctx)
        if ctx.method == LIST and isinstance(result, dict):  # as it goes out: the SDK has made it by now
            return {**result, "tools": self._permissions.listed(identity, result["tools"])}
        return result


def challenge_sentence(scope: str) -> str:
    """Return what a client is told whose token lacks `scope`."""
    return MAY_NOT_ACT if scope == ACT_AS else f"This token may not do that; use one with the scope {scope}."


def _note(identity: Identity, scope: Scope, ctx: ServerRequestContext[Attached, Any], tool: str | None) -> None:
    """Write one line that says who acted as whom: JSON, so that ids cannot forge a second one."""
    line = {
        "audit": "act-as",
        "token": identity.client_id,
        "issuer": identity.issuer,
        "subject": identity.user_id,
        "user": scope.user_id,
        "group": scope.group_id,
        "groups": sorted(scope.groups) or None,
        "method": ctx.method,
        "tool": tool,
        "request": ctx.request_id,
    }
    audit.info("%s", json.dumps({key: value for key, value in line.items() if value is not None}))


def _tool(method: str, params: Mapping[str, Any] | None) -> str | None:
    return str(params.get("name"))[:200] if method == "tools/call" and params is not None else None


def _scope_of(tool: Published, admin: frozenset[str]) -> str:
    if tool.name in admin or tool.needs_admin:
        return ADMIN
    return READ if tool.annotations.read_only_hint else WRITE
