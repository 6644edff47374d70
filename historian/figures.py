"""How much there was each day: statements, how many needed no context, and how long jobs waited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from historian.clock import Clock
from historian.errors import InvalidInputError
from historian.events import EventStore
from historian.messages import epoch_ms, instant_of
from historian.model import Scope
from historian.receipts import ReceiptStore

MAX_DAYS = 366
STEP_MS = 15 * 60 * 1000
"""Days of every time zone begin at a multiple of this, so that counting is done where the rows are."""


@dataclass(frozen=True, slots=True)
class DayFigures:
    """One day of a time zone. `passed` of the `events` need no context, as the gate found; of the `jobs` that ended,
    one waited longest, from its receipt to its end.
    """

    day: date
    events: int = 0
    passed: int = 0
    jobs: int = 0
    longest_seconds: float = 0.0


class FigureReader:
    """Counts days. Thread-safe."""

    def __init__(self, events: EventStore, receipts: ReceiptStore, clock: Clock) -> None:
        self._events = events
        self._receipts = receipts
        self._clock = clock

    def days(self, scope: Scope, zone: tzinfo, count: int) -> tuple[DayFigures, ...]:
        """Return the last `count` days up to today in `zone`, the oldest first, also those without anything.

        Raises:
            InvalidInputError: `count` is not from 1 to 366.
        """
        if not 1 <= count <= MAX_DAYS:
            raise InvalidInputError(f"Ask for 1 to {MAX_DAYS} days.")
        today = self._clock.now().astimezone(zone).date()
        first = today - timedelta(days=count - 1)
        since = epoch_ms(datetime(first.year, first.month, first.day, tzinfo=zone))
        said = self._by_day(self._events.within(scope.reach()).tally(since, STEP_MS), zone)
        ended = self._by_day(self._receipts.waits(scope.owner, since, STEP_MS), zone)
        return tuple(_figures(day, said, ended) for day in (first + timedelta(days=n) for n in range(count)))

    @staticmethod
    def _by_day(steps: Mapping[int, tuple[int, int]], zone: tzinfo) -> dict[date, list[tuple[int, int]]]:
        days: dict[date, list[tuple[int, int]]] = {}
        for step, pair in steps.items():
            day = instant_of(step * STEP_MS).astimezone(zone).date()
            days.setdefault(day, []).append(pair)
        return days


def _figures(
    day: date, said: Mapping[date, list[tuple[int, int]]], ended: Mapping[date, list[tuple[int, int]]]
) -> DayFigures:
    events, jobs = said.get(day, []), ended.get(day, [])
    return DayFigures(
        day=day,
        events=sum(count for count, _ in events),
        passed=sum(passed for _, passed in events),
        jobs=sum(count for count, _ in jobs),
        longest_seconds=max((longest for _, longest in jobs), default=0) / 1000,
    )
