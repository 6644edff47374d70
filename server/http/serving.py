"""From a held data folder to a server that listens over HTTP, and for local clients as any owner does."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlsplit

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.routing import BaseRoute
from starlette.types import ASGIApp
from typing_extensions import override

from historian.errors import NotConfiguredError, StoreError
from historian.hold import FolderHold
from historian.session import Session
from server.app import Lifespan, build_app
from server.binding import Attached, Binder, Binding, FixedBinder
from server.bound_socket import listen
from server.commands.common import scope_of
from server.composition import open_household
from server.household import Household, running
from server.http.admission import Admission, Permissions
from server.http.app import Front, make_asgi_app
from server.http.attending import Attended
from server.http.binder import TokenBinder
from server.http.connections import protocol_within, room_for
from server.http.door import Inlet, Limits
from server.http.hosts import bracketed, is_loopback, make_hosts
from server.http.identity import ADMIN, READ, WRITE, Identity
from server.http.limits import RateLimiter
from server.http.metrics import Metrics
from server.http.rest import PREFIX, Rest, bound, rest_routes
from server.http.verifying import NO_VERIFIER, Verifier, make_verifier
from server.owner.address import token_of
from server.owner.attach import Starter
from server.owner.process import Owner
from server.owner.serving import listening
from server.server_settings import PATH
from server.settings import Settings
from server.toolsets import published
from server.web.answering import Place
from server.web.guests import Guests
from server.web.site import Grounds, make_site
from server.web.visits import Guest, Visits
from server.web.window import OpenWindow

DRAIN_SECONDS = 2
"""How long answers may still take once the server has been told to stop."""
KEEP_ALIVE_SECONDS = 30
BACKLOG = 2048
PAGES = "/ui"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Doorway:
    """A bound socket, the address that clients use, and who is let in: everything that may be wrong before serving."""

    socket: socket.socket
    resource: str
    verifier: Verifier | None
    settings: Settings

    @property
    def port(self) -> int:
        """The port that the socket has, also where any was wanted."""
        port: int = self.socket.getsockname()[1]
        return port

    @property
    def pages(self) -> Place:
        """Where the pages for people are: beside the endpoint."""
        named = urlsplit(self.resource)
        prefix = named.path.removesuffix(PATH).rstrip("/")
        return Place(f"{named.scheme}://{named.netloc}", prefix + PAGES, mount=PAGES)

    @property
    def place(self) -> str:
        """Where it listens, which a proxy in front of it hides."""
        return f"{bracketed(self.settings.server.host)}:{self.port}"


def open_doorway(settings: Settings, *, alone: bool) -> Doorway:
    """Bind the port and prepare the verifier. `alone`: the operator named the one user to serve without tokens.

    Raises:
        NotConfiguredError: nobody could be told apart, or a setting is missing.
        InvalidInputError: a setting is wrong, or a toolset does not exist.
        StoreError: the port cannot be used, or the tokens file.
    """
    published(settings.toolsets)
    server = settings.server
    bound = _bind(server.host, server.port)
    try:
        port: int = bound.getsockname()[1]
        resource = server.public_url or f"http://{bracketed(server.host)}:{port}{PATH}"
        make_hosts(server, port)
        verifier = make_verifier(settings, resource)
        if verifier is None and not (alone and is_loopback(server.host)):
            raise NotConfiguredError(NO_VERIFIER)
        return Doorway(bound, resource, verifier, settings)
    except BaseException:
        bound.close()
        raise


def serve_http(doorway: Doorway, hold: FolderHold, starter: Starter) -> None:
    """Serve the folder that `hold` holds until told to stop. `starter` lets local clients in once it listens."""
    anyio.run(partial(_serve, doorway, hold, starter))


async def _serve(doorway: Doorway, hold: FolderHold, starter: Starter) -> None:
    settings = doorway.settings
    household = open_household(settings)
    async with running(household), listening(settings) as (listener, address):
        visits = Visits()
        window = OpenWindow(doorway.pages, visits)
        owner = Owner(household, token_of(settings.data_dir), settings.server.idle_seconds, window, doorway.resource)
        web = make_web(household, doorway, visits)

        ended = anyio.Event()

        async def serve_web() -> None:
            try:
                await web.serve([doorway.socket])
            finally:
                ended.set()
                owner.stop()

        hold.announce(address)
        starter.release()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve_web)
                log.info("serving %s, listening on %s", doorway.resource, doorway.place)
                await owner.run(listener)
                web.attended.hang_up_streams()
                web.should_exit = True
                with anyio.move_on_after(DRAIN_SECONDS):
                    await ended.wait()
                web.attended.hang_up()
        finally:
            hold.announce(None)


class Web(uvicorn.Server):
    """Uvicorn as a part of this process, whose signals are the owner's to hear."""

    def __init__(self, config: uvicorn.Config, attended: Attended) -> None:
        super().__init__(config)
        self.attended = attended

    @override
    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


