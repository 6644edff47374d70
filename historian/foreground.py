"""Whether somebody is waiting for an answer right now: background work steps aside for them, a little."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

QUIET_SECONDS = 0.03
"""How long after the last call the foreground still counts as busy: calls come in bursts."""
LATELY_SECONDS = 1.0
"""How long after it another one is to be expected."""


class Foreground:
    """Counts the calls under way. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._last = float("-inf")

    @contextmanager
    def call(self) -> Generator[None]:
        """Count a call for the duration of the block."""
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                self._last = time.monotonic()

    def is_busy(self) -> bool:
        """Say whether a call is under way, or was a moment ago."""
        with self._lock:
            return self._calls > 0 or time.monotonic() - self._last < QUIET_SECONDS

    def was_busy_lately(self) -> bool:
        """Say whether a call is under way, or was a second ago."""
        with self._lock:
            return self._calls > 0 or time.monotonic() - self._last < LATELY_SECONDS
