"""How many tools run at a time, by what they do: they compute in one interpreter, or wait for models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar
from weakref import WeakValueDictionary

import anyio.to_thread
from anyio import CapacityLimiter

READERS = 12
"""Reads that run at a time: as many have what is asked embedded in one call, and more threads compete for longer."""
WAITERS = 40
"""Reads that may wait for a model at a time. In the threads of everybody they would keep turns from being handed in."""
CHECKERS = 2
"""Reads that take long, as a large memory view that is verified; more of them would keep everybody from reading."""
RECALLERS = 40
"""Tools that may wait for a chat model: threads of their own, or a slow model would keep everybody from writing."""

Result = TypeVar("Result")


class Room:
    """So many seats, of which one user has two thirds at most: who asks a lot at once waits behind the others.

    Who waits for a seat waits in the event loop, where it costs the others nothing.
    """

    def __init__(self, seats: int) -> None:
        self.all = CapacityLimiter(seats)
        self._of_one = max(1, seats * 2 // 3)
        self._own: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()

    def of(self, user_id: str) -> CapacityLimiter:
        """Return what limits one user here."""
        own = self._own.get(user_id)
        if own is None:
            self._own[user_id] = own = CapacityLimiter(self._of_one)
        return own

    async def run(self, user_id: str, work: Callable[[], Result], *, abandon_on_cancel: bool = False) -> Result:
        """Run what blocks in a thread, once this user has a seat, and return what it returns."""
        async with self.of(user_id):
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=abandon_on_cancel, limiter=self.all)


@dataclass(frozen=True, slots=True)
class Seats:
    """The rooms of one process.

    `may_wait` says whether a read may wait for a model now, its own or of an endpoint.
    """

    may_wait: Callable[[], bool]
    reading: Room = field(default_factory=lambda: Room(READERS))
    waiting: Room = field(default_factory=lambda: Room(WAITERS))
    checking: Room = field(default_factory=lambda: Room(CHECKERS))
    recalling: Room = field(default_factory=lambda: Room(RECALLERS))

    def room(self, *, reads: bool, takes_long: bool = False, asks_model: bool = False) -> Room | None:
        """Return where a tool runs now; None is in the threads in which turns are handed in."""
        if asks_model:
            return self.recalling
        if not reads:
            return None
        if takes_long:
            return self.checking
        return self.waiting if self.may_wait() else self.reading
