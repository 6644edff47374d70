"""Which of the threads that do jobs computes while calls come in: one at a time, so that a call competes with one.

All of them share one interpreter with what answers clients. While eight compute, a call waits for each of them whenever
it waited for the disk.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from historian.foreground import Foreground

ASIDE_SECONDS = 0.1
"""How long a thread waits at most for calls under way, and how long for the baton."""
POLL_SECONDS = 0.01


class Baton:
    """A courtesy and no lock: who does not get it in time goes on without it, so that nothing hangs on it.

    Thread-safe. Between calls that come within a second of each other it is passed on; when none come, nobody needs it.
    """

    def __init__(self, foreground: Foreground) -> None:
        self.foreground = foreground
        self._free = threading.Semaphore()
        self._own = threading.local()

    def step_aside(self, most: float = ASIDE_SECONDS) -> None:
        """Lay the baton down, and let those go first who wait for an answer, for so many seconds."""
        self.lay_down()
        until = time.monotonic() + most
        while self.foreground.is_busy() and time.monotonic() < until:
            time.sleep(POLL_SECONDS)

    def take(self) -> None:
        """Step aside, and then wait for the baton if calls came in lately."""
        self.step_aside()
        if self.foreground.was_busy_lately():
            self._own.is_held = self._free.acquire(timeout=ASIDE_SECONDS)

    def lay_down(self) -> None:
        """Let another thread have the baton, if this one holds it."""
        if self.is_held():
            self._own.is_held = False
            self._free.release()

    @contextmanager
    def laid_down(self) -> Generator[None]:
        """Lay the baton down for what this thread only waits for, and take it again afterwards if it was held."""
        was_held = self.is_held()
        self.lay_down()
        try:
            yield
        finally:
            if was_held:
                self.take()

    def is_held(self) -> bool:
        """Say whether this thread has it."""
        return getattr(self._own, "is_held", False)
