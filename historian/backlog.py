"""Rows that still need a vector, for each kind of text that is searched by meaning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from historian.database import Database
from historian.group_rows import SEARCHED
from historian.pieces import MOST, piece_ids, pieces

_EVENTS = """
    row, text, owner_key AS owner, group_id IS NOT NULL AS by_author, sender_id AS author, epoch_ms
    FROM events INDEXED BY events_by_embedder
"""
_PROFILE_LINES = """
    row, text, CASE WHEN shown_in = 'private' THEN 'user:' || entity_id ELSE shown_in END AS owner,
    entity_type = 'user' AND shown_in != 'private' AS by_author, entity_id AS author, epoch_ms
    FROM profile_lines INDEXED BY profile_lines_by_embedder
"""
_MESSAGES = """
    row, content, owner_key AS owner, owner_key GLOB 'group:*' AS by_author, sender_id AS author, row >> 20
    FROM messages INDEXED BY messages_by_embedder
"""
_GROUP_MEMORIES = f"""
    row, {SEARCHED}, owner_key AS owner, 0 AS by_author, NULL AS author, confirmed_ms
    FROM group_memories INDEXED BY group_memories_by_embedder
"""
_OTHERS = ("IS NULL", "< ?1", "> ?1")
"""What `IS NOT ?1` means, as ranges of an index: no embedder, or another one."""
_MINE = """
    owner IN (SELECT value FROM json_each(?2))
    OR (by_author AND 'author:' || author IN (SELECT value FROM json_each(?2)))
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
            for condition in _OTHERS:
                rows = connection.execute(
                    f"SELECT {self._columns} WHERE {self._which} AND embedded_by {condition}"
                    f" ORDER BY embedded_by {self._order}, row {self._order} LIMIT ?2",
                    (identity, limit - len(found)),
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

    def waiting(self) -> str:
        """Return statements that say for each row that lacks a vector of the embedder `?1` whether it is `mine`.

        It is where one of the audiences `?2` may read it. No more than `?3` rows of each kind are looked at.
        """
        return " UNION ALL ".join(
            f"SELECT mine FROM (SELECT {_MINE} AS mine FROM"
            f" (SELECT {self._columns} WHERE {self._which} AND embedded_by {condition}) LIMIT ?3)"
            for condition in _OTHERS
        )

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


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many rows wait for a vector, and how many of them are of the audiences in question."""

    all: int
    mine: int


def count_waiting(
    database: Database, backlogs: Iterable[Backlog], identity: str, audiences: Iterable[str] = (), *, most: int = -1
) -> Waiting:
    """Count the rows that wait in these backlogs, by one statement, as every search asks for it.

    In each it looks no further than at about `most`, where that is not negative.
    """
    waiting = " UNION ALL ".join(backlog.waiting() for backlog in backlogs)
    counted = f"SELECT count(*), coalesce(sum(mine), 0) FROM ({waiting})"
    return Waiting(*database.ask(counted, (identity, json.dumps([*audiences]), most)))


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
