"""Rows that still need a vector, for each kind of text that is searched by meaning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from historian.database import Database

_EVENTS = """
    SELECT row, text, owner_key, group_id IS NOT NULL, sender_id, epoch_ms FROM events
    WHERE same_as IS NULL AND embedded_by IS NOT ? ORDER BY row LIMIT ?
"""
_PROFILE_LINES = """
    SELECT row, text, CASE WHEN shown_in = 'private' THEN 'user:' || entity_id ELSE shown_in END,
           entity_type = 'user' AND shown_in != 'private', entity_id, epoch_ms FROM profile_lines
    WHERE embedded_by IS NOT ? ORDER BY row LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """One text without a vector. `owner` and `author` are the audience keys of its row; `epoch` is in seconds."""

    row: int
    text: str
    owner: str
    author: str | None
    epoch: float


class Backlog:
    """The rows of one table that lack a vector of the present embedder. Thread-safe."""

    def __init__(self, database: Database, table: str, collection: str, select: str, count: str) -> None:
        self._database = database
        self._table = table
        self._select = select
        self._count = count
        self.collection = collection

    def next(self, identity: str, limit: int) -> list[Unembedded]:
        """Return up to `limit` rows, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(self._select, (identity, limit)).fetchall()
        return [
            Unembedded(row, text, owner, f"author:{sender}" if by_author and sender else None, epoch_ms / 1000)
            for row, text, owner, by_author, sender, epoch_ms in rows
        ]

    def done(self, rows: Sequence[int], identity: str) -> None:
        """Note that `rows` have a vector of the embedder `identity`."""
        with self._database.write() as connection:
            connection.execute(
                f"UPDATE {self._table} SET embedded_by = ? WHERE row IN (SELECT value FROM json_each(?))",
                (identity, json.dumps([*rows])),
            )

    def count(self, identity: str) -> int:
        """Return how many rows wait."""
        with self._database.read() as connection:
            return int(connection.execute(self._count, (identity,)).fetchone()[0])

    def forget(self) -> None:
        """Note that no row has a vector, before all are made again."""
        with self._database.write() as connection:
            connection.execute(f"UPDATE {self._table} SET embedded_by = NULL")


def event_backlog(database: Database) -> Backlog:
    """Return the backlog of events; repeats of an earlier event need no vector."""
    count = "SELECT count(*) FROM events WHERE same_as IS NULL AND embedded_by IS NOT ?"
    return Backlog(database, "events", "events", _EVENTS, count)


def profile_backlog(database: Database) -> Backlog:
    """Return the backlog of profile lines."""
    count = "SELECT count(*) FROM profile_lines WHERE embedded_by IS NOT ?"
    return Backlog(database, "profile_lines", "profiles", _PROFILE_LINES, count)
