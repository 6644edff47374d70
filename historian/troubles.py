"""What does not work as it should at the moment, and since when."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from historian.clock import Clock


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that runs degraded. `since` is when it was seen first, aware."""

    what: str
    since: datetime


Source = Callable[[], Iterable[str | Trouble]]
"""Gives what is wrong now. What stands before the first colon of a sentence names the trouble, the rest may change."""


class Troubles:
    """Asks the sources, and remembers when each trouble began. Thread-safe.

    Of a mere sentence the beginning is when it was looked for first, which the historian does every few seconds.
    """

    def __init__(self, sources: Sequence[Source], clock: Clock) -> None:
        self._sources = sources
        self._clock = clock
        self._lock = threading.Lock()
        self._since: dict[str, datetime] = {}

    def look(self) -> tuple[Trouble, ...]:
        """Return what is wrong now; what is over is forgotten."""
        found = [said for source in self._sources for said in source()]
        now = self._clock.now()
        with self._lock:
            names = [_name(said) for said in found if isinstance(said, str)]
            self._since = {name: self._since.get(name, now) for name in names}
            dated = [Trouble(said, self._since[_name(said)]) if isinstance(said, str) else said for said in found]
        return tuple(dict.fromkeys(dated))


def _name(sentence: str) -> str:
    return sentence.partition(":")[0]
