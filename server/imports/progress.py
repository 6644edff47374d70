"""One line on the terminal that says how far an import is, how fast it goes, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

_WIDTH = 24
_SECONDS = 0.1


class Progress:
    """Draws on a terminal; anything else gets nothing."""

    def __init__(self, stream: TextIO, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._total = total
        self._clock = clock
        self._begun = self._last = clock()
        self._shown = stream.isatty()
        self._drawn = False

    def show(self, done: int, messages: int) -> None:
        """Draw how many bytes of all are read and how many messages are in, at most ten times a second."""
        now = self._clock()
        if not self._shown or now - self._last < _SECONDS:
            return
        self._last = now
        self._stream.write(f"\r\x1b[K{line(done, self._total, messages, now - self._begun)}")
        self._stream.flush()
        self._drawn = True

    def clear(self) -> None:
        """Take the line away."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False


def line(done: int, total: int, messages: int, seconds: float) -> str:
    """Return the line: a bar, per cent, messages, messages a second, and the time left by the bytes so far."""
    share = min(done / total, 1.0) if total else 1.0
    bar = "█" * round(share * _WIDTH)
    rate = messages / seconds if seconds > 0 else 0.0
    left = f", {_duration(seconds * (1 - share) / share)} left" if share > 0.01 and seconds > 1 else ""
    return f"{bar:░<{_WIDTH}} {share:4.0%} {messages:,} messages, {rate:,.0f}/s{left}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
