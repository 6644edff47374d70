"""An outage of a store: while it cannot work, jobs wait for it, longer the longer it lasts."""

from __future__ import annotations

import threading
from datetime import datetime

from historian.clock import Clock
from historian.troubles import Trouble

SHORTEST_WAIT = 1.0
LONGEST_WAIT = 30.0
"""Seconds: a job is soon done again once the disk has room, or the lock is gone."""
_WAITING = "jobs wait for a store and lose no attempt"


class StoreOutage:
    """Remembers that a store cannot work now, since when and why. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._since: datetime | None = None
        self._reason = ""

    def met(self, reason: str) -> float:
        """Note that a job met the outage, and return the seconds to wait: as long as it has lasted, within bounds."""
        now = self._clock.now()
        with self._lock:
            self._since = self._since or now
            self._reason = reason
            return min(max((now - self._since).total_seconds(), SHORTEST_WAIT), LONGEST_WAIT)

    def over(self) -> None:
        """Note that the store works again."""
        if self._since is None:  # the ordinary case, once a job: no lock
            return
        with self._lock:
            self._since = None

    def state(self) -> tuple[Trouble, ...]:
        """Return what to say of it, or nothing."""
        with self._lock:
            return () if self._since is None else (Trouble(f"{_WAITING}: {self._reason}", self._since),)
