"""Changes to events that are stored: said again better, or found to say what another one says. Words follow at once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from historian.database import Database
from historian.events import EVENT_FIELDS, EVENT_WORDS, StoredEvent, stored_event
from historian.model import Event, Origin, Owner
from historian.sameness import statement_key

MOST_TRIES = 3
"""Times the model is asked in the background to phrase an event; then only a person has it tried again."""
_BY_RULES = "has_new_info = 1 AND same_as IS NULL AND origin != 'model'"
_ANY = "has_new_info = 1 AND same_as IS NULL"


@dataclass(frozen=True, slots=True)
class Restatement:
    """A better text for an event, with what was found wrong with it. `same_as` names an event that says the same."""

    text: str
    flags: tuple[str, ...]
    is_absolute: bool
    origin: Origin
    same_as: str | None = None


@dataclass(frozen=True, slots=True)
class Restated:
    """An event whose text was replaced and whose profile lines do not say so yet."""

    event: Event
    before: str


class Amendments:
    """Amends events in place. Thread-safe. Each change is one transaction and may be repeated."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def restate(self, event: Event, better: Restatement) -> int | None:
        """Give an event another text unless it was changed meanwhile, and return its row; None where nothing was done.

        Its vector is made again behind; until `carried` the event counts as one that its profile lines lag behind.
        """
        with self._database.write() as connection:
            row = _row_of(connection, event)
            if row is None:
                return None
            before = event.text if better.text != event.text or better.same_as else None
            connection.execute(
                "UPDATE events SET text = ?, flags = ?, is_absolute = ?, origin = ?, same_as = ?, mark = ?,"
                " embedded_by = NULL, restated_from = coalesce(restated_from, ?), tries = 0 WHERE row = ?",
                (
                    better.text,
                    json.dumps(better.flags, ensure_ascii=False),
                    better.is_absolute,
                    str(better.origin),
                    better.same_as,
                    statement_key(better.text),
                    before,
                    row,
                ),
            )
            _index(connection, row, event, better.text if better.same_as is None else None)
            if better.same_as is not None:
                _follow(connection, event, better.same_as)
        return row

    def tried(self, events: Sequence[Event]) -> None:
        """Note that a better text was asked for and not got."""
        with self._database.write() as connection:
            connection.executemany(
                "UPDATE events SET tries = tries + 1 WHERE owner_key = ? AND event_id = ?",
                [(event.owner.key, event.event_id) for event in events],
            )

    def supersede(self, owner: Owner, old_id: str, new_id: str) -> int | None:
        """Let an event stand only as a receipt of a later one that says it better; return its row, or None."""
        with self._database.write() as connection:
            found = connection.execute(
                f"SELECT row, {EVENT_FIELDS} FROM events WHERE owner_key = ? AND event_id = ? AND same_as IS NULL"
                " AND event_id != ?",
                (owner.key, old_id, new_id),
            ).fetchone()
            if found is None:
                return None
            old = stored_event(found)
            connection.execute(
                "UPDATE events SET same_as = ?, embedded_by = NULL, restated_from = coalesce(restated_from, text)"
                " WHERE row = ?",
                (new_id, old.row),
            )
            _index(connection, old.row, old.event, None)
            _follow(connection, old.event, new_id)
        return old.row

    def lagging(self, limit: int) -> list[Restated]:
        """Return events whose profile lines do not follow yet, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT restated_from, row, {EVENT_FIELDS} FROM events WHERE restated_from IS NOT NULL"
                " ORDER BY row LIMIT ?",
                (limit,),
            ).fetchall()
        return [Restated(stored_event(row).event, before) for before, *row in rows]

    def carried(self, event: Event) -> None:
        """Note that the profile lines of an event say what it says."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE events SET restated_from = NULL WHERE owner_key = ? AND event_id = ? AND text = ?",
                (event.owner.key, event.event_id, event.text),
            )

    def next_turn(self, *, after: int = 0, everything: bool = False, patiently: bool = True) -> list[StoredEvent]:
        """Return the events of one turn that a model may phrase better: those of the first turn behind the row `after`.

        Without `everything` only those that rules wrote; `patiently` leaves out what was tried often enough.
        """
        which = _ANY if everything else _BY_RULES
        if patiently:
            which += f" AND tries < {MOST_TRIES}"
        with self._database.read() as connection:
            first = connection.execute(
                f"SELECT owner_key, request_id, end_seq FROM events WHERE {which} AND row > ? ORDER BY row LIMIT 1",
                (after,),
            ).fetchone()
            if first is None:
                return []
            rows = connection.execute(
                f"SELECT row, {EVENT_FIELDS} FROM events WHERE owner_key = ? AND request_id = ? AND end_seq = ?"
                f" AND {which} AND row > ? ORDER BY row",
                (*first, after),
            ).fetchall()
        return [stored_event(row) for row in rows]

    def count(self, *, everything: bool = False, after: int = 0) -> int:
        """Return how many events a model may phrase better."""
        with self._database.read() as connection:
            sql = f"SELECT count(*) FROM events WHERE {_ANY if everything else _BY_RULES} AND row > ?"
            return int(connection.execute(sql, (after,)).fetchone()[0])


def _row_of(connection: sqlite3.Connection, event: Event) -> int | None:
    found = connection.execute(
        "SELECT row FROM events WHERE owner_key = ? AND event_id = ? AND text = ? AND same_as IS NULL",
        (event.owner.key, event.event_id, event.text),
    ).fetchone()
    return int(found[0]) if found else None


def _index(connection: sqlite3.Connection, row: int, event: Event, text: str | None) -> None:
    EVENT_WORDS.remove(connection, row)
    if text is not None:
        EVENT_WORDS.add(connection, row, text, event.owner.audiences(event.sender_id))


def _follow(connection: sqlite3.Connection, event: Event, to: str) -> None:
    """Let the receipts of an event be those of the one that takes its place."""
    connection.execute(
        "UPDATE events SET same_as = ? WHERE owner_key = ? AND same_as = ? AND event_id != ?",
        (to, event.owner.key, event.event_id, to),
    )
