"""A memory of a group as a line of an export, and back: its log, from which every version follows."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from historian.database import Database
from historian.errors import InvalidInputError
from historian.group_model import Action
from historian.group_rows import head_of, insert, log, promote
from historian.group_store import GroupStore, LoggedChange
from historian.group_versions import Step, Version, replayed
from historian.ids import normalise_id
from historian.model import Owner
from historian.text import unusable_character

KIND = "group_memory"
MOST_CHANGES = 10_000
_WRONG = "It is no memory of a group as an export holds it, or a field of it is missing or wrong."
_LATEST_MS = 1 << 43
"""Times lie before the year 2248, as those of messages do."""


@dataclass(frozen=True, slots=True)
class KeptGroupMemory:
    """One memory with whose it is and its whole log, oldest first."""

    owner: Owner
    memory_id: str
    steps: tuple[Step, ...]


def group_memory_line(owner: Owner, memory_id: str, changes: Sequence[LoggedChange]) -> dict[str, Any]:
    """Return a memory as a line."""
    entries = [
        {
            "action": one.action,
            "at_ms": one.at_ms,
            "change_reason": one.reason,
            "message_ids": [*one.message_ids],
            "run_id": one.run_id,
            "after": json.loads(one.after.encode()),
        }
        for one in changes
    ]
    return {"kind": KIND, "owner": owner.key, "memory_id": memory_id, "changes": entries}


def kept_group_memory(owner: Owner, line: Mapping[str, Any]) -> KeptGroupMemory:
    """Return what a line holds.

    Raises:
        InvalidInputError: it is no such line, or its log makes no chain.
        KeyError, TypeError, ValueError, AttributeError: a field is missing or of another type.
    """
    memory_id = normalise_id(_text(line["memory_id"]), "memory_id")
    entries = line["changes"]
    if owner.kind != "group" or not isinstance(entries, list) or not 0 < len(entries) <= MOST_CHANGES:
        raise InvalidInputError(_WRONG)
    steps: list[Step] = []
    versions: dict[int, Version] = {}
    for entry in entries:
        after = _version(memory_id, entry["after"])
        before = versions.get(after.version) or versions.get(after.version - 1)
        if after.version != max(versions, default=1) and after.version != len(versions) + 1:
            raise InvalidInputError(_WRONG)
        if (entry["action"] == "create") != (not steps):
            raise InvalidInputError(_WRONG)
        steps.append(_step(entry, before, after))
        versions[after.version] = after
    return KeptGroupMemory(owner, memory_id, tuple(steps))


class GroupTakeout:
    """Reads memories for an export, and writes those of one."""

    def __init__(self, database: Database) -> None:
        self._store = GroupStore(database)
        self._database = database

    def lines(self, group: Owner, after: int, limit: int) -> tuple[list[dict[str, Any]], int | None]:
        """Return the next memories of a group, in the order of their rows, and the last row where there may be more."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT row, memory_id FROM group_memories WHERE owner_key = ? AND is_head = 1 AND row > ?"
                " ORDER BY row LIMIT ?",
                (group.key, after, limit),
            ).fetchall()
        found = [
            group_memory_line(group, memory_id, self._store.changes(group, memory_id=memory_id))
            for _, memory_id in rows
        ]
        return found, rows[-1][0] if len(rows) == limit else None

    def put(self, connection: sqlite3.Connection, kept: KeptGroupMemory) -> bool:
        """Write a memory with its log; False where this group has one with its id. Needs a write transaction."""
        if head_of(connection, kept.owner, kept.memory_id)[1] is not None:
            return False
        chain = sorted(replayed((step.action, step.after) for step in kept.steps).values(), key=lambda one: one.version)
        row = 0
        for version in chain:
            row = insert(connection, kept.owner, version)
        promote(connection, kept.owner, row, chain[-1])
        for step in kept.steps:
            log(connection, kept.owner, step)
        return True


def _step(entry: Mapping[str, Any], before: Version | None, after: Version) -> Step:
    action = entry["action"]
    if action not in get_args(Action):
        raise InvalidInputError(_WRONG)
    run_id = entry.get("run_id")
    return Step(
        action=cast("Action", action),
        before=before,
        after=after,
        reason=_text(entry["change_reason"]),
        message_ids=tuple(map(_text, entry["message_ids"])),
        at_ms=_ms(entry["at_ms"]),
        run_id=None if run_id is None else _text(run_id),
    )


def _version(memory_id: str, given: Mapping[str, Any]) -> Version:
    found = Version.decode(json.dumps(dict(given)))
    for text in (found.statement, found.change_reason, *found.tags, *found.message_ids, *found.flags):
        _text(text)
    numbers = (found.strength_ms, found.created_ms, found.updated_ms, found.confirmed_ms)
    strength = float(found.strength)
    is_right = (
        found.memory_id == memory_id
        and 1 <= _ms(found.version) <= MOST_CHANGES
        and found.status in ("active", "deprecated")
        and math.isfinite(strength)
        and 0 <= strength <= 1
    )
    if not is_right:
        raise InvalidInputError(_WRONG)
    if found.run_id is not None:
        _text(found.run_id)
    for number in numbers:
        _ms(number)
    return replace(found, strength=strength)


def _ms(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -_LATEST_MS < value < _LATEST_MS:
        raise InvalidInputError(_WRONG)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or unusable_character(value) is not None:
        raise InvalidInputError(_WRONG)
    return value
