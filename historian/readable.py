"""Reading the record: a view that is bound to what one request may read, and that nothing widens."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from pydantic_core import from_json

from historian.audiences import known_audiences
from historian.database import Database
from historian.errors import NotFoundError
from historian.fetching import fetch_together, together
from historian.lexical import Hits, LexicalIndex, Within
from historian.lexical_query import Mode
from historian.messages import COLUMNS, Excerpt, StoredMessage, epoch_ms, excerpt_columns, first_row, stored
from historian.model import Reach, Role

MESSAGE_WORDS = LexicalIndex("messages", table="messages", time="(l.row >> 20)")
"""The word index over message contents."""

_OF_KEY = "a.audience_id = (SELECT id FROM audiences WHERE key = ?)"
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Which messages are meant; what is None narrows nothing. `since_ms` is inclusive, `until_ms` exclusive."""

    role: Role | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    conversation_id: str | None = None
    sender_id: str | None = None

    @property
    def since_row(self) -> int:
        """The first row in the time range."""
        return _LOWEST if self.since_ms is None else first_row(self.since_ms)

    @property
    def until_row(self) -> int:
        """The first row after the time range."""
        return _HIGHEST if self.until_ms is None else first_row(self.until_ms)

    @property
    def is_of_some(self) -> bool:
        """Whether more than a time range narrows it: then counting reads the messages themselves."""
        return any(value is not None for value in (self.role, self.conversation_id, self.sender_id))

    def condition(self, table: str, *, role: bool = True) -> tuple[str, list[object]]:
        """Return what is not a time range as SQL over `table`, and its parameters."""
        wanted = {"conversation_id": self.conversation_id, "sender_id": self.sender_id}
        if role:
            wanted["role"] = self.role
        set_ones = {name: value for name, value in wanted.items() if value is not None}
        return " AND ".join(f"{table}.{name} = ?" for name in set_ones), [*set_ones.values()]


EVERY_MESSAGE = MessageFilter()


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message that answers a query, and its lexical score 0..1."""

    stored: StoredMessage
    score: float


@dataclass(frozen=True, slots=True)
class FoundMessages:
    """Messages best first; `mode` and `capped` as in `lexical_search.Hits`."""

    items: tuple[FoundMessage, ...]
    mode: Mode
    capped: bool


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A message near another one; `anchor` marks that other one itself."""

    stored: StoredMessage
    anchor: bool


