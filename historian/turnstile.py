"""Lets threads compute one after the other that would else compete for the interpreter with every row they read."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager


class Turnstile:
    """A lock of which a thread may be in several blocks, and that it leaves for what it only waits for.

    SQLite gives up the interpreter for each row: where forty threads read at once, each row costs a change of threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own = threading.local()

    def __enter__(self) -> None:
        depth = self._depth()
        if not depth:
            self._lock.acquire()
        self._own.depth = depth + 1

    def __exit__(self, *_: object) -> None:
        self._own.depth = self._depth() - 1
        if not self._own.depth:
            self._lock.release()

    @contextmanager
    def left(self) -> Generator[None]:
        """Let others go on for the duration of the block, if this thread is inside."""
        depth, self._own.depth = self._depth(), 0
        if depth:
            self._lock.release()
        try:
            yield
        finally:
            if depth:
                self._lock.acquire()
            self._own.depth = depth

    def _depth(self) -> int:
        return getattr(self._own, "depth", 0)
