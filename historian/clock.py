"""What time it is: the one seam through which the memory reads the clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the present instant."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        return datetime.now(UTC)


class FixedClock:
    """A clock that stands still until it is moved: for tests and demonstrations."""

    def __init__(self, instant: datetime) -> None:
        if instant.tzinfo is None:
            raise ValueError("FixedClock needs an aware instant")
        self._instant = instant.astimezone(UTC)

    def now(self) -> datetime:
        """Return the instant that was last set."""
        return self._instant

    def advance(self, *, seconds: float) -> None:
        """Move the clock forward."""
        self._instant += timedelta(seconds=seconds)
