"""The rows of group memory: how one version is written, found, retired and logged, inside a transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from historian.audiences import audience_id
from historian.errors import StoreError
from historian.group_versions import Step, Version
from historian.lexical import LexicalIndex
from historian.model import Owner

GROUP_WORDS = LexicalIndex("group_memories", table="group_memories", time="t.updated_ms")
"""The word index over the statements that are active."""

SEARCHED = (
    "statement || CASE WHEN NOT json_valid(tags) OR tags = '[]' THEN ''"
    " ELSE ' ' || (SELECT group_concat(t.value, ' ') FROM json_each(tags) AS t) END"
)
"""What of a row is searched: the statement and its tags, which say what it is about."""

FIELDS = (
    "memory_id, version, statement, status, tags, strength, strength_ms, created_ms, updated_ms, confirmed_ms,"
    " change_reason, message_ids, run_id, flags"
)
_NAMES = tuple(name.strip() for name in FIELDS.split(","))
_MARKS = ", ".join("?" * len(_NAMES))
_INSERT = f"INSERT INTO group_memories (owner_key, is_head, parent_version, {FIELDS}) VALUES (?, 0, ?, {_MARKS})"
_CHANGE = f"UPDATE group_memories SET ({FIELDS}) = ({_MARKS}) WHERE row = ?"
NOT_WRITTEN = "A statement could not be verified after it was written, so nothing was changed; run it again."


def head_of(connection: sqlite3.Connection, group: Owner, memory_id: str) -> tuple[int | None, Version | None]:
    """Return the newest version of a memory with its row, or None twice."""
    found = connection.execute(
        f"SELECT row, {FIELDS} FROM group_memories WHERE owner_key = ? AND memory_id = ? AND is_head = 1",
        (group.key, memory_id),
    ).fetchone()
    return (None, None) if found is None else (found[0], version_of(found[1:]))


def versions_of(connection: sqlite3.Connection, group: Owner, memory_id: str) -> list[Version]:
    """Return all versions of one memory, oldest first."""
    rows = connection.execute(
        f"SELECT {FIELDS} FROM group_memories WHERE owner_key = ? AND memory_id = ? ORDER BY version",
        (group.key, memory_id),
    ).fetchall()
    return [version_of(row) for row in rows]


def insert(connection: sqlite3.Connection, group: Owner, version: Version) -> int:
    """Write a version as no head yet, and read it back."""
    waiting = replace(version, status="deprecated")
    cursor = connection.execute(_INSERT, (group.key, version.parent_version, *values_of(waiting)))
    row = int(cursor.lastrowid or 0)
    link(connection, group, row, version)
    found = connection.execute(f"SELECT {FIELDS} FROM group_memories WHERE row = ?", (row,)).fetchone()
    if found is None or version_of(found) != waiting:
        raise StoreError(NOT_WRITTEN)
    return row


def retire(connection: sqlite3.Connection, row: int) -> list[int]:
    """Let a head be none any more; return the rows whose vectors are out of date."""
    connection.execute(
        "UPDATE group_memories SET is_head = 0, status = 'deprecated', embedded_by = NULL WHERE row = ?", (row,)
    )
    delist(connection, row)
    return [row]


def promote(connection: sqlite3.Connection, group: Owner, row: int, version: Version) -> None:
    """Let a version be the head of its memory."""
    connection.execute("UPDATE group_memories SET is_head = 1, status = ? WHERE row = ?", (version.status, row))
    if version.status == "active":
        enlist(connection, group, row)


def change(connection: sqlite3.Connection, group: Owner, row: int, head: Version | None, after: Version) -> list[int]:
    """Change a head in place; its text stays."""
    connection.execute(_CHANGE, (*values_of(after), row))
    link(connection, group, row, after)
    if head is not None and head.status != after.status:
        if after.status == "active":
            enlist(connection, group, row)
        else:
            connection.execute("UPDATE group_memories SET embedded_by = NULL WHERE row = ?", (row,))
            delist(connection, row)
            return [row]
    return []


def enlist(connection: sqlite3.Connection, group: Owner, row: int) -> None:
    """Let an active statement be found."""
    (text,) = connection.execute(f"SELECT {SEARCHED} FROM group_memories WHERE row = ?", (row,)).fetchone()
    connection.execute(
        "INSERT OR IGNORE INTO group_memory_audiences (audience_id, row) VALUES (?, ?)",
        (audience_id(connection, group.key), row),
    )
    GROUP_WORDS.remove(connection, row)
    GROUP_WORDS.add(connection, row, text, (group.key,))


def delist(connection: sqlite3.Connection, row: int) -> None:
    """Let a statement be found no more."""
    GROUP_WORDS.remove(connection, row)
    connection.execute("DELETE FROM group_memory_audiences WHERE row = ?", (row,))


def link(connection: sqlite3.Connection, group: Owner, row: int, version: Version) -> None:
    """Link a version to the messages that it rests on, as far as they are in the record of this group."""
    connection.execute(
        "INSERT OR IGNORE INTO group_memory_messages (memory_row, message_row)"
        " SELECT ?1, m.row FROM json_each(?2) AS j CROSS JOIN messages AS m"
        " ON m.message_id = j.value AND m.owner_key = ?3"
        " UNION SELECT ?1, s.row FROM json_each(?2) AS j CROSS JOIN message_aliases AS s"
        " ON s.alias_id = j.value AND s.owner_key = ?3",
        (row, json.dumps(version.message_ids), group.key),
    )


def log(connection: sqlite3.Connection, group: Owner, step: Step) -> None:
    """Write the entry of a step."""
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


def values_of(version: Version) -> tuple[object, ...]:
    """Return the column values of a version, in the order of `FIELDS`."""
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


def version_of(row: Sequence[Any]) -> Version:
    """Return the version of a row. Lists that a hand spoilt are empty: the statement is still there."""
    values = dict(zip(_NAMES, row, strict=True))
    lists: dict[str, Any] = {name: list_of(values[name]) for name in ("tags", "message_ids", "flags")}
    return Version(**values | lists)


def list_of(text: object) -> tuple[str, ...]:
    """Return the texts of a JSON list; one that a hand spoilt is empty."""
    try:
        found = json.loads(str(text))
    except ValueError:
        return ()
    return tuple(map(str, found)) if isinstance(found, list) else ()
