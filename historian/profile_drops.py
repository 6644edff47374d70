"""Why a line is not in a profile any more, or a statement never came into it: the newest of each entity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from historian.clock import Clock
from historian.database import Database
from historian.merge import Drop
from historian.model import Owner

KEPT = 500
"""Reasons kept for each entity."""


@dataclass(frozen=True, slots=True)
class NotedDrop:
    """What was left out when the file of that `digest` was written, why, and when (aware)."""

    digest: str
    line: str
    reason: str
    at: datetime


class ProfileDrops:
    """The reasons. Thread-safe."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, entity: Owner, digest: str, drops: Sequence[Drop]) -> None:
        """Note what was left out of the file of that digest, and forget the oldest over the limit."""
        if not drops:
            return
        at = int(self._clock.now().timestamp() * 1000)
        with self._database.write() as connection:
            connection.executemany(
                "INSERT INTO profile_drops (entity_type, entity_id, digest, line, reason, at_ms)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [(entity.kind, entity.id, digest, drop.line, drop.reason, at) for drop in drops],
            )
            connection.execute(
                "DELETE FROM profile_drops WHERE entity_type = ? AND entity_id = ? AND row <= (SELECT row FROM"
                " profile_drops WHERE entity_type = ? AND entity_id = ? ORDER BY row DESC LIMIT 1 OFFSET ?)",
                (entity.kind, entity.id, entity.kind, entity.id, KEPT),
            )

    def of(self, entity: Owner, limit: int) -> list[NotedDrop]:
        """Return the newest reasons of an entity, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT digest, line, reason, at_ms FROM profile_drops WHERE entity_type = ? AND entity_id = ?"
                " ORDER BY row DESC LIMIT ?",
                (entity.kind, entity.id, limit),
            ).fetchall()
        return [
            NotedDrop(digest, line, reason, datetime.fromtimestamp(at / 1000, UTC)) for digest, line, reason, at in rows
        ]
