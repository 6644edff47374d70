"""Events: the statements that stay true without context. Canonical here; vectors and word index are derived."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from pydantic_core import from_json

from historian.audiences import audience_ids, known_audiences
from historian.database import Database
from historian.fetching import ask_together
from historian.lexical import LexicalIndex
from historian.model import Event, Origin, Owner, Reach
from historian.sameness import statement_key

EVENT_FIELDS = (
    "owner_key, event_id, request_id, end_seq, position, text, original, timestamp, timezone, user_id, group_id,"
    " sender_id, sender_name, location, request_type, message_ids, has_new_info, perspective, is_absolute, flags,"
    " origin, same_as, schema_version"
)
_NAMES = ("row", *(name.strip() for name in EVENT_FIELDS.split(",")))
_LINK = """
    INSERT OR IGNORE INTO event_messages (event_row, message_row)
    SELECT json_extract(j.value, '$[0]'), m.row
    FROM json_each(?) AS j CROSS JOIN messages AS m ON m.message_id = json_extract(j.value, '$[1]')
    WHERE m.owner_key = ? OR (m.owner_key GLOB 'group:*' AND m.sender_id = ?)
"""
_LINKED = """
    (SELECT json_group_array(m.message_id) FROM event_messages k JOIN messages m ON m.row = k.message_row
     WHERE k.event_row = e.row) || ''
"""
_READABLE = """
    EXISTS (SELECT 1 FROM event_audiences AS a
            WHERE a.row = e.row AND a.audience_id IN (SELECT id FROM audiences WHERE key IN ({marks})))
"""
_LAST = (1 << 63) - 1
_AT_ONCE = 20
"""Events that one statement stores."""
EVENT_WORDS = LexicalIndex("events", table="events", time="t.epoch_ms")
"""The word index over event texts."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event with its row number, which also names its vector."""

    row: int
    event: Event


@dataclass(frozen=True, slots=True)
class Sketch:
    """What ranking has to know of an event; reading all of it costs many times as much. `epoch` is in seconds."""

    row: int
    text: str
    epoch: float
    user_id: str
    sender_id: str | None
    has_new_info: bool
    is_repeat: bool


