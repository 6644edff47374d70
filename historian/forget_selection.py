"""What shall be forgotten, as somebody asks for it, and the rows that are meant by it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from historian.audiences import known_audiences
from historian.database import Database
from historian.errors import InvalidInputError, NotFoundError
from historian.events import EVENT_WORDS, EventStore
from historian.lexical import Hits, Within
from historian.messages import epoch_ms
from historian.model import Reach, Scope
from historian.pinned import kept_notes
from historian.readable import MessageFilter
from historian.record import Record
from historian.sought import Sought

MOST = 10_000_000
"""Rows that one call can mean; more than there can be."""
NOTHING = "Say what to forget: messages, an event, a conversation, a time range, a search, or everything."
NO_EVENT = "There is no event with this id in this scope; take one from search_events."
UNSEEN = "This search has no word to look for; name one that what shall be forgotten has."


@dataclass(frozen=True, slots=True)
class Selection:
    """What is meant: things by their ids, what fits all of conversation, time range and query, or everything.

    Times are epoch milliseconds, `since_ms` inclusive, `until_ms` exclusive.
    """

    message_ids: tuple[str, ...] = ()
    event_id: str | None = None
    conversation_id: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    query: str = ""
    everything: bool = False
    sought: Sought = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sought", Sought(self.query))
        filters = (self.conversation_id, self.since_ms, self.until_ms, self.query or None)
        has_filter = any(value is not None for value in filters)
        ways = (bool(self.message_ids), self.event_id is not None, has_filter, self.everything)
        if sum(ways) == 0:
            raise InvalidInputError(NOTHING)
        if sum(ways) > 1:
            raise InvalidInputError("Ids, filters and everything cannot be combined; ask for one after the other.")
        if self.query and self.sought.is_nothing:
            raise InvalidInputError(UNSEEN)

    def covers_time(self, ms: int) -> bool:
        """Say whether an instant lies in the time range."""
        return (self.since_ms is None or ms >= self.since_ms) and (self.until_ms is None or ms < self.until_ms)

    @property
    def is_at_any_time(self) -> bool:
        """Whether it means what has no time, too."""
        return self.since_ms is None and self.until_ms is None

    def fits(self, text: str) -> bool:
        """Say whether a text has what is sought, as the word index of the record would; any has, without a query."""
        return not self.query or self.sought.is_in(text)

    @property
    def is_by_filter(self) -> bool:
        """Whether it means whatever fits, so that it means what still waits too."""
        return not self.message_ids and self.event_id is None and not self.everything


@dataclass(slots=True)
class Doomed:
    """Rows of messages, events, memos and pinned notes that are to go, and texts in profiles with whose those are."""

    messages: set[int] = field(default_factory=set[int])
    events: set[int] = field(default_factory=set[int])
    memos: set[int] = field(default_factory=set[int])
    pinned: set[int] = field(default_factory=set[int])
    lines: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def copy(self) -> Doomed:
        """Return the same, which does not grow with this one."""
        return Doomed({*self.messages}, {*self.events}, {*self.memos}, {*self.pinned}, {*self.lines})

    def token(self, scope: Scope, selection: Selection) -> str:
        """Return what confirms to forget exactly this; it differs as soon as anything more or less is meant."""
        rows = [sorted(self.messages), sorted(self.events), sorted(self.memos), sorted(self.pinned)]
        # not of the words of the selection: an id that is somebody else's must read like one that is nobody's
        document = json.dumps([scope.owner.key, scope.user_id, selection.everything, rows, sorted(self.lines)])
        return hashlib.sha256(document.encode()).hexdigest()[:24]


class Selector:
    """Finds what is meant, within what the asker may read. Thread-safe."""

    def __init__(self, database: Database, record: Record, events: EventStore) -> None:
        self._database = database
        self._record = record
        self._events = events

    def find(self, scope: Scope, selection: Selection) -> Doomed:
        """Return the rows that are meant; nothing follows from them yet.

        Raises:
            NotFoundError: an id is unknown here, or is somebody else's.
        """
        reach = scope.reach()
        if selection.message_ids:
            return Doomed(messages=self._named(reach, selection.message_ids))
        if selection.event_id is not None:
            found = self._events.within(reach).get(selection.event_id)
            if found is None:
                raise NotFoundError(NO_EVENT)
            return Doomed(events={found.row})
        if selection.everything:
            return Doomed(
                self._of(reach, "message_audiences"),
                self._of(reach, "event_audiences"),
                self._memos(reach),
                self._notes(reach, selection),
            )
        return self._fitting(reach, selection)

    def _named(self, reach: Reach, message_ids: Sequence[str]) -> set[int]:
        rows = self._record.within(reach).rows_of(message_ids)
        missing = [one for one in message_ids if one not in rows]
        if missing:
            raise NotFoundError(f"There is no message {missing[0]!r} in this scope; leave it out of message_ids.")
        return {row for found in rows.values() for row in found}

    def _fitting(self, reach: Reach, selection: Selection) -> Doomed:
        wanted = MessageFilter(None, selection.since_ms, selection.until_ms, selection.conversation_id)
        readable = self._record.within(reach)
        if not selection.query:
            messages = set(readable.newest_rows(wanted, limit=MOST))
        else:
            messages = _all_of(
                lambda before: readable.lexical_rows(selection.query, wanted, limit=MOST, before_row=before)
            )
        if selection.conversation_id is not None:
            return Doomed(messages)
        memos = {row for row, ms, text in self._memo_rows(reach) if selection.covers_time(ms) and selection.fits(text)}
        notes = self._notes(reach, selection)
        return Doomed(messages, self._fitting_events(reach, selection), memos, notes)

    def _fitting_events(self, reach: Reach, selection: Selection) -> set[int]:
        """Events that say what is sought; without a query those of the time that rest on no message."""
        with self._database.read() as connection:
            if selection.query:
                rows = _all_of(
                    lambda before: EVENT_WORDS.search(
                        connection, reach, selection.query, limit=MOST, within=Within(until_row=before), strict=True
                    )
                )
                condition = "TRUE"
            else:
                rows = self._of(reach, "event_audiences")
                condition = "NOT EXISTS (SELECT 1 FROM event_messages AS k WHERE k.event_row = e.row)"
            found = connection.execute(
                "SELECT e.row, e.epoch_ms FROM json_each(?) AS j CROSS JOIN events AS e ON e.row = j.value"
                f" WHERE {condition}",
                (json.dumps(sorted(rows)),),
            )
            return {row for row, ms in found if selection.covers_time(ms)}

    def _of(self, reach: Reach, table: str) -> set[int]:
        with self._database.read() as connection:
            numbers = ", ".join(map(str, known_audiences(connection, reach))) or "NULL"
            return {row for (row,) in connection.execute(f"SELECT row FROM {table} WHERE audience_id IN ({numbers})")}

    def _notes(self, reach: Reach, selection: Selection) -> set[int]:
        with self._database.read() as connection:
            kept = kept_notes(connection, reach, 0, MOST)
        return {
            row
            for row, _, note in kept
            if selection.covers_time(epoch_ms(note.updated_at)) and selection.fits(note.text)
        }

    def _memos(self, reach: Reach) -> set[int]:
        return {row for row, _, _ in self._memo_rows(reach)}

    def _memo_rows(self, reach: Reach) -> list[tuple[int, int, str]]:
        with self._database.read() as connection:
            return connection.execute(
                "SELECT row, ts_ms, text FROM memos WHERE owner_key IN (SELECT value FROM json_each(?1))"
                " OR author_key IN (SELECT value FROM json_each(?1))",
                (json.dumps(sorted(reach)),),
            ).fetchall()


def _all_of(search: Callable[[int], Hits]) -> set[int]:
    """Return all rows that a search finds, which looks at so many at once, before the row that it is given."""
    rows: set[int] = set()
    before: int | None = (1 << 63) - 1
    while before is not None:
        found = search(before)
        rows.update(hit.row for hit in found.hits)
        before = found.last_row if found.capped else None
    return rows
