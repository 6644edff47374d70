"""Merges that a person has to look at before they are carried out. They stay until somebody decides."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

from historian.clock import Clock
from historian.database import Database
from historian.merge_plan import Plan, decode_plan
from historian.model import Owner

_COLUMNS = "id, entity_type, entity_id, made_ms, reasons, plan"


@dataclass(frozen=True, slots=True)
class Review:
    """One held merge: whose, why (clauses), and what it would do."""

    id: int
    entity: Owner
    made_at: datetime
    reasons: tuple[str, ...]
    plan: Plan


class MergeReviews:
    """The held merges. Thread-safe."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def transaction(self) -> AbstractContextManager[object]:
        """Make all of a block durable together."""
        return self._database.write()

    def add(self, entity: Owner, reasons: Sequence[str], plan: Plan) -> int:
        """Hold a merge and return its id."""
        made = int(self._clock.now().timestamp() * 1000)
        with self._database.write() as connection:
            cursor = connection.execute(
                "INSERT INTO merge_reviews (entity_type, entity_id, made_ms, reasons, plan, proposed)"
                " VALUES (?, ?, ?, ?, ?, '')",  # what older versions kept: it is made when somebody looks
                (entity.kind, entity.id, made, json.dumps(reasons, ensure_ascii=False), plan.encode()),
            )
            return int(cursor.lastrowid or 0)

    def get(self, review_id: int) -> Review | None:
        """Return a held merge, or None."""
        with self._database.read() as connection:
            row = connection.execute(f"SELECT {_COLUMNS} FROM merge_reviews WHERE id = ?", (review_id,)).fetchone()
        return _review(row) if row else None

    def list(self, entity: Owner | None = None) -> list[Review]:
        """Return the held merges of everybody or of one entity, oldest first."""
        whose = "" if entity is None else " WHERE entity_type = ? AND entity_id = ?"
        values = () if entity is None else (entity.kind, entity.id)
        with self._database.read() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM merge_reviews{whose} ORDER BY id", values).fetchall()
        return [_review(row) for row in rows]

    def remove(self, review_id: int) -> None:
        """Take a merge out: somebody decided."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM merge_reviews WHERE id = ?", (review_id,))


def _review(row: sqlite3.Row | tuple[int, str, str, int, str, str]) -> Review:
    number, kind, identifier, made, reasons, plan = row
    return Review(
        id=number,
        entity=Owner("group" if kind == "group" else "user", identifier),
        made_at=datetime.fromtimestamp(made / 1000, UTC),
        reasons=tuple(json.loads(reasons)),
        plan=decode_plan(plan),
    )
