"""Group memory in SQLite: every version of every statement, the log of changes, all changes of one run at once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from historian.audiences import audience_id
from historian.database import Database
from historian.errors import StoreError
from historian.group_model import Action, StatusFilter
from historian.group_versions import Step, Version, replayed
from historian.lexical import LexicalIndex
from historian.model import Owner

GROUP_WORDS = LexicalIndex("group_memories", table="group_memories", time="t.updated_ms")
"""The word index over the statements that are active."""

SEARCHED = (
    "statement || CASE WHEN NOT json_valid(tags) OR tags = '[]' THEN ''"
    " ELSE ' ' || (SELECT group_concat(t.value, ' ') FROM json_each(tags) AS t) END"
)
"""What of a row is searched: the statement and its tags, which say what it is about."""

_FIELDS = (
    "memory_id, version, statement, status, tags, strength, strength_ms, created_ms, updated_ms, confirmed_ms,"
    " change_reason, message_ids, run_id, flags"
)
_MARKS = ", ".join("?" * 14)
_INSERT = f"INSERT INTO group_memories (owner_key, is_head, parent_version, {_FIELDS}) VALUES (?, 0, ?, {_MARKS})"
_CHANGE = f"UPDATE group_memories SET ({_FIELDS}) = ({_MARKS}) WHERE row = ?"
NOT_WRITTEN = "A statement could not be verified after it was written, so nothing was changed; run it again."


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """One entry of the log, by its row."""

    row: int
    action: Action
    after: Version
    old_statement: str | None
    reason: str
    message_ids: tuple[str, ...]
    at_ms: int
    run_id: str | None


class StaleStepError(Exception):
    """A step starts from a version that is not the head any more; nothing of it was written."""


class GroupStore:
    """Reads and writes the statements of groups. Thread-safe; who may read which group is checked by the caller."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def heads(self, group: Owner, status: StatusFilter = "active") -> list[Version]:
        """Return the newest version of every memory of a group, last changed first."""
        return [version for _, version in self._select(group, f"is_head = 1 AND {_of_status(status)}")]

    def head(self, group: Owner, memory_id: str) -> Version | None:
        """Return the newest version of one memory, or None."""
        found = self._select(group, "is_head = 1 AND memory_id = ?", memory_id)
        return found[0][1] if found else None

    def page(
        self, group: Owner, status: StatusFilter, limit: int, after: tuple[int, int] | None, offset: int = 0
    ) -> list[tuple[int, Version]]:
        """Return heads with their rows, last changed first, from behind `after` (instant and row) on."""
        beyond = "" if after is None else " AND (updated_ms, row) < (?, ?)"
        values = () if after is None else after
        tail = f" LIMIT {limit:d} OFFSET {offset:d}"
        return self._select(group, f"is_head = 1 AND {_of_status(status)}{beyond}", *values, tail=tail)

    def count(self, group: Owner, status: StatusFilter) -> int:
        """Return how many memories of a group there are."""
        with self._database.read() as connection:
            (count,) = connection.execute(
                f"SELECT count(*) FROM group_memories WHERE owner_key = ? AND is_head = 1 AND {_of_status(status)}",
                (group.key,),
            ).fetchone()
        return int(count)

    def versions(self, group: Owner, memory_id: str) -> list[Version]:
        """Return all versions of one memory, oldest first."""
        found = [version for _, version in self._select(group, "memory_id = ?", memory_id)]
        return sorted(found, key=lambda one: one.version)

    def active_rows(self, group: Owner, rows: Iterable[int]) -> dict[int, Version]:
        """Return those of `rows` that are active statements of a group."""
        wanted = json.dumps(sorted(set(rows)))
        return dict(self._select(group, "status = 'active' AND row IN (SELECT value FROM json_each(?))", wanted))

    def changes(
        self, group: Owner, *, memory_id: str | None = None, since_ms: int | None = None, limit: int = -1
    ) -> list[LoggedChange]:
        """Return the log of a group, or of one memory of it, oldest first; of more than `limit` the newest."""
        condition, values = "owner_key = ?", [group.key]
        if memory_id is not None:
            condition, values = f"{condition} AND memory_id = ?", [*values, memory_id]
        since = "" if since_ms is None else f" AND at_ms >= {since_ms:d}"
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT row, action, after, old_statement, change_reason, message_ids, at_ms, run_id FROM group_changes"
                f" WHERE {condition}{since} ORDER BY row DESC LIMIT ?",
                (*values, limit),
            ).fetchall()
        found = [_logged(row) for row in reversed(rows)]
        return [one for one in found if one is not None]

    def replay(self, group: Owner) -> dict[tuple[str, int], Version]:
        """Return the versions that the log of a group gives from nothing."""
        return replayed((change.action, change.after) for change in self.changes(group))

    def present(self, group: Owner) -> dict[tuple[str, int], Version]:
        """Return all versions of a group as they stand."""
        return {(one.memory_id, one.version): one for _, one in self._select(group, "TRUE")}

    def apply(self, connection: sqlite3.Connection, group: Owner, step: Step) -> list[int]:
        """Write one step and its entry in the log; return the rows whose vectors are out of date. All or nothing.

        Needs a write transaction. A new version is written and read back before the one before it is retired.

        Raises:
            StaleStepError: the memory is not as it was when the step was made.
            StoreError: what was written reads otherwise.
        """
        gone: list[int] = []
        row, head = _head(connection, group, step.after.memory_id)
        if head != step.before:
            raise StaleStepError
        if step.is_new_version:
            new = _insert(connection, group, step.after)
            if row is not None and head is not None:
                gone += _retire(connection, row)
            _promote(connection, group, new, step.after)
        else:
            assert row is not None
            gone += _change(connection, group, row, head, step.after)
        _log(connection, group, step)
        return gone

    def _select(self, group: Owner, condition: str, *values: object, tail: str = "") -> list[tuple[int, Version]]:
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT row, {_FIELDS} FROM group_memories WHERE owner_key = ? AND {condition}"
                f" ORDER BY updated_ms DESC, row DESC{tail}",
                (group.key, *values),
            ).fetchall()
        return [(row[0], _version(row[1:])) for row in rows]


