"""Whether a historian works in this process: it beats, and whoever asks hears how long ago."""

from __future__ import annotations

import time

SILENT_SECONDS = 30.0
"""A historian that has not beaten for so long does not work any more."""


class Pulse:
    """The last sign of life of the historian. Thread-safe."""

    def __init__(self) -> None:
        self._last = float("-inf")

    def beat(self) -> None:
        """Give a sign of life."""
        self._last = time.monotonic()

    def stop(self) -> None:
        """Say that nobody works any more."""
        self._last = float("-inf")

    @property
    def is_alive(self) -> bool:
        """Whether the historian gave a sign of life lately."""
        return time.monotonic() - self._last < SILENT_SECONDS
