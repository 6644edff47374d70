"""Messages and events in one stream, newest first, as far as one request may see them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from historian.cursors import Cursors
from historian.errors import InvalidInputError
from historian.events import EventStore, ReadableEvents
from historian.evidence_views import EvidenceItem
from historian.messages import row_ms
from historian.model import Event, Scope
from historian.readable import ReadableRecord
from historian.record import Record

Kind = Literal["all", "messages", "events"]
KINDS: tuple[Kind, ...] = ("all", "messages", "events")
MAX_ITEMS = 200
CUT = 600
"""Characters of a message that stand in the stream; the whole one is read alone."""
_PLACE = struct.Struct(">qqq")
_FIRST = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """A message or an event, and when it was said; `at` is aware."""

    at: datetime
    message: EvidenceItem | None = None
    event: Event | None = None


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """A stretch of the stream, newest first; `next_cursor` leads to what is older, None at its end."""

    items: tuple[TimelineItem, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page ends: the row of its last message, and time and row of its last event."""

    message: int = _FIRST
    event_ms: int = _FIRST
    event: int = _FIRST


class TimelineReader:
    """Reads the stream. Thread-safe."""

    def __init__(self, record: Record, events: EventStore, cursors: Cursors) -> None:
        self._record = record
        self._events = events
        self._cursors = cursors

    def page(self, scope: Scope, kind: Kind, size: int, cursor: str = "") -> TimelinePage:
        """Return the newest `size` items of a kind, or those that follow a page.

        Raises:
            InvalidInputError: the size is not from 1 to 200, there is no such kind, or the cursor is of another list.
        """
        if not 1 <= size <= MAX_ITEMS or kind not in KINDS:
            raise InvalidInputError(f"A timeline takes one of {', '.join(KINDS)}, and a size from 1 to {MAX_ITEMS}.")
        reach = scope.reach()
        bound_to = ["timeline", scope.user_id, scope.group_id, sorted(reach), kind]
        place = _Place(*_PLACE.unpack(self._cursors.open(cursor, bound_to))) if cursor.strip() else _Place()
        record, events = self._record.within(reach), self._events.within(reach)
        found = sorted(_places(record, events, kind, place, size + 1), reverse=True)
        shown = found[:size]
        for ms, number, row in shown:
            place = _Place(row, place.event_ms, place.event) if number == 0 else _Place(place.message, ms, row)
        follows = _PLACE.pack(place.message, place.event_ms, place.event)
        more = len(found) > size
        return TimelinePage(
            tuple(_items(record, events, shown)), self._cursors.seal(follows, bound_to) if more else None
        )


def _places(
    record: ReadableRecord, events: ReadableEvents, kind: Kind, place: _Place, limit: int
) -> list[tuple[int, int, int]]:
    """Return `(epoch_ms, 0 for a message or 1 for an event, row)`: what orders, and what finds it again."""
    places: list[tuple[int, int, int]] = []
    if kind != "events":
        rows = record.newest_rows(limit=limit, before_row=place.message)
        places += [(row_ms(row), 0, row) for row in rows]
    if kind != "messages":
        newest = events.places(limit, (place.event_ms, place.event))
        places += [(ms, 1, row) for ms, row in newest]
    return places


def _items(record: ReadableRecord, events: ReadableEvents, shown: Sequence[tuple[int, int, int]]) -> list[TimelineItem]:
    excerpts = record.excerpts([row for _, number, row in shown if number == 0], CUT)
    stored = {one.row: one.event for one in events.rows(row for _, number, row in shown if number == 1)}
    items: list[TimelineItem] = []
    for _, number, row in shown:
        if number == 0 and row in excerpts:
            item = EvidenceItem.of(excerpts[row], ("time",))
            items.append(TimelineItem(item.message.ts, message=item))
        elif number == 1 and row in stored:
            items.append(TimelineItem(stored[row].timestamp, event=stored[row]))
    return items
