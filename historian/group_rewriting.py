"""Changing what is stored of a group against its own rules: for forgetting and for taking in, never for evolving."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from historian.group_rows import change, delist, enlist, head_of, list_of, log
from historian.group_versions import Step, Version
from historian.model import Owner


@dataclass(frozen=True, slots=True)
class Rewriting:
    """How the texts of one memory read from now on.

    `versions` are its versions by number, `change` gives a version of the log, `reason` a reason, `ids` are the
    messages that are named no more.
    """

    versions: Mapping[int, Version]
    change: Callable[[Version], Version]
    reason: Callable[[str], str]
    ids: frozenset[str]


def remove_memory(connection: sqlite3.Connection, group: Owner, memory_id: str) -> list[int]:
    """Remove a memory with its log; return its rows. Needs a write transaction."""
    rows = [row for row, _ in _rows(connection, group, memory_id)]
    for row in rows:
        delist(connection, row)
    for table in ("group_memories", "group_changes"):
        connection.execute(f"DELETE FROM {table} WHERE owner_key = ? AND memory_id = ?", (group.key, memory_id))
    return rows


def rewrite_memory(
    connection: sqlite3.Connection, group: Owner, memory_id: str, rewriting: Rewriting, note: str, now_ms: int
) -> list[int]:
    """Rewrite versions and log of a memory, and log that; return the rows whose vectors are out of date.

    Needs a write transaction.
    """
    rows = _rows(connection, group, memory_id)
    for row, number in rows:
        version = rewriting.versions[number]
        change(connection, group, row, version, version)
        connection.execute("UPDATE group_memories SET embedded_by = NULL WHERE row = ?", (row,))
        if version.status == "active":
            enlist(connection, group, row)
    _rewrite_log(connection, group, memory_id, rewriting)
    _, head = head_of(connection, group, memory_id)
    if head is not None:
        log(connection, group, Step("forget", head, head, note, (), now_ms))
    return [row for row, _ in rows]


def _rewrite_log(connection: sqlite3.Connection, group: Owner, memory_id: str, rewriting: Rewriting) -> None:
    entries = connection.execute(
        "SELECT row, version, action, old_statement, change_reason, message_ids, after FROM group_changes"
        " WHERE owner_key = ? AND memory_id = ? ORDER BY row",
        (group.key, memory_id),
    ).fetchall()
    last = 0
    for row, number, _, old_statement, reason, message_ids, after in entries:
        before = rewriting.versions.get(last)
        connection.execute(
            "UPDATE group_changes SET old_statement = ?, change_reason = ?, message_ids = ?, after = ? WHERE row = ?",
            (
                None if old_statement is None or before is None else before.statement,
                rewriting.reason(reason),
                json.dumps([one for one in list_of(message_ids) if one not in rewriting.ids], ensure_ascii=False),
                rewriting.change(Version.decode(after)).encode(),
                row,
            ),
        )
        last = number


def _rows(connection: sqlite3.Connection, group: Owner, memory_id: str) -> list[tuple[int, int]]:
    return connection.execute(
        "SELECT row, version FROM group_memories WHERE owner_key = ? AND memory_id = ? ORDER BY version",
        (group.key, memory_id),
    ).fetchall()
