"""A bell: any thread rings it, one task of the event loop waits for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.from_thread import BlockingPortal


class Bell:
    """Wakes one waiting task. A ring that nobody waits for is kept; a ring before anybody listens is lost."""

    def __init__(self) -> None:
        self._portal: BlockingPortal | None = None
        self._rung = anyio.Event()

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[None]:
        """Bind the bell to the running event loop for the duration of the block."""
        async with BlockingPortal() as portal:
            self._portal = portal
            try:
                yield
            finally:
                self._portal = None

    def ring(self) -> None:
        """Wake the waiting task. Returns at once; for any thread but that of the event loop."""
        portal = self._portal
        if portal is not None and not self._rung.is_set():
            with suppress(RuntimeError):  # the portal closed between the check and the call: nobody waits any more
                portal.start_task_soon(self._ring)

    def ring_here(self) -> None:
        """Wake the waiting task, from the thread of the event loop."""
        self._rung.set()

    async def wait(self, seconds: float) -> None:
        """Return when the bell was rung since the last return, or after `seconds`."""
        with anyio.move_on_after(seconds):
            await self._rung.wait()
        self._rung = anyio.Event()

    async def _ring(self) -> None:
        self._rung.set()
