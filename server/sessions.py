"""Serving one client over its standard streams, with everything in this process."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import BinaryIO

import anyio
import anyio.to_thread

from historian.session import Session
from server.app import ShiguanServer, build_app
from server.binding import Attached, Binder, Binding, FixedBinder
from server.commands.common import scope_of
from server.composition import open_household
from server.household import Household, running
from server.settings import Settings
from server.trust import TrustedBinder
from server.wire import Wire, leave_within, mended

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
    attached = Attached(household.memory, stdio_binder(settings), household.warm_up)
    anyio.run(partial(_serve, app, household, attached, wire))


async def _serve(app: ShiguanServer, household: Household, attached: Attached, wire: Wire) -> None:
    try:
        async with running(household):
            await app.serve_lines(attached, WireSource(wire.source), WireSink(wire.sink))
    finally:
        leave_within(LEAVING_SECONDS)


class WireSource:
    """Yields the lines of a client until it closes its end, or sends no text; from then on the process has to leave."""

    def __init__(self, stream: BinaryIO) -> None:
        self._lines = io.TextIOWrapper(stream, encoding="utf-8", errors="replace")

    def __aiter__(self) -> AsyncIterator[str]:
        return self._read()

    async def _read(self) -> AsyncIterator[str]:
        while line := await anyio.to_thread.run_sync(self._lines.readline, abandon_on_cancel=True):
            yield mended(line)
        leave_within(LEAVING_SECONDS)


class WireSink:
    """Sends lines to a client; what it no longer reads is dropped."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    async def write(self, text: str) -> None:
        """Send `text`."""
        await anyio.to_thread.run_sync(self._send, text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        """Do nothing: every write is sent at once."""
        await anyio.lowlevel.checkpoint()

    def _send(self, data: bytes) -> None:
        try:
            self._stream.write(data)
            self._stream.flush()
        except OSError:  # the client is gone; its stdin will end too
            return