class ReadableRecord:
    """The messages of one reach. Thread-safe; every method raises StoreError when the database cannot be read."""

    def __init__(self, database: Database, reach: Reach) -> None:
        self._database = database
        self._reach = reach

    def get(self, message_ids: Iterable[str]) -> list[StoredMessage]:
        """Return the messages with these ids or aliases, in the order of the ids, each once.

        What is unknown or somebody else's is absent. An id that several owners in reach use gives several messages.
        """
        ids = list(dict.fromkeys(message_ids))
        if not ids:
            return []
        with self._database.snapshot():
            rows = self.rows_of(ids)
            by_row = self.rows(row for id_rows in rows.values() for row in id_rows) if rows else {}
        ordered = dict.fromkeys(row for message_id in ids for row in rows.get(message_id, ()))
        return [by_row[row] for row in ordered if row in by_row]

    def rows_of(self, message_ids: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """Return the rows of ids or aliases; an id without a readable row is absent. Rows ascend."""
        wanted = json.dumps(list(dict.fromkeys(message_ids)))
        found: dict[str, list[int]] = {}
        with self._database.read() as connection:
            audiences = known_audiences(connection, self._reach)
            rows = connection.execute(
                "SELECT n.message_id, n.row FROM ("
                " SELECT m.message_id, m.owner_key, m.row FROM json_each(?1) AS j"
                "  CROSS JOIN messages AS m ON m.message_id = j.value"
                " UNION ALL SELECT s.alias_id, s.owner_key, s.row FROM json_each(?1) AS j"
                "  CROSS JOIN message_aliases AS s ON s.alias_id = j.value) AS n"
                f" WHERE (n.owner_key IN (SELECT value FROM json_each(?2)) OR n.owner_key GLOB 'group:*')"
                f" AND {_readable('n.row', audiences)} ORDER BY n.row",
                (wanted, json.dumps(sorted(self._reach))),
            )
            for message_id, row in rows:
                found.setdefault(message_id, []).append(row)
        return {message_id: tuple(numbers) for message_id, numbers in found.items()}

    def rows(self, rows: Iterable[int]) -> Mapping[int, StoredMessage]:
        """Return those of `rows` that may be read."""
        with self._database.read() as connection:
            audiences = known_audiences(connection, self._reach)
            found = connection.execute(
                f"SELECT {COLUMNS} FROM json_each(?) AS j CROSS JOIN messages AS m ON m.row = j.value"
                f" WHERE {_readable('m.row', audiences)}",
                (json.dumps(list(rows)),),
            )
            return {columns[0]: stored(columns) for columns in found}

    def list(
        self,
        *,
        since_ms: int | None = None,
        until_ms: int | None = None,
        role: Role | None = None,
        conversation_id: str | None = None,
        sender_id: str | None = None,
        limit: int,
        before_row: int | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Return the newest messages that fit, newest first by time and sequence, before `before_row` if given."""
        wanted = MessageFilter(role, since_ms, until_ms, conversation_id, sender_id)
        return self.newest(wanted, limit=limit, before_row=before_row)

    def newest(
        self, wanted: MessageFilter = EVERY_MESSAGE, *, limit: int, before_row: int | None = None
    ) -> tuple[StoredMessage, ...]:
        """Return the newest messages that fit a filter, as `list` does."""
        with self._database.read() as connection:
            statement, parameters = self._newest(wanted, limit, before_row)
            found = connection.execute(
                f"SELECT {COLUMNS} FROM ({statement}) AS u CROSS JOIN messages AS m ON m.row = u.row"
                " ORDER BY u.row DESC",
                parameters,
            )
            return tuple(stored(columns) for columns in found)

    def newest_rows(
        self, wanted: MessageFilter = EVERY_MESSAGE, *, limit: int, before_row: int | None = None
    ) -> tuple[int, ...]:
        """Return the rows of the newest messages that fit a filter, as `list` does."""
        with self._database.read() as connection:
            return tuple(row for (row,) in connection.execute(*self._newest(wanted, limit, before_row)))

    def excerpts(self, rows: Iterable[int], most: int) -> Mapping[int, Excerpt]:
        """Return those of `rows` that may be read, each content cut at `most` characters."""
        with self._database.read() as connection:
            audiences = known_audiences(connection, self._reach)
            found = fetch_together(
                connection,
                f"length(m.content), {excerpt_columns(most)}",
                "FROM json_each(?) AS j CROSS JOIN messages AS m ON m.row = j.value"
                f" WHERE {_readable('m.row', audiences)}",
                (json.dumps(list(rows)),),
            )
        return {columns[1]: Excerpt(stored(columns[1:]), columns[0]) for columns in found}

    def newest_excerpts(
        self,
        most: int,
        wanted: MessageFilter = EVERY_MESSAGE,
        *,
        limit: int,
        before_row: int | None = None,
        count_to: int = 0,
    ) -> tuple[Sequence[Excerpt], int]:
        """Return the newest messages that fit a filter, as `list` does, each content cut at `most` characters.

        With them comes how many fit at all, before a row and after it, counting no further than `count_to`.
        """
        statement, parameters = self._newest(wanted, limit, before_row)
        fitting, values = self._union(wanted, wanted.since_row, wanted.until_row)
        page = together(
            f"length(m.content), {excerpt_columns(most)}",
            f"FROM ({statement}) AS u CROSS JOIN messages AS m ON m.row = u.row",
        )
        listed, total = self._database.ask(
            f"SELECT ({page}), (SELECT count(*) FROM ({fitting} LIMIT ?))", (*parameters, *values, count_to)
        )
        found = sorted(from_json(listed), key=itemgetter(1), reverse=True)
        return [Excerpt(stored(columns[1:]), columns[0]) for columns in found], total

    def snapshot(self) -> AbstractContextManager[object]:
        """Let everything that this thread reads in a block come from one snapshot."""
        return self._database.snapshot()

    def stand_ins(self, rows: Iterable[int]) -> Mapping[int, str]:
        """Return the ids of those of `rows` that may give way to their real message, which moves their row."""
        wanted = set(rows)
        standing = "SELECT m.row FROM messages AS m INDEXED BY messages_standing_in WHERE m.stand_in = 1 LIMIT ?"
        with self._database.read() as connection:
            known = [row for (row,) in connection.execute(standing, (len(wanted) + 1,))]
            if len(known) <= len(wanted):  # few: look at those rather than at every row
                wanted.intersection_update(known)
            found = connection.execute(
                "SELECT m.row, m.message_id FROM json_each(?) AS j CROSS JOIN messages AS m ON m.row = j.value"
                " WHERE m.stand_in = 1",
                (json.dumps(list(wanted)),),
            )
            return dict(found.fetchall())

    def recent(
        self, conversation_id: str | None = None, *, limit: int, before: datetime | None = None
    ) -> tuple[StoredMessage, ...]:
        """Return the last messages said before an instant, oldest first: the context of what came then."""
        until = None if before is None else epoch_ms(before)
        wanted = MessageFilter(until_ms=until, conversation_id=conversation_id)
        return self.newest(wanted, limit=limit)[::-1]

    def neighbors(self, message_id: str, before: int, after: int) -> tuple[Neighbor, ...]:
        """Return a message and those said around it in its conversation, oldest first, equal times included.

        Raises:
            NotFoundError: there is no such message in reach.
        """
        anchor, rows = self.rows_around(message_id, before, after)
        by_row = self.rows(rows)
        return tuple(Neighbor(by_row[row], row == anchor) for row in rows if row in by_row)

    def rows_around(self, message_id: str, before: int, after: int) -> tuple[int, tuple[int, ...]]:
        """Return the row of a message and those around it, ascending; raises as `neighbors`."""
        rows = self.rows_of([message_id]).get(message_id)
        if not rows:
            raise NotFoundError("There is no message with this id; take one from messages_list or a search.")
        with self._database.read() as connection:
            audiences = known_audiences(connection, self._reach)
            earlier = _beside(connection, audiences, "<", "DESC", (rows[-1], max(before, 0)))
            later = _beside(connection, audiences, ">", "ASC", (rows[-1], max(after, 0)))
        return rows[-1], (*earlier[::-1], rows[-1], *later)

    def lexical(
        self, query: str, wanted: MessageFilter = EVERY_MESSAGE, *, limit: int, ranked: bool = False
    ) -> FoundMessages:
        """Return the messages that fit a query, best first (see `LexicalIndex.search`)."""
        hits = self.lexical_rows(query, wanted, limit=limit, ranked=ranked)
        by_row = self.rows(hit.row for hit in hits.hits)
        items = tuple(FoundMessage(by_row[hit.row], hit.score) for hit in hits.hits if hit.row in by_row)
        return FoundMessages(items, hits.mode, hits.capped)

    def lexical_rows(
        self,
        query: str,
        wanted: MessageFilter = EVERY_MESSAGE,
        *,
        limit: int,
        ranked: bool = False,
        before_row: int | None = None,
    ) -> Hits:
        """Return the rows that fit a query (see `LexicalIndex.search`); before a row, only such as have all of it."""
        condition, parameters = wanted.condition("t", role=False)
        since = None if wanted.since_ms is None else wanted.since_row
        until = min(wanted.until_row, _HIGHEST if before_row is None else before_row)
        within = Within(since, None if until == _HIGHEST else until, wanted.role, condition, tuple(parameters))
        with self._database.read() as connection:
            return MESSAGE_WORDS.search(
                connection,
                self._reach,
                query,
                limit=limit,
                within=within,
                ranked=ranked,
                strict=before_row is not None,
            )

    def _newest(self, wanted: MessageFilter, limit: int, before_row: int | None) -> tuple[str, Sequence[object]]:
        until = min(wanted.until_row, _HIGHEST if before_row is None else before_row)
        statement, parameters = self._union(wanted, wanted.since_row, until)
        return f"{statement} ORDER BY row DESC LIMIT ?", (*parameters, max(limit, 0))

    def _union(self, wanted: MessageFilter, since: int, until: int) -> tuple[str, Sequence[object]]:
        """Return a statement for the rows of all audiences, each read from its index in order, and merged."""
        condition, values = wanted.condition("m")
        parts: Sequence[str] = ()
        parameters: Sequence[object] = ()
        for key in sorted(self._reach):
            source, row = _source(key, wanted)
            part = f"SELECT {row} AS row FROM {source} AND {row} >= ? AND {row} < ?"
            parts = (*parts, f"{part} AND {condition}" if condition else part)
            parameters = (*parameters, key, since, until, *values)
        return " UNION ".join(parts) or "SELECT 0 AS row WHERE FALSE", parameters


def _source(key: str, wanted: MessageFilter) -> tuple[str, str]:
    """Return where to read the audience from whose key is the parameter, and its row.

    The row is that of the index that is walked, so that a list stops at its limit.
    """
    if wanted.conversation_id is not None and not key.startswith("author:"):
        return "messages AS m INDEXED BY messages_by_conversation WHERE m.owner_key = ?", "m.row"
    if wanted.role is None and wanted.sender_id is None and wanted.conversation_id is None:
        return f"message_audiences AS a WHERE {_OF_KEY}", "a.row"
    return f"message_audiences AS a CROSS JOIN messages AS m ON m.row = a.row WHERE {_OF_KEY}", "a.row"


def _readable(row: str, audiences: Sequence[int]) -> str:
    numbers = ", ".join(map(str, audiences))
    return f"EXISTS (SELECT 1 FROM message_audiences AS a WHERE a.audience_id IN ({numbers}) AND a.row = {row})"


def _beside(
    connection: sqlite3.Connection, audiences: Sequence[int], side: str, order: str, where: tuple[int, int]
) -> Sequence[int]:
    """Return the rows beside the one in `where`, at most as many as stand there."""
    found = connection.execute(
        "SELECT m.row FROM messages AS a CROSS JOIN messages AS m INDEXED BY messages_by_conversation"
        f" WHERE a.row = ? AND m.owner_key = a.owner_key AND m.conversation_id = a.conversation_id"
        f" AND m.row {side} a.row AND {_readable('m.row', audiences)} ORDER BY m.row {order} LIMIT ?",
        where,
    )
    return [row for (row,) in found]