def _head(connection: sqlite3.Connection, group: Owner, memory_id: str) -> tuple[int | None, Version | None]:
    found = connection.execute(
        f"SELECT row, {_FIELDS} FROM group_memories WHERE owner_key = ? AND memory_id = ? AND is_head = 1",
        (group.key, memory_id),
    ).fetchone()
    return (None, None) if found is None else (found[0], _version(found[1:]))


def _insert(connection: sqlite3.Connection, group: Owner, version: Version) -> int:
    """Write a version as no head yet, and read it back."""
    waiting = replace(version, status="deprecated")
    cursor = connection.execute(_INSERT, (group.key, version.parent_version, *_values(waiting)))
    row = int(cursor.lastrowid or 0)
    _link(connection, group, row, version)
    found = connection.execute(f"SELECT {_FIELDS} FROM group_memories WHERE row = ?", (row,)).fetchone()
    if found is None or _version(found) != waiting:
        raise StoreError(NOT_WRITTEN)
    return row


def _retire(connection: sqlite3.Connection, row: int) -> list[int]:
    connection.execute(
        "UPDATE group_memories SET is_head = 0, status = 'deprecated', embedded_by = NULL WHERE row = ?", (row,)
    )
    _unlist(connection, row)
    return [row]


def _promote(connection: sqlite3.Connection, group: Owner, row: int, version: Version) -> None:
    connection.execute("UPDATE group_memories SET is_head = 1, status = ? WHERE row = ?", (version.status, row))
    if version.status == "active":
        _list(connection, group, row)


