"""How many tools run at a time, by what they do: they compute in one interpreter, or wait for models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from anyio import CapacityLimiter

READERS = 12
"""Reads that run at a time: as many have what is asked embedded in one call, and more threads compete for longer."""
CHECKERS = 2
"""Reads that take long, as a large memory view that is verified; more of them would keep everybody from reading."""
RECALLERS = 40
"""Threads that may wait for a chat model: threads of their own, or a slow model would keep everybody from writing."""


@dataclass(frozen=True, slots=True)
class Seats:
    """The limits of one process; who waits for a seat waits in the event loop, where it costs the others nothing.

    `may_wait` says whether a read may wait for a model now, its own or of an endpoint: then as many run as there are
    threads.
    """

    may_wait: Callable[[], bool]
    reading: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(READERS))
    checking: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(CHECKERS))
    recalling: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(RECALLERS))

    def for_reading(self, *, takes_long: bool) -> CapacityLimiter | None:
        """Return what limits a read now; None is as many as there are threads."""
        if takes_long:
            return self.checking
        return None if self.may_wait() else self.reading
