"""Group memory in SQLite: every version of every statement, the log of changes, all changes of one run at once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from historian.database import Database
from historian.group_model import Action, StatusFilter
from historian.group_rows import FIELDS, change, head_of, insert, list_of, log, promote, retire, version_of, versions_of
from historian.group_versions import Step, Version, replayed
from historian.model import Owner


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
        with self._database.read() as connection:
            return versions_of(connection, group, memory_id)

    def active_rows(self, group: Owner, rows: Iterable[int]) -> dict[int, Version]:
        """Return those of `rows` that are active statements of a group."""
        wanted = json.dumps(sorted(set(rows)))
        return dict(self._select(group, "status = 'active' AND row IN (SELECT value FROM json_each(?))", wanted))

    def active_ids(self, group: Owner) -> list[str]:
        """Return the rows of all active statements of a group as their vectors are named."""
        return [str(row) for row, _ in self._select(group, "status = 'active'")]

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
        row, head = head_of(connection, group, step.after.memory_id)
        if head != step.before:
            raise StaleStepError
        if step.is_new_version:
            new = insert(connection, group, step.after)
            if row is not None and head is not None:
                gone += retire(connection, row)
            promote(connection, group, new, step.after)
        else:
            assert row is not None
            gone += change(connection, group, row, head, step.after)
        log(connection, group, step)
        return gone

    def _select(self, group: Owner, condition: str, *values: object, tail: str = "") -> list[tuple[int, Version]]:
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT row, {FIELDS} FROM group_memories WHERE owner_key = ? AND {condition}"
                f" ORDER BY updated_ms DESC, row DESC{tail}",
                (group.key, *values),
            ).fetchall()
        return [(row[0], version_of(row[1:])) for row in rows]


def _of_status(status: StatusFilter) -> str:
    return "TRUE" if status == "all" else f"status = '{status}'"


def _logged(row: Sequence[Any]) -> LoggedChange | None:
    """Return an entry of the log; None for one that a hand spoilt, which `shiguan doctor` names."""
    number, action, after, old_statement, reason, message_ids, at_ms, run_id = row
    try:
        version = Version.decode(after)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return LoggedChange(number, action, version, old_statement, reason, list_of(message_ids), at_ms, run_id)
