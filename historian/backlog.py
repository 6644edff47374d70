"""Rows that still need a vector, for each kind of text that is searched by meaning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from historian.database import Database

_EVENTS = """
    row, text, owner_key AS owner, group_id IS NOT NULL, sender_id, epoch_ms
    FROM events INDEXED BY events_by_embedder
"""
_PROFILE_LINES = """
    row, text, CASE WHEN shown_in = 'private' THEN 'user:' || entity_id ELSE shown_in END AS owner,
    entity_type = 'user' AND shown_in != 'private', entity_id, epoch_ms
    FROM profile_lines INDEXED BY profile_lines_by_embedder
"""
_OTHERS = (("IS ?", None), ("< ?", ""), ("> ?", ""))
"""What `IS NOT ?` means, as ranges of an index: no embedder, or another one."""


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

    def __init__(self, database: Database, table: str, collection: str, columns: str, which: str) -> None:
        self._database = database
        self._table = table
        self._columns = columns
        self._which = which
        self.collection = collection

    def next(self, identity: str, limit: int) -> list[Unembedded]:
        """Return up to `limit` rows, oldest first."""
        found: list[Unembedded] = []
        with self._database.read() as connection:
            for condition, none in _OTHERS:
                rows = connection.execute(
                    f"SELECT {self._columns} WHERE {self._which} AND embedded_by {condition}"
                    " ORDER BY embedded_by, row LIMIT ?",
                    (none if none is None else identity, limit - len(found)),
                )
                found += [_unembedded(*row) for row in rows]
        return found

    def done(self, rows: Sequence[int], identity: str) -> None:
        """Note that `rows` have a vector of the embedder `identity`."""
        with self._database.write() as connection:
            connection.execute(
                f"UPDATE {self._table} SET embedded_by = ? WHERE row IN (SELECT value FROM json_each(?))",
                (identity, json.dumps([*rows])),
            )

    def count(self, identity: str, owner: str | None = None) -> int:
        """Return how many rows wait, of all owners or of the one with this key."""
        whose = "" if owner is None else " WHERE owner = ?"
        with self._database.read() as connection:
            return sum(
                connection.execute(
                    f"SELECT count(*) FROM"
                    f" (SELECT {self._columns} WHERE {self._which} AND embedded_by {condition}){whose}",
                    (none if none is None else identity, *([] if owner is None else [owner])),
                ).fetchone()[0]
                for condition, none in _OTHERS
            )

    def count_done(self, identity: str) -> int:
        """Return how many rows are said to have a vector of the embedder `identity`."""
        with self._database.read() as connection:
            done = f"SELECT count(*) FROM {self._table} WHERE {self._which} AND embedded_by = ?"
            return int(connection.execute(done, (identity,)).fetchone()[0])

    def rows(self, identity: str) -> tuple[set[int], set[int]]:
        """Return all rows, and those of them that are said to have a vector of the embedder `identity`."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT row, embedded_by IS ? FROM {self._table} WHERE {self._which}", (identity,)
            )
            found: list[tuple[int, int]] = rows.fetchall()
        return {row for row, _ in found}, {row for row, done in found if done}

    def forget(self, rows: Sequence[int] | None = None) -> None:
        """Note that these rows, or all where none are named, have no vector, so that it is made again."""
        chosen = "" if rows is None else " WHERE row IN (SELECT value FROM json_each(?))"
        with self._database.write() as connection:
            connection.execute(
                f"UPDATE {self._table} SET embedded_by = NULL{chosen}", () if rows is None else (json.dumps([*rows]),)
            )


def event_backlog(database: Database) -> Backlog:
    """Return the backlog of events; repeats of an earlier event need no vector."""
    return Backlog(database, "events", "events", _EVENTS, "same_as IS NULL")


def profile_backlog(database: Database) -> Backlog:
    """Return the backlog of profile lines."""
    return Backlog(database, "profile_lines", "profiles", _PROFILE_LINES, "TRUE")


def _unembedded(row: int, text: str, owner: str, by_author: int, sender: str | None, epoch_ms: int) -> Unembedded:
    return Unembedded(row, text, owner, f"author:{sender}" if by_author and sender else None, epoch_ms / 1000)
