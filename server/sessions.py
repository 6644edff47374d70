"""Serving clients over an open household: one app per set of toolsets and binder, all over the same memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from mcp.server.mcpserver import MCPServer

from historian.hold import FolderHold
from server.app import ShiguanServer, build_app
from server.binding import Attached, Binder, Binding, FixedBinder
from server.composition import Household, open_household, running
from server.settings import Settings


def app_over(household: Household, binder: Binder, toolsets: Sequence[str] = ()) -> ShiguanServer:
    """Return a server whose sessions share `household`, whose historian somebody else runs.

    Raises:
        InvalidInputError: a toolset does not exist.
    """

    @asynccontextmanager
    async def lifespan(_: MCPServer[Attached]) -> AsyncGenerator[Attached]:
        yield Attached(household.memory, binder, household.warm_up)

    return build_app(toolsets, lifespan)


async def serve_standalone(settings: Settings, binding: Binding) -> None:
    """Serve one client over stdin and stdout until it closes them, with everything in this process.

    Raises:
        FolderInUseError: another process holds the data folder.
        StoreError: the data folder cannot be used.
        InvalidInputError: a toolset does not exist.
    """
    hold = FolderHold(settings.data_dir)
    hold.take("serve --standalone")
    try:
        household = open_household(settings)
        app = app_over(household, FixedBinder(binding), settings.toolsets)
        async with running(household):
            await app.run_stdio_async()
    finally:
        hold.release()
