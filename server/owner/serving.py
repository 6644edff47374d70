"""From a held data folder to an owner that listens: the composition of the owner process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
from anyio.abc import Listener, SocketStream

from historian.hold import FolderHold
from server.composition import open_household
from server.household import running
from server.owner.address import LOCALHOST, has_unix_sockets, socket_path, token_of
from server.owner.process import Owner
from server.settings import Settings
from server.web.window import LoopbackWindow


def serve_folder(settings: Settings, hold: FolderHold) -> None:
    """Serve the folder that `hold` holds until nobody needs it."""
    anyio.run(partial(_serve, settings, hold))


async def _serve(settings: Settings, hold: FolderHold) -> None:
    household = open_household(settings)
    async with running(household), listening(settings) as (listener, address):
        window = LoopbackWindow(household)
        owner = Owner(household, token_of(settings.data_dir), settings.server.idle_seconds, window)
        hold.announce(address)
        try:
            await owner.run(listener)
        finally:
            hold.announce(None)


@asynccontextmanager
async def listening(settings: Settings) -> AsyncGenerator[tuple[Listener[SocketStream], str | int]]:
    """Listen on a Unix socket of mode 0600, or on a loopback port where there is none."""
    forgive_late_reads()
    if not has_unix_sockets():
        multi: Any = await anyio.create_tcp_listener(local_host=LOCALHOST, local_port=0)
        async with multi:
            yield multi, int(multi.extra(anyio.abc.SocketAttribute.local_port))
        return
    path = socket_path(settings.data_dir)
    path.unlink(missing_ok=True)  # the hold says that its maker is gone
    listener: Any = await anyio.create_unix_listener(path, mode=0o600, backlog=socket.SOMAXCONN)
    async with listener:
        try:
            yield listener, str(path)
        finally:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def forgive_late_reads() -> None:
    """Let this event loop be silent about a socket that becomes readable in the moment its reader is cancelled.

    anyio's Unix sockets resolve a future that is cancelled by then (`_wait_until_readable`), and asyncio prints a
    traceback of it, though nothing is lost: whoever leaves does not read any more.
    """
    asyncio.get_running_loop().set_exception_handler(_complain)


def _complain(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    settled_twice = isinstance(context.get("exception"), asyncio.InvalidStateError)
    if not (settled_twice and "set_result" in str(context.get("handle"))):
        loop.default_exception_handler(context)
