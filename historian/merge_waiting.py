"""Statements that are not in their profile yet: they stand here from the moment their event is stored until then."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

from historian.clock import Clock
from historian.database import Database
from historian.merge import Statement
from historian.model import Event, Owner

ABANDONED_SECONDS = 30.0
"""After this time a statement that nobody is merging counts as left behind; jobs merge theirs at once."""

# what says the same as another event confirms that one, so it is merged in the words of that one
_STATEMENTS = (
    "SELECT w.event_id, w.shown_in, w.name, coalesce(s.text, e.text), e.timestamp FROM merge_waiting w"
    " JOIN events e ON e.owner_key = w.owner_key AND e.event_id = w.event_id"
    " LEFT JOIN events s ON s.owner_key = e.owner_key AND s.event_id = e.same_as"
)
_OF = "w.entity_type = ? AND w.entity_id = ?"


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with the merges of one entity.

    `by_rules`: its last merge was done by rules although a model is set. Otherwise it waits until `not_before` (aware)
    after so many failed `attempts`.
    """

    entity: Owner
    attempts: int
    reason: str
    not_before: datetime
    by_rules: bool


class MergeWaiting:
    """The waiting statements and the troubles of merging. Thread-safe."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, entity: Owner, events: Sequence[Event], *, shown_in: str, name: str | None, job_id: str) -> None:
        """Let the statements of stored events wait, once each. `name` is the entity's, where it is known."""
        now = _ms(self._clock.now())
        with self._database.join() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO merge_waiting"
                " (entity_type, entity_id, shown_in, owner_key, event_id, name, job_id, since_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (entity.kind, entity.id, shown_in, event.owner.key, event.event_id, name, job_id, now)
                    for event in events
                ],
            )

    def next(self, entity: Owner, limit: int) -> list[Statement]:
        """Return the oldest statements that are not held for review: at most `limit`, all shown in the same place."""
        return self.batch(entity, limit)[0]

    def batch(self, entity: Owner, limit: int) -> tuple[list[Statement], bool]:
        """Return what `next` does, and whether that is all that waits for this entity and is not held."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"{_STATEMENTS} WHERE w.review IS NULL AND {_OF} ORDER BY w.row LIMIT ?",
                (entity.kind, entity.id, limit),
            ).fetchall()
        found = [_statement(row) for row in rows]
        batch = [statement for statement in found if statement.shown_in == found[0].shown_in]
        return batch, len(batch) == len(found) < limit

    def snapshot(self) -> AbstractContextManager[object]:
        """Read all of a block as it stood at one moment."""
        return self._database.snapshot()

    def held(self, review: int) -> list[Statement]:
        """Return the statements that wait for a review."""
        with self._database.read() as connection:
            rows = connection.execute(f"{_STATEMENTS} WHERE w.review = ? ORDER BY w.row", (review,)).fetchall()
        return [_statement(row) for row in rows]

    def hold(self, entity: Owner, statements: Sequence[Statement], review: int) -> None:
        """Have statements wait for a review."""
        self._each("UPDATE merge_waiting SET review = ?", entity, statements, (review,))

    def done(self, entity: Owner, statements: Sequence[Statement]) -> None:
        """Take statements out: the profile has seen them."""
        self._each("DELETE FROM merge_waiting", entity, statements, ())

    def of_job(self, job_id: str) -> Owner | None:
        """Return an entity for whose merge the statements of a job wait, or None; held ones do not count."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT entity_type, entity_id FROM merge_waiting WHERE job_id = ? AND review IS NULL ORDER BY row"
                " LIMIT 1",
                (job_id,),
            ).fetchone()
        return Owner(*row) if row else None

    def count(self) -> int:
        """Return how many statements wait, those that are held for review left out."""
        with self._database.read() as connection:
            return int(connection.execute("SELECT count(*) FROM merge_waiting WHERE review IS NULL").fetchone()[0])

    def due(self) -> list[Owner]:
        """Return the entities whose waiting statements should be merged now: it is their time, or nobody does it."""
        now = _ms(self._clock.now())
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT w.entity_type, w.entity_id FROM merge_waiting w LEFT JOIN merge_troubles t"
                " ON t.entity_type = w.entity_type AND t.entity_id = w.entity_id AND t.by_rules = 0"
                " WHERE w.review IS NULL GROUP BY w.entity_type, w.entity_id"
                " HAVING max(coalesce(t.not_before_ms, w.since_ms + ?)) <= ? ORDER BY min(w.row)",
                (int(ABANDONED_SECONDS * 1000), now),
            ).fetchall()
        return [Owner(*row) for row in rows]

    def trouble(self, entity: Owner) -> Trouble | None:
        """Return what is wrong with the merges of an entity, or None."""
        found = [trouble for trouble in self.troubles() if trouble.entity == entity]
        return found[0] if found else None

    def troubles(self) -> list[Trouble]:
        """Return what is wrong with any merges."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT entity_type, entity_id, attempts, reason, not_before_ms, by_rules FROM merge_troubles"
            ).fetchall()
        return [
            Trouble(Owner(kind, identifier), attempts, reason, datetime.fromtimestamp(at / 1000, UTC), bool(by_rules))
            for kind, identifier, attempts, reason, at, by_rules in rows
        ]

    def postpone(self, entity: Owner, *, attempts: int, reason: str, until: datetime) -> None:
        """Note that the merge of an entity waits until a time, and why."""
        self._note(entity, attempts, reason, until, by_rules=False)

    def note_rules(self, entity: Owner, reason: str) -> None:
        """Note that an entity was merged by rules although a model is set, and why."""
        self._note(entity, 0, reason, self._clock.now(), by_rules=True)

    def clear_trouble(self, entity: Owner) -> None:
        """Note that all is well with the merges of an entity."""
        if self.trouble(entity) is not None:
            with self._database.write() as connection:
                connection.execute(
                    "DELETE FROM merge_troubles WHERE entity_type = ? AND entity_id = ?", (entity.kind, entity.id)
                )

    def _note(self, entity: Owner, attempts: int, reason: str, until: datetime, *, by_rules: bool) -> None:
        with self._database.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO merge_troubles"
                " (entity_type, entity_id, attempts, reason, not_before_ms, by_rules) VALUES (?, ?, ?, ?, ?, ?)",
                (entity.kind, entity.id, attempts, reason, _ms(until), by_rules),
            )

    def _each(self, statement: str, entity: Owner, statements: Sequence[Statement], values: tuple[object, ...]) -> None:
        with self._database.join() as connection:
            connection.executemany(
                f"{statement} WHERE entity_type = ? AND entity_id = ? AND shown_in = ? AND event_id = ?",
                [(*values, entity.kind, entity.id, one.shown_in, one.event_id) for one in statements],
            )


def _statement(row: sqlite3.Row | tuple[str, str, str | None, str, str]) -> Statement:
    event_id, shown_in, name, text, timestamp = row
    return Statement(text, event_id, shown_in, datetime.fromisoformat(timestamp), name)


def _ms(instant: datetime) -> int:
    return int(instant.timestamp() * 1000)