def _change(connection: sqlite3.Connection, group: Owner, row: int, head: Version | None, after: Version) -> list[int]:
    """Change a head in place; its text stays."""
    connection.execute(_CHANGE, (*_values(after), row))
    _link(connection, group, row, after)
    if head is not None and head.status != after.status:
        if after.status == "active":
            _list(connection, group, row)
        else:
            connection.execute("UPDATE group_memories SET embedded_by = NULL WHERE row = ?", (row,))
            _unlist(connection, row)
            return [row]
    return []


def _list(connection: sqlite3.Connection, group: Owner, row: int) -> None:
    """Let an active statement be found."""
    (text,) = connection.execute(f"SELECT {SEARCHED} FROM group_memories WHERE row = ?", (row,)).fetchone()
    connection.execute(
        "INSERT OR IGNORE INTO group_memory_audiences (audience_id, row) VALUES (?, ?)",
        (audience_id(connection, group.key), row),
    )
    GROUP_WORDS.remove(connection, row)
    GROUP_WORDS.add(connection, row, text, (group.key,))


def _unlist(connection: sqlite3.Connection, row: int) -> None:
    GROUP_WORDS.remove(connection, row)
    connection.execute("DELETE FROM group_memory_audiences WHERE row = ?", (row,))


def _link(connection: sqlite3.Connection, group: Owner, row: int, version: Version) -> None:
    """Link a version to the messages that it rests on, as far as they are in the record of this group."""
    connection.execute(
        "INSERT OR IGNORE INTO group_memory_messages (memory_row, message_row)"
        " SELECT ?1, m.row FROM json_each(?2) AS j CROSS JOIN messages AS m"
        " ON m.message_id = j.value AND m.owner_key = ?3"
        " UNION SELECT ?1, s.row FROM json_each(?2) AS j CROSS JOIN message_aliases AS s"
        " ON s.alias_id = j.value AND s.owner_key = ?3",
        (row, json.dumps(version.message_ids), group.key),
    )


def _log(connection: sqlite3.Connection, group: Owner, step: Step) -> None:
    connection.execute(
        "INSERT INTO group_changes (owner_key, memory_id, version, action, at_ms, old_statement, change_reason,"
        " message_ids, run_id, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            group.key,
            step.after.memory_id,
            step.after.version,
            step.action,
            step.at_ms,
            None if step.before is None else step.before.statement,
            step.reason,
            json.dumps(step.message_ids, ensure_ascii=False),
            step.run_id,
            step.after.encode(),
        ),
    )


def _of_status(status: StatusFilter) -> str:
    return "TRUE" if status == "all" else f"status = '{status}'"


def _values(version: Version) -> tuple[object, ...]:
    return (
        version.memory_id,
        version.version,
        version.statement,
        version.status,
        json.dumps(version.tags, ensure_ascii=False),
        version.strength,
        version.strength_ms,
        version.created_ms,
        version.updated_ms,
        version.confirmed_ms,
        version.change_reason,
        json.dumps(version.message_ids, ensure_ascii=False),
        version.run_id,
        json.dumps(version.flags),
    )


def _version(row: Sequence[Any]) -> Version:
    """Return the version of a row. Lists that a hand spoilt are empty: the statement is still there."""
    values = dict(zip((name.strip() for name in _FIELDS.split(",")), row, strict=True))
    lists: dict[str, Any] = {name: _list_of(values[name]) for name in ("tags", "message_ids", "flags")}
    return Version(**values | lists)


def _list_of(text: object) -> tuple[str, ...]:
    try:
        found = json.loads(str(text))
    except ValueError:
        return ()
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _logged(row: Sequence[Any]) -> LoggedChange | None:
    """Return an entry of the log; None for one that a hand spoilt, which `shiguan doctor` names."""
    number, action, after, old_statement, reason, message_ids, at_ms, run_id = row
    try:
        version = Version.decode(after)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return LoggedChange(number, action, version, old_statement, reason, _list_of(message_ids), at_ms, run_id)
