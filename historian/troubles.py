"""What does not work as it should at the moment, and since when."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from historian.clock import Clock

Source = Callable[[], Iterable[str]]
"""Gives sentences on what is wrong now. What stands before the first colon names the trouble, the rest may change."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that runs degraded. `since` is when it was seen first, aware."""

    what: str
    since: datetime


class Troubles:
    """Asks the sources, and remembers when each trouble began. Thread-safe.

    Nobody tells it of a beginning: that is when it was looked for first, which the historian does every few seconds.
    """

    def __init__(self, sources: Sequence[Source], clock: Clock) -> None:
        self._sources = sources
        self._clock = clock
        self._lock = threading.Lock()
        self._since: dict[str, datetime] = {}

    def look(self) -> tuple[Trouble, ...]:
        """Return what is wrong now; what is over is forgotten."""
        found = [sentence for source in self._sources for sentence in source()]
        now = self._clock.now()
        with self._lock:
            self._since = {name: self._since.get(name, now) for name in map(_name, found)}
            return tuple(Trouble(sentence, self._since[_name(sentence)]) for sentence in dict.fromkeys(found))


def _name(sentence: str) -> str:
    return sentence.partition(":")[0]
