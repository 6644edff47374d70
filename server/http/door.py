"""The way in: host and origin, token, rate, body and scope are checked, in this order, before the SDK sees a request.

Nothing that the client sent is repeated in a refusal.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass
from typing import Any

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp_types import INVALID_REQUEST, PARSE_ERROR
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from historian.errors import IssuerUnreachableError
from server.envelope import is_message
from server.http.admission import Permissions, challenge_sentence
from server.http.answer import Answer
from server.http.binder import verified
from server.http.hosts import Hosts
from server.http.identity import ADMIN, SCOPES, Identity
from server.http.jwt_keys import AFTER_FAILURE_SECONDS
from server.http.limits import Gone, RateLimiter, TooLarge, TooSlow, read_body
from server.http.metrics import Metrics
from server.http.refusals import refusal
from server.http.watching import Watch
from server.wire import mended

NO_TOKEN = "Send a token: Authorization: Bearer …"
WRONG_TOKEN = "The token is unknown, has expired, or was not issued for this server."
WRONG_HOST = "This server is not called by that name; see server.allowed_hosts."
WRONG_ORIGIN = "Pages of this origin may not call this server; see server.allowed_origins."
TOO_MANY = "Too many requests with this token; try again in {seconds} s."
TOO_LARGE = "The body of the request is too large."
NO_JSON = "The body is not JSON; send one JSON-RPC 2.0 message."
NO_MESSAGE = (
    "The body is not one JSON-RPC 2.0 message; send an object with jsonrpc, method and params, and an id or none."
)
TOO_SLOW = "The body of the request did not arrive in time."

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes and seconds that a body may take, and the requests of each token."""

    body_bytes: int
    body_seconds: float
    rate: RateLimiter


@dataclass(frozen=True, slots=True)
class Challenge:
    """Where a client without a token learns how to get one: the address of RFC 9728 metadata, "" where none is."""

    metadata_url: str

    def header(self, error: str = "", sentence: str = "", scope: str = "") -> dict[str, str]:
        """Return the WWW-Authenticate header. A request without any token is told no error (RFC 6750)."""
        parts = [f'{name}="{value}"' for name, value in (("error", error), ("error_description", sentence)) if value]
        parts += [f'scope="{scope}"'] if scope else []
        parts += [f'resource_metadata="{self.metadata_url}"'] if self.metadata_url else []
        return {"WWW-Authenticate": f"Bearer {', '.join(parts)}".rstrip()}


class HostCheck:
    """Answers 421 or 403 where a request names another server, or comes from a page of another one."""

    def __init__(self, app: ASGIApp, hosts: Hosts, metrics: Metrics, open_path: str) -> None:
        self._app = app
        self._hosts = hosts
        self._metrics = metrics
        self._open_path = open_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["path"] != self._open_path:
            headers = Headers(scope=scope)
            hosts, origins = headers.getlist("host"), headers.getlist("origin")
            if len(hosts) != 1 or not self._hosts.knows(hosts[0]):
                self._metrics.refused("host")
                await refusal(421, "wrong_host", WRONG_HOST)(scope, receive, send)
                return
            if any(not self._hosts.admits(origin) for origin in origins):
                self._metrics.refused("origin")
                await refusal(403, "wrong_origin", WRONG_ORIGIN)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class TokenCheck:
    """Answers 401 unless a verified token comes along, and 503 while that cannot be told; without one who verifies
    everybody is `alone`.

    `scope["user"]` is what the SDK binds its sessions to. An answer ends with its token.
    """

    def __init__(
        self, app: ASGIApp, watch: Watch | None, alone: Identity, challenge: Challenge, metrics: Metrics
    ) -> None:
        self._app = AuthContextMiddleware(app)
        self._watch = watch
        self._alone = alone
        self._challenge = challenge
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._watch is None:
            await self._app(_by(self._alone, scope), receive, send)
            return
        token = bearer(Headers(scope=scope)) or ""
        identity = await self._identity_of(token, self._watch)
        if isinstance(identity, Response):
            await identity(scope, receive, send)
            return
        answer = Answer(send)
        with self._watch.over(token, identity) as watched:
            await self._app(_by(identity, scope), receive, answer.send)
        if watched.cancelled_caught:
            await answer.finish(self._wrong(), scope, receive)

    async def _identity_of(self, token: str, watch: Watch) -> Identity | Response:
        """Return whom a token speaks for, or a refusal."""
        try:
            identity = await watch.verify(token) if token else None
        except IssuerUnreachableError as error:
            self._metrics.refused("issuer")
            return refusal(503, "issuer_unreachable", str(error), {"Retry-After": str(AFTER_FAILURE_SECONDS)})
        if identity is None:
            self._metrics.refused("token")
        if not token:
            return refusal(401, "no_token", NO_TOKEN, self._challenge.header(scope=" ".join(SCOPES[:2])))
        return identity or self._wrong()

    def _wrong(self) -> Response:
        return refusal(401, "invalid_token", WRONG_TOKEN, self._challenge.header("invalid_token", WRONG_TOKEN))


