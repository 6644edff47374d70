"""Serving one client over its standard streams, with everything in this process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio

from historian.session import Session
from server.app import ShiguanServer, build_app
from server.binding import Attached, Binder, Binding, FixedBinder
from server.commands.common import scope_of
from server.composition import open_household
from server.household import Household, running
from server.settings import Settings
from server.standard_streams import WireSink, WireSource
from server.trust import TrustedBinder
from server.wire import Wire, leave_within

LEAVING_SECONDS = 8.0
"""How long answers and background work may still take once the client has closed stdin."""


def stdio_binder(settings: Settings) -> Binder:
    """Return what binds the calls of the client over stdio: its settings, or each call itself for a trusted host."""
    if settings.trust_host:
        return TrustedBinder(Session(timezone=settings.timezone))
    return FixedBinder(Binding(scope_of(settings), Session(timezone=settings.timezone, sender_name=settings.name)))


def serve_standalone(settings: Settings, wire: Wire, read: Callable[[], Settings]) -> None:
    """Serve one client over `wire` until it closes its end, with everything in this process, which holds the folder.

    `read` reads the settings anew when their file changes.

    Raises:
        StoreError: the data folder cannot be used.
        InvalidInputError: a toolset does not exist.
    """
    app = build_app(settings.toolsets)
    household = open_household(settings, read=read)
    attached = household.attached(stdio_binder(settings))
    anyio.run(partial(_serve, app, household, attached, wire))


async def _serve(app: ShiguanServer, household: Household, attached: Attached, wire: Wire) -> None:
    try:
        async with running(household):
            source = WireSource(wire.source, partial(leave_within, LEAVING_SECONDS))
            await app.serve_lines(attached, source, WireSink(wire.sink))
    finally:
        leave_within(LEAVING_SECONDS)
