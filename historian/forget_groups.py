"""What forgetting messages does to the statements about groups: those that rest on nothing else go, others are cut."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from historian.forget_texts import only_there, told, without
from historian.group_rewriting import Rewriting, remove_memory, rewrite_memory
from historian.group_rows import versions_of
from historian.group_versions import Version
from historian.model import Owner
from historian.tombstones import Tombstones

FORGOTTEN_EVIDENCE = "evidence_forgotten"
"""Flag of an event or a statement that rested on a forgotten message too."""
FORGOTTEN = "（…）"
"""Stands for an earlier version of which nothing is left, so that the chain stays whole."""
NOTE = "Some of its evidence was forgotten."
MemoryKey = tuple[str, str]
"""Owner key and memory id."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One memory without what was forgotten: its versions as they read then, and how its other texts are changed."""

    versions: tuple[Version, ...]
    foreign: frozenset[str]
    ids: frozenset[str]

    def rewriting(self) -> Rewriting:
        """Return how the texts of the memory are changed."""
        known = {version.version: version for version in self.versions}
        return Rewriting(known, partial(self._logged, known), self._reason, self.ids)

    def _reason(self, text: str) -> str:
        return "" if self.foreign & told(text) else text

    def _logged(self, known: Mapping[int, Version], after: Version) -> Version:
        now = known.get(after.version)
        if now is None:
            return after
        return replace(
            after,
            statement=now.statement,
            flags=now.flags,
            tags=now.tags,
            change_reason=self._reason(after.change_reason),
            message_ids=tuple(one for one in after.message_ids if one not in self.ids),
        )


@dataclass(slots=True)
class GroupFates:
    """The memories that go altogether, and those that are cut."""

    gone: set[MemoryKey] = field(default_factory=set[MemoryKey])
    cut: dict[MemoryKey, Cut] = field(default_factory=dict[MemoryKey, Cut])

    def carry_out(self, connection: sqlite3.Connection, now_ms: int) -> list[int]:
        """Remove and rewrite; return the rows whose vectors are out of date. Needs a write transaction."""
        rows: list[int] = []
        for owner_key, memory_id in sorted(self.gone):
            rows += remove_memory(connection, Owner.of_key(owner_key), memory_id)
            Tombstones(connection, owner_key).add("group_memory", [memory_id])
        for owner_key, memory_id in sorted(self.cut):
            rewriting = self.cut[owner_key, memory_id].rewriting()
            rows += rewrite_memory(connection, Owner.of_key(owner_key), memory_id, rewriting, NOTE, now_ms)
        return rows


def group_fates(
    connection: sqlite3.Connection, messages: Iterable[int], ids: Mapping[str, set[str]], everything_of: str | None
) -> GroupFates:
    """Return what becomes of the statements that rest on the rows `messages`; `ids` are those of the messages by owner.

    With `everything_of`, all statements of that owner go.
    """
    doomed = set(messages)
    fates = GroupFates()
    if everything_of is not None:
        rows = connection.execute(
            "SELECT owner_key, memory_id FROM group_memories WHERE owner_key = ?1"
            " UNION SELECT owner_key, memory_id FROM group_changes WHERE owner_key = ?1",
            (everything_of,),
        )
        fates.gone.update((owner_key, memory_id) for owner_key, memory_id in rows)
    for key in sorted(_touched(connection, doomed, ids) - fates.gone):
        cut = _cut(connection, key, doomed, frozenset(ids.get(key[0], ())))
        if cut is None:
            fates.gone.add(key)
        else:
            fates.cut[key] = cut
    return fates


def _touched(connection: sqlite3.Connection, doomed: set[int], ids: Mapping[str, set[str]]) -> set[MemoryKey]:
    """Return the memories that rest on a forgotten message, and those of which a change does."""
    linked = connection.execute(
        "SELECT DISTINCT g.owner_key, g.memory_id FROM json_each(?) AS j"
        " CROSS JOIN group_memory_messages AS k ON k.message_row = j.value"
        " CROSS JOIN group_memories AS g ON g.row = k.memory_row",
        (json.dumps(sorted(doomed)),),
    ).fetchall()
    found = {(owner_key, memory_id) for owner_key, memory_id in linked}
    for owner_key, known in ids.items():
        named = connection.execute(
            "SELECT DISTINCT c.memory_id FROM group_changes AS c WHERE c.owner_key = ? AND EXISTS"
            " (SELECT 1 FROM json_each(c.message_ids) AS j WHERE j.value IN (SELECT value FROM json_each(?)))",
            (owner_key, json.dumps(sorted(known))),
        )
        found.update((owner_key, memory_id) for (memory_id,) in named)
    return found


def _cut(connection: sqlite3.Connection, key: MemoryKey, doomed: set[int], ids: frozenset[str]) -> Cut | None:
    """Return a memory as it reads without the forgotten messages; None where nothing of its head is left."""
    links = _links(connection, key)
    every = set[int]().union(*links.values())
    said = dict(
        connection.execute(
            "SELECT row, content FROM messages WHERE row IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(every)),),
        ).fetchall()
    )
    everywhere = only_there([said[row] for row in every & doomed], [said[row] for row in every - doomed])
    versions: list[Version] = []
    for version in versions_of(connection, Owner.of_key(key[0]), key[1]):
        linked = links.get(version.version, set())
        gone, kept = linked & doomed, linked - doomed
        foreign = only_there([said[row] for row in gone], [said[row] for row in kept])
        text = version.statement if not gone else without(version.statement, foreign) if kept else ""
        flags = tuple(dict.fromkeys([*version.flags, FORGOTTEN_EVIDENCE])) if gone else version.flags
        versions.append(
            replace(
                version,
                statement=text or FORGOTTEN,
                flags=flags,
                tags=tuple(tag for tag in version.tags if not everywhere & told(tag)),
                change_reason="" if everywhere & told(version.change_reason) else version.change_reason,
                message_ids=tuple(one for one in version.message_ids if one not in ids),
            )
        )
    if not versions or versions[-1].statement == FORGOTTEN:
        return None
    return Cut(tuple(versions), everywhere, ids)


def _links(connection: sqlite3.Connection, key: MemoryKey) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    rows = connection.execute(
        "SELECT g.version, k.message_row FROM group_memories AS g"
        " JOIN group_memory_messages AS k ON k.memory_row = g.row WHERE g.owner_key = ? AND g.memory_id = ?",
        key,
    )
    for version, row in rows:
        found[version].add(row)
    return found
