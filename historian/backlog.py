"""Rows that still need a vector, for each kind of text that is searched by meaning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from historian.database import Database
from historian.group_rows import SEARCHED
from historian.pieces import MOST, piece_ids, pieces

_EVENTS = """
    row, text, owner_key AS owner, group_id IS NOT NULL, sender_id, epoch_ms
    FROM events INDEXED BY events_by_embedder
"""
_PROFILE_LINES = """
    row, text, CASE WHEN shown_in = 'private' THEN 'user:' || entity_id ELSE shown_in END AS owner,
    entity_type = 'user' AND shown_in != 'private', entity_id, epoch_ms
    FROM profile_lines INDEXED BY profile_lines_by_embedder
"""
_MESSAGES = """
    row, content, owner_key AS owner, owner_key GLOB 'group:*', sender_id, row >> 20
    FROM messages INDEXED BY messages_by_embedder
"""
_GROUP_MEMORIES = f"""
    row, {SEARCHED}, owner_key AS owner, 0, NULL, confirmed_ms
    FROM group_memories INDEXED BY group_memories_by_embedder
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
        self._order = "ASC"
        self.collection = collection

    def next(self, identity: str, limit: int) -> list[Unembedded]:
        """Return rows of up to `limit` pieces of text in all, oldest first; at least one row if any waits."""
        found: list[Unembedded] = []
        count = 0
        with self._database.read() as connection:
            for condition, none in _OTHERS:
                rows = connection.execute(
                    f"SELECT {self._columns} WHERE {self._which} AND embedded_by {condition}"
                    f" ORDER BY embedded_by {self._order}, row {self._order} LIMIT ?",
                    (none if none is None else identity, limit - len(found)),
                )
                for row in rows:
                    item = _unembedded(*row)
                    count += len(self.pieces(item))
                    if found and count > limit:
                        return found
                    found.append(item)
        return found

    def pieces(self, item: Unembedded) -> tuple[str, ...]:
        """Return what of a row is embedded, a vector each: here all of its text at once."""
        return (item.text,)

    def ids(self, row: int) -> tuple[str, ...]:
        """Return the ids that vectors of a row may have."""
        return (str(row),)

    def done(self, counts: Mapping[int, int], identity: str) -> None:
        """Note that rows have a vector of the embedder `identity` for each of so many pieces."""
        with self._database.write() as connection:
            connection.execute(
                f"UPDATE {self._table} SET embedded_by = ? WHERE row IN (SELECT value FROM json_each(?))",
                (identity, json.dumps([*counts])),
            )

    def counting(self, identity: str, owner: str | None, most: int) -> tuple[str, list[object]]:
        """Return an expression that counts the rows that wait, and its parameters; see `count_waiting`."""
        whose = "" if owner is None else " WHERE owner = ?"
        counts = [
            f"(SELECT count(*) FROM (SELECT 1 FROM"
            f" (SELECT {self._columns} WHERE {self._which} AND embedded_by {condition}){whose} LIMIT ?))"
            for condition, _ in _OTHERS
        ]
        values: list[object] = [
            value
            for _, none in _OTHERS
            for value in (none if none is None else identity, *([] if owner is None else [owner]), most)
        ]
        return " + ".join(counts), values

    def count_done(self, identity: str) -> int:
        """Return how many vectors of the embedder `identity` there should be, going by what `done` noted."""
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


class MessageBacklog(Backlog):
    """The messages that lack vectors: newest first, since those are asked for; long ones in pieces."""

    def __init__(self, database: Database, chunk_size: int) -> None:
        super().__init__(database, "messages", "messages", _MESSAGES, "TRUE")
        self._order = "DESC"
        self._chunk_size = chunk_size

    def pieces(self, item: Unembedded) -> tuple[str, ...]:
        """Return the pieces of a message, each of at most `chunk_size` characters."""
        return pieces(item.text, self._chunk_size)

    def ids(self, row: int) -> tuple[str, ...]:
        """Return the ids that vectors of a row may have; it may be gone, and with it the number of its pieces."""
        return piece_ids(row, MOST)

    def done(self, counts: Mapping[int, int], identity: str) -> None:
        """Note that messages have a vector of the embedder `identity` for each of so many pieces."""
        with self._database.write() as connection:
            connection.executemany(
                "UPDATE messages SET embedded_by = ?, pieces = ? WHERE row = ?",
                [(identity, count, row) for row, count in counts.items()],
            )

    def count_done(self, identity: str) -> int:
        """Return how many vectors of messages there should be."""
        more = "SELECT coalesce(sum(pieces - 1), 0) FROM messages WHERE embedded_by = ? AND pieces > 1"
        with self._database.read() as connection:
            return super().count_done(identity) + int(connection.execute(more, (identity,)).fetchone()[0])


def count_waiting(
    database: Database, backlogs: Iterable[Backlog], identity: str, owner: str | None = None, *, most: int = -1
) -> int:
    """Return how many rows wait in these backlogs, of all owners or of the one with this key.

    One statement counts them all, as every search asks for it. In each it counts no further than about `most`, where
    that is not negative.
    """
    counted = [backlog.counting(identity, owner, most) for backlog in backlogs]
    statement = " + ".join(["0", *(expression for expression, _ in counted)])
    values = [value for _, some in counted for value in some]
    return int(database.ask(f"SELECT {statement}", values)[0])


def event_backlog(database: Database) -> Backlog:
    """Return the backlog of events; repeats of an earlier event need no vector."""
    return Backlog(database, "events", "events", _EVENTS, "same_as IS NULL")


def profile_backlog(database: Database) -> Backlog:
    """Return the backlog of profile lines."""
    return Backlog(database, "profile_lines", "profiles", _PROFILE_LINES, "TRUE")


def group_backlog(database: Database) -> Backlog:
    """Return the backlog of the statements about groups; only active ones are searched."""
    return Backlog(database, "group_memories", "group_memories", _GROUP_MEMORIES, "status = 'active'")


def _unembedded(row: int, text: str, owner: str, by_author: int, sender: str | None, epoch_ms: int) -> Unembedded:
    return Unembedded(row, text, owner, f"author:{sender}" if by_author and sender else None, epoch_ms / 1000)
