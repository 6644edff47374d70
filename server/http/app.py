"""The ASGI application: the open addresses, the metrics, and the MCP endpoint behind its door."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anyio
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from server.app import ShiguanServer
from server.http.admission import Permissions
from server.http.attending import Attended
from server.http.door import AdminCheck, Challenge, HostCheck, Inlet, LimitCheck, Limits, TokenCheck
from server.http.hosts import Hosts
from server.http.identity import SCOPES, Identity
from server.http.metrics import CONTENT_TYPE, Metrics
from server.http.sessions import SessionCheck, Sessions
from server.http.verifying import Verifier
from server.http.watching import Watch
from server.server_settings import PATH, ServerSettings

METADATA = "/.well-known/oauth-protected-resource"
HEALTH = "/healthz"
"""Tells nothing, so it may be asked under any name: a load balancer knows an address only."""
MAX_SESSIONS = 10_000


@dataclass(frozen=True, slots=True)
class Front:
    """What the HTTP face is put together from."""

    settings: ServerSettings
    resource: str
    hosts: Hosts
    verifier: Verifier | None
    permissions: Permissions
    metrics: Metrics
    gauges: Callable[[], Mapping[str, float]]


def make_asgi_app(
    server: ShiguanServer,
    front: Front,
    alone: Identity,
    limits: Limits,
    pages: Sequence[BaseRoute],
    rest: Callable[[Callable[[ASGIApp], ASGIApp], Inlet], Sequence[BaseRoute]] = lambda guarded, inlet: (),
) -> Attended:
    """Return the application that serves `server` over streamable HTTP; without a verifier everybody is `alone`.

    `pages` ask for tokens themselves: to a browser they are a form and a cookie. `rest` makes further routes; it
    is given what puts the token check before an app, and what takes in bodies.
    """
    settings, metrics = front.settings, front.metrics
    challenge = Challenge(_metadata_url(front.resource) if settings.jwt_issuer else "")
    inlet = Inlet(limits, challenge, metrics)
    watch = Watch(front.verifier, settings.recheck_seconds) if front.verifier is not None else None
    sessions = Sessions(settings.sessions_per_token, settings.session_seconds)
    mcp = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=settings.max_body_bytes + 1,
        session_idle_timeout=settings.session_seconds,
        max_sessions=MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # done by HostCheck
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with mcp.router.lifespan_context(mcp), anyio.create_task_group() as tasks:
            if watch is not None:
                tasks.start_soon(watch.run)
            yield
            tasks.cancel_scope.cancel()

    def guarded(app: ASGIApp) -> ASGIApp:
        return TokenCheck(app, watch, alone, challenge, metrics)

    in_session = SessionCheck(mcp, sessions, metrics)
    routes: list[BaseRoute] = [
        Route(HEALTH, endpoint=_healthz, methods=["GET"]),
        Route("/metrics", endpoint=guarded(AdminCheck(_metrics_page(front), challenge))),
        *_metadata_routes(front),
        *pages,
        *rest(guarded, inlet),
        Mount("/", app=guarded(LimitCheck(in_session, inlet, front.permissions, metrics))),
    ]
    app: ASGIApp = Starlette(routes=routes, lifespan=lifespan)
    if settings.allowed_origins:
        app = CORSMiddleware(
            app,
            allow_origins=[origin.rstrip("/") for origin in settings.allowed_origins],
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Mcp-Session-Id", "WWW-Authenticate", "Retry-After"],
        )
    return Attended(HostCheck(app, front.hosts, metrics, open_path=HEALTH), metrics)


async def _healthz(_: Request) -> Response:
    return PlainTextResponse("ok\n")


def _metrics_page(front: Front) -> ASGIApp:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        text = front.metrics.text(front.gauges())
        await Response(text, media_type=None, headers={"content-type": CONTENT_TYPE})(scope, receive, send)

    return page


def _metadata_routes(front: Front) -> list[BaseRoute]:
    """Return where clients learn who issues tokens (RFC 9728); stored tokens are handed out by a person.

    The addresses are given as texts: URL objects would gain a slash, and an issuer is compared letter by letter.
    """
    if not front.settings.jwt_issuer:
        return []
    about: Any = {"resource": front.resource, "authorization_servers": [front.settings.jwt_issuer]}
    metadata = ProtectedResourceMetadata(**about, scopes_supported=[*SCOPES], resource_name="Shiguan 史官")
    body = metadata.model_dump(mode="json", exclude_none=True)

    async def page(_: Request) -> Response:
        headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
        return JSONResponse(body, headers=headers)

    paths = {urlsplit(_metadata_url(front.resource)).path, METADATA}
    return [Route(path, endpoint=page, methods=["GET"]) for path in sorted(paths)]


def _metadata_url(resource: str) -> str:
    return str(build_resource_metadata_url(AnyHttpUrl(resource)))