def make_web(household: Household, doorway: Doorway, visits: Visits) -> Web:
    """Return the server of `household` behind `doorway`; whoever runs it calls `serve` with the bound socket."""
    settings, server = doorway.settings, doorway.settings.server
    tools = published(settings.toolsets)
    metrics = Metrics(tool.name for tool in tools)
    permissions = Permissions(tools)
    front = Front(
        settings=server,
        resource=doorway.resource,
        hosts=make_hosts(server, doorway.port),
        verifier=doorway.verifier,
        permissions=permissions,
        metrics=metrics,
        gauges=partial(_gauges, household),
    )
    app = build_app(settings.toolsets, _lifespan(household, doorway), [Admission(permissions, metrics)])
    limits = Limits(server.max_body_bytes, server.body_seconds, RateLimiter(server.rate_limit))
    pages = _pages(household, doorway, visits, limits)
    rest = partial(_rest, household, doorway, metrics)
    attended = make_asgi_app(app, front, alone_as(settings), limits, pages, rest)
    config = uvicorn.Config(
        attended,
        http=protocol_within(room_for(server.max_connections), server.body_seconds, metrics),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",  # a malformed request is the sender's affair, and needs no token to be sent a thousand times
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=2 * DRAIN_SECONDS,
    )
    return Web(config, attended)


def _pages(household: Household, doorway: Doorway, visits: Visits, limits: Limits) -> list[BaseRoute]:
    alone, defaults = _bindings(doorway.settings)
    grounds = Grounds(
        memory=household.memory,
        warm_up=household.warm_up,
        visits=visits,
        guests=Guests(visits, doorway.verifier, Guest(alone), defaults),
        place=doorway.pages,
        rate=limits.rate,
        body_seconds=limits.body_seconds,
    )
    return make_site(grounds)


def _rest(
    household: Household,
    doorway: Doorway,
    metrics: Metrics,
    guarded: Callable[[ASGIApp], ASGIApp],
    inlet: Inlet,
) -> list[BaseRoute]:
    """Return the routes of group memory as REST, where its toolset is on."""
    if "group" not in doorway.settings.toolsets:
        return []
    alone, defaults = _bindings(doorway.settings)
    bind = bound(alone if doorway.verifier is None else None, defaults)
    rest = Rest(household.memory, household.warm_up, bind, inlet, metrics, household.seats)
    return rest_routes(rest, guarded, urlsplit(doorway.resource).path.removesuffix(PATH).rstrip("/") + PREFIX)


def _bindings(settings: Settings) -> tuple[Binding, Session]:
    """Return the binding of the one user that the operator named, and the session of everybody else's defaults."""
    defaults = Session(timezone=settings.timezone)
    return Binding(scope_of(settings), replace(defaults, sender_name=settings.name)), defaults


def alone_as(settings: Settings) -> Identity:
    """Return everybody's identity where there is no verifier: the one user that the operator named."""
    scope = scope_of(settings)
    return Identity(
        client_id="alone",
        user_id=scope.user_id,
        groups=scope.groups,
        scopes=frozenset({READ, WRITE, ADMIN}),
        name=settings.name,
    )


def _lifespan(household: Household, doorway: Doorway) -> Lifespan:
    settings, session = doorway.settings, Session(timezone=doorway.settings.timezone)
    binder: Binder = TokenBinder(session)
    if doorway.verifier is None:
        binder = FixedBinder(Binding(scope_of(settings), replace(session, sender_name=settings.name)))

    @asynccontextmanager
    async def lifespan(_: MCPServer[Attached]) -> AsyncGenerator[Attached]:
        yield household.attached(binder)

    return lifespan


def _gauges(household: Household) -> Mapping[str, float]:
    stats = household.queue.stats()
    return {
        "jobs_pending": stats.pending,
        "jobs_processing": stats.processing,
        "jobs_failed": stats.failed,
        "oldest_job_seconds": round(stats.oldest_pending_age, 1),
    }


def _bind(host: str, port: int) -> socket.socket:
    try:
        return listen(host, port, BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StoreError(f"Port {port} is in use by another program; name another one with --port.") from None
        raise StoreError("The address of --host and --port cannot be listened on; name another one.") from None