class Inlet:
    """Takes in the bodies of requests as far as their tokens may send them now, and counts what it refuses."""

    def __init__(self, limits: Limits, challenge: Challenge, metrics: Metrics) -> None:
        self._limits = limits
        self._challenge = challenge
        self._metrics = metrics

    async def body(self, scope: Scope, receive: Receive) -> bytes | Response | None:
        """Return the whole body of a request, a refusal (429, 413, 408), or None where the client hung up."""
        seconds = self._limits.rate.wait_for(identity_of(scope).key)
        if seconds:
            return self.refuse("too_many", 429, TOO_MANY.format(seconds=seconds), {"Retry-After": str(seconds)})
        declared = Headers(scope=scope).get("content-length")
        body = await read_body(receive, declared, self._limits.body_bytes, self._limits.body_seconds)
        if isinstance(body, TooLarge):
            return self.refuse("too_large", 413, TOO_LARGE)
        if isinstance(body, TooSlow):
            return self.refuse("too_slow", 408, TOO_SLOW)
        return None if isinstance(body, Gone) else body

    def lacking(self, needed: str) -> Response:
        """Return the refusal (403) of a token without the scope that is needed."""
        self._metrics.refused("insufficient_scope")
        return out_of_scope(self._challenge, needed)

    def refuse(self, reason: str, status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
        """Return a refusal."""
        self._metrics.refused(reason)
        return refusal(status, reason, sentence, headers)


class LimitCheck:
    """Answers 429, 413, 408 and 403, and hands on the whole body of the others."""

    def __init__(self, app: ASGIApp, inlet: Inlet, permissions: Permissions, metrics: Metrics) -> None:
        self._app = app
        self._inlet = inlet
        self._permissions = permissions
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await self._inlet.body(scope, receive)
        if isinstance(body, bytes) and scope["method"] == "POST":
            body = self._admitted(identity_of(scope), _mended(body))
        if isinstance(body, bytes):
            await self._app(scope, _replayed(body, receive), send)
        elif body is not None:
            await body(scope, receive, send)

    def _admitted(self, identity: Identity, body: bytes) -> bytes | Response:
        """Return a body that is one message which the token may send, or a refusal."""
        message = _message(body)
        if isinstance(message, Response):
            self._metrics.refused("message")
            return message
        lacking = self._permissions.lacking(identity, message.get("method"), message.get("params"))
        return body if lacking is None else self._inlet.lacking(lacking)


class AdminCheck:
    """Answers 403 to tokens without the scope for what concerns everybody."""

    def __init__(self, app: ASGIApp, challenge: Challenge) -> None:
        self._app = app
        self._challenge = challenge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if identity_of(scope).may(ADMIN):
            await self._app(scope, receive, send)
            return
        await out_of_scope(self._challenge, ADMIN)(scope, receive, send)


def identity_of(scope: Scope) -> Identity:
    """Return whose verified token came with a request."""
    identity: Identity = scope["user"].access_token.identity
    return identity


def out_of_scope(challenge: Challenge, needed: str) -> Response:
    """Return the refusal of a token without the scope that is needed."""
    sentence = challenge_sentence(needed)
    return refusal(403, "insufficient_scope", sentence, challenge.header("insufficient_scope", sentence, needed))


def _by(identity: Identity, scope: Scope) -> Scope:
    return {**scope, "user": AuthenticatedUser(verified(identity))}


def bearer(headers: Headers) -> str | None:
    """Return the one bearer token of a request. Two would leave it open which one was checked by a proxy."""
    given = headers.getlist("authorization")
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _message(body: bytes) -> dict[str, Any] | Response:
    """Return a body as the one JSON-RPC message it must be: what the SDK says of others is pages long."""
    try:
        message: Any = from_json(body)
    except ValueError:
        return _no_message(PARSE_ERROR, NO_JSON)
    return message if is_message(message) else _no_message(INVALID_REQUEST, NO_MESSAGE)


def _no_message(code: int, sentence: str) -> Response:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": sentence}}
    return JSONResponse(error, status_code=400)


def _mended(body: bytes) -> bytes:
    if b"\\ud" not in body and b"\\uD" not in body:
        return body
    try:
        return mended(body.decode("utf-8")).encode("utf-8")
    except UnicodeDecodeError:
        return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting: deque[Message] = deque([{"type": "http.request", "body": body, "more_body": False}])

    async def next_message() -> Message:
        return waiting.popleft() if waiting else await receive()

    return next_message