class EventStore:
    """All events. Thread-safe; reading goes through `within`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, events: Sequence[Event]) -> int:
        """Store events once each, in one transaction with audiences, evidence links and words; return how many."""
        prepared = [(event, _values(event)) for event in events]
        alike = groupby(prepared, lambda one: (one[0].owner, one[0].sender_id))
        parts = [[*some] for _, some in alike]
        with self._database.join() as connection:
            return sum(
                self._add(connection, part[first : first + _AT_ONCE])
                for part in parts
                for first in range(0, len(part), _AT_ONCE)
            )

    def within(self, reach: Reach) -> ReadableEvents:
        """Return the events that `reach` may read."""
        return ReadableEvents(self._database, reach)

    def of_job(self, owner: Owner, request_id: str, end_seq: int) -> list[StoredEvent]:
        """Return what one job stored, in order."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT row, {EVENT_FIELDS} FROM events WHERE owner_key = ? AND request_id = ? AND end_seq = ?"
                " ORDER BY row",
                (owner.key, request_id, end_seq),
            ).fetchall()
        return [stored_event(row) for row in rows]

    def saying(self, owner: Owner, text: str, but: Collection[str] = ()) -> StoredEvent | None:
        """Return the earliest statement of this owner that says the same as `text` (see `sameness`), or None.

        Events with the ids `but` do not count.
        """
        mark = statement_key(text)
        if not mark:
            return None
        with self._database.read() as connection:
            row = connection.execute(
                f"SELECT row, {EVENT_FIELDS} FROM events WHERE owner_key = ? AND mark = ? AND same_as IS NULL"
                " AND event_id NOT IN (SELECT value FROM json_each(?)) ORDER BY row LIMIT 1",
                (owner.key, mark, json.dumps([*but])),
            ).fetchone()
        return stored_event(row) if row else None

    def named(self, owner: Owner, event_id: str) -> Event | None:
        """Return one event of this owner, or None."""
        with self._database.read() as connection:
            row = connection.execute(
                f"SELECT row, {EVENT_FIELDS} FROM events WHERE owner_key = ? AND event_id = ?", (owner.key, event_id)
            ).fetchone()
        return stored_event(row).event if row else None

    def count(self, owner: Owner) -> int:
        """Return how many statements an owner's memory holds, those that say the same as an earlier one left out."""
        sql = "SELECT count(*) FROM events WHERE owner_key = ? AND has_new_info = 1 AND same_as IS NULL"
        with self._database.read() as connection:
            return int(connection.execute(sql, (owner.key,)).fetchone()[0])

    def _add(self, connection: sqlite3.Connection, events: Sequence[tuple[Event, Sequence[object]]]) -> int:
        """Add some of one owner and speaker: statements hold up everybody who writes, whatever they are about."""
        first = events[0][0]
        added = _inserted(connection, events)
        new = [(added.pop(event.event_id), event) for event, _ in events if event.event_id in added]
        if not new:
            return 0
        audiences = audience_ids(connection, first.owner.audiences(first.sender_id))
        places = [value for number in audiences for row, _ in new for value in (number, row)]
        lists = ", ".join(["(?, ?)"] * (len(places) // 2))
        connection.execute(f"INSERT INTO event_audiences (audience_id, row) VALUES {lists}", places)
        links = [(row, message_id) for row, event in new for message_id in event.message_ids]
        if links:
            connection.execute(_LINK, (json.dumps(links), first.owner.key, _speaker_elsewhere(first)))
        texts = [(row, event.text) for row, event in new if event.same_as is None]
        EVENT_WORDS.add_all(connection, texts, audiences)
        return len(new)


class ReadableEvents:
    """The events of one reach. No method widens it."""

    def __init__(self, database: Database, reach: Reach) -> None:
        self._database = database
        self._reach = reach

    def rows(self, rows: Iterable[int]) -> list[StoredEvent]:
        """Return those of `rows` that the reach may read."""
        wanted = json.dumps(sorted(set(rows)))
        return self._select("e.row IN (SELECT value FROM json_each(?))", [wanted])

    def sketches(self, rows: Iterable[int]) -> list[Sketch]:
        """Return those of `rows` that the reach may read, as far as ranking needs them."""
        found = self._read(
            "e.row, e.text, e.timestamp, e.user_id, e.sender_id, e.has_new_info, e.same_as IS NOT NULL",
            "e.row IN (SELECT value FROM json_each(?))",
            [json.dumps(sorted(set(rows)))],
        )
        return [
            Sketch(row, text, datetime.fromisoformat(at).timestamp(), user, sender, bool(new), bool(repeat))
            for row, text, at, user, sender, new, repeat in found
        ]

    def get(self, event_id: str) -> StoredEvent | None:
        """Return one event, or None: not there and not readable are the same."""
        found = self._select("e.event_id = ?", [event_id])
        return found[0] if found else None

    def newest(self, limit: int) -> list[StoredEvent]:
        """Return the statements that were stored last, newest first; memos and repeats are none."""
        with self._database.read() as connection:
            audiences = known_audiences(connection, self._reach)
            found: set[int] = set()
            for audience in audiences:
                rows = connection.execute(
                    "SELECT e.row FROM event_audiences AS a CROSS JOIN events AS e ON e.row = a.row"
                    " WHERE a.audience_id = ? AND e.has_new_info = 1 AND e.same_as IS NULL ORDER BY a.row DESC LIMIT ?",
                    (audience, limit),
                )
                found.update(row for (row,) in rows)
        return self.rows(sorted(found, reverse=True)[:limit])[::-1]

    def message_rows(self, row: int) -> list[int]:
        """Return the rows of the messages that the event of `row` rests on, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT message_row FROM event_messages WHERE event_row = ? ORDER BY message_row", (row,)
            )
            return [number for (number,) in rows]

    def places(self, limit: int, before: tuple[int, int] | None = None) -> list[tuple[int, int]]:
        """Return `(epoch_ms, row)` of the newest statements, newest first, before such a place if given.

        Receipts of a statement that was made before are left out.
        """
        before_ms, before_row = before or (_LAST, _LAST)
        found: set[tuple[int, int]] = set()
        for source, values in self._sources():
            sql = (
                f"SELECT e.epoch_ms, e.row FROM {source} AND e.same_as IS NULL AND (e.epoch_ms, e.row) < (?, ?)"
                " ORDER BY e.epoch_ms DESC, e.row DESC LIMIT ?"
            )
            with self._database.read() as connection:
                found.update(connection.execute(sql, (*values, before_ms, before_row, limit)).fetchall())
        return sorted(found, reverse=True)[:limit]

    def tally(self, since_ms: int, step_ms: int) -> dict[int, tuple[int, int]]:
        """Return for each `epoch_ms // step_ms` since an instant how many statements there are, and how many need no
        context.
        """
        sums: dict[int, tuple[int, int]] = {}
        for source, values in self._sources():
            sql = (
                f"SELECT e.epoch_ms / ?, count(*), sum(e.is_absolute) FROM {source}"
                " AND e.same_as IS NULL AND e.epoch_ms >= ? GROUP BY 1"
            )
            with self._database.read() as connection:
                for step, count, absolute in connection.execute(sql, (step_ms, *values, since_ms)):
                    known = sums.get(step, (0, 0))
                    sums[step] = (known[0] + count, known[1] + absolute)
        return sums

    def _sources(self) -> Iterator[tuple[str, tuple[object, ...]]]:
        """Yield where the events of each key of the reach are found: by owner there is an index of times.

        No event is in two of them: what one said in a group is of the group, and the reach of a private request has
        groups only where a target narrows it to one.
        """
        for key in sorted(self._reach):
            if key.startswith("author:"):
                joined = "event_audiences AS a CROSS JOIN events AS e ON e.row = a.row"
                named = "(SELECT id FROM audiences WHERE key = ?)"
                yield f"{joined} WHERE a.audience_id = {named}", (key,)
            else:
                yield "events AS e WHERE e.owner_key = ?", (key,)

    def _select(self, condition: str, values: Sequence[object]) -> list[StoredEvent]:
        columns = ", ".join(f"e.{name}" for name in _NAMES)
        return [stored_event(row, linked) for *row, linked in self._read(f"{columns}, {_LINKED}", condition, values)]

    def _read(self, columns: str, condition: str, values: Sequence[object]) -> list[list[Any]]:
        """Return these columns, of which the first is `e.row`, in the order of rows."""
        keys = sorted(self._reach)
        readable = _READABLE.format(marks=", ".join("?" * len(keys)))
        source = f"FROM events AS e WHERE {condition} AND {readable}"
        return sorted(ask_together(self._database, columns, source, [*values, *keys]))


def _inserted(connection: sqlite3.Connection, events: Sequence[tuple[Event, Sequence[object]]]) -> dict[str, int]:
    """Insert those of one owner that are new; return the row of each by its id."""
    lists = ", ".join([f"({', '.join('?' * 25)})"] * len(events))
    found = connection.execute(
        f"INSERT OR IGNORE INTO events ({EVENT_FIELDS}, mark, epoch_ms) VALUES {lists} RETURNING event_id, row",
        [value for _, values in events for value in values],
    )
    return dict(found.fetchall())


def _speaker_elsewhere(event: Event) -> str | None:
    """In private one may rest a fact on one's own words in a group; a group's facts rest on that group only."""
    return event.user_id if event.owner.kind == "user" else None


def _values(event: Event) -> tuple[object, ...]:
    return (
        event.owner.key,
        event.event_id,
        event.request_id,
        event.end_seq,
        event.index,
        event.text,
        event.original,
        event.timestamp.isoformat(),
        event.timezone,
        event.user_id,
        event.group_id,
        event.sender_id,
        event.sender_name,
        event.location,
        event.request_type,
        json.dumps(event.message_ids),
        event.has_new_info,
        event.perspective,
        event.is_absolute,
        json.dumps(event.flags, ensure_ascii=False),
        str(event.origin),
        event.same_as,
        event.schema_version,
        statement_key(event.text),
        int(event.timestamp.astimezone(UTC).timestamp() * 1000),
    )


def stored_event(row: Sequence[Any], linked: str = "[]") -> StoredEvent:
    """Return the event of a row; `linked` are the present ids of its messages, which outlive a change of id."""
    values: dict[str, Any] = dict(zip(_NAMES, row, strict=True))
    number: int = values.pop("row")
    stored_ids = values.pop("message_ids")
    fixed: dict[str, Any] = {
        "owner": Owner.of_key(values.pop("owner_key")),
        "index": values.pop("position"),
        "timestamp": datetime.fromisoformat(values.pop("timestamp")),
        "message_ids": tuple(from_json(linked)) or tuple(from_json(stored_ids)),
        "flags": tuple(from_json(values.pop("flags"))),
        "origin": Origin(values.pop("origin")),
        "has_new_info": bool(values.pop("has_new_info")),
        "is_absolute": bool(values.pop("is_absolute")),
    }
    return StoredEvent(number, Event(**values, **fixed))
