"""What the tools of group memory answer."""

from __future__ import annotations

from typing import Any

from historian.group_model import Evolution, FoundMemories, GroupMemory, MemoryChange, MemoryChanges, MemoryHistory
from historian.group_model import MemoryPage as Page
from server.answers import Answer


class MemoryItem(Answer):
    """One version of a statement; `strength` is 0..1 now, `message_ids` are the messages that it rests on."""

    memory_id: str
    version: int
    group_id: str
    statement: str
    status: str
    tags: list[str]
    strength: float
    created_at: str
    updated_at: str
    last_confirmed_at: str
    parent_version: int | None
    change_reason: str
    message_ids: list[str]
    flags: list[str]


class ScoredItem(MemoryItem):
    """A statement that answers a query, with its calibrated score 0..1."""

    score: float


class ChangeItem(Answer):
    """One change; old_statement is null for a new memory, new_statement for a deleted one."""

    action: str
    memory_id: str
    version: int
    old_statement: str | None
    new_statement: str | None
    change_reason: str
    message_ids: list[str]
    at: str
    strength: float


class StatsItem(Answer):
    """What became of the statements. kept + updated + deleted are those that there were; confirmed are some kept."""

    kept: int
    updated: int
    created: int
    deleted: int
    confirmed: int


class RefusedItem(Answer):
    """An action of the model that was not carried out."""

    action: str
    memory_id: str | None
    reason: str


class EvolveAnswer(Answer):
    """What one run did. `active` is how many statements there are now, `messages` how many were read."""

    group_id: str
    by: str
    stats: StatsItem
    changes: list[ChangeItem]
    active: int
    messages: int
    since: str | None
    until: str | None
    refused: list[RefusedItem]
    unanswered: list[str]
    notes: list[str]


class MemoriesAnswer(Answer):
    """Statements of a group, last changed first; `next_cursor` is empty after the last page."""

    group_id: str
    memories: list[MemoryItem]
    next_cursor: str
    total: int
    degraded: list[str]


class FoundMemoriesAnswer(Answer):
    """Statements that answer a query, best first; best_below is the best score where none reached the threshold."""

    group_id: str
    memories: list[ScoredItem]
    degraded: list[str]
    best_below: float | None


class MemoryHistoryAnswer(Answer):
    """All versions and changes of one memory, oldest first."""

    memory_id: str
    group_id: str
    history: list[MemoryItem]
    changes: list[ChangeItem]


class MemoryChangesAnswer(Answer):
    """What changed in a group, newest first; confirmations are only counted."""

    group_id: str
    since: str
    changes: list[ChangeItem]
    confirmed: int
    truncated: bool


class MemoryChangeAnswer(Answer):
    """What one change by hand did."""

    group_id: str
    changes: list[ChangeItem]


def evolve_answer(done: Evolution) -> EvolveAnswer:
    """Return the answer of a run."""
    stats = done.stats
    return EvolveAnswer(
        group_id=done.group_id,
        by=done.by,
        stats=StatsItem(
            kept=stats.kept,
            updated=stats.updated,
            created=stats.created,
            deleted=stats.deleted,
            confirmed=stats.confirmed,
        ),
        changes=[change_item(one) for one in done.changes],
        active=done.active,
        messages=done.messages,
        since=None if done.since is None else done.since.isoformat(timespec="seconds"),
        until=None if done.until is None else done.until.isoformat(timespec="seconds"),
        refused=[RefusedItem(action=one.action, memory_id=one.memory_id, reason=one.reason) for one in done.refused],
        unanswered=[*done.unanswered],
        notes=[*done.notes],
    )


def memories_answer(page: Page) -> MemoriesAnswer:
    """Return the answer of a page."""
    items = [MemoryItem(**_fields(one)) for one in page.memories]
    return MemoriesAnswer(
        group_id=page.group_id,
        memories=items,
        next_cursor=page.cursor,
        total=page.total,
        degraded=[*page.degraded],
    )


def found_answer(found: FoundMemories) -> FoundMemoriesAnswer:
    """Return the answer of a search."""
    return FoundMemoriesAnswer(
        group_id=found.group_id,
        memories=[ScoredItem(**_fields(one.memory), score=round(one.score, 4)) for one in found.memories],
        degraded=[*found.degraded],
        best_below=None if found.best_below is None else round(found.best_below, 4),
    )


def history_answer(found: MemoryHistory) -> MemoryHistoryAnswer:
    """Return the answer of a history."""
    return MemoryHistoryAnswer(
        memory_id=found.memory_id,
        group_id=found.group_id,
        history=[MemoryItem(**_fields(one)) for one in found.versions],
        changes=[change_item(one) for one in found.changes],
    )


def changes_answer(found: MemoryChanges) -> MemoryChangesAnswer:
    """Return the answer of a list of changes."""
    return MemoryChangesAnswer(
        group_id=found.group_id,
        since=found.since.isoformat(timespec="seconds"),
        changes=[change_item(one) for one in found.changes],
        confirmed=found.confirmed,
        truncated=found.truncated,
    )


def change_answer(change: MemoryChange) -> MemoryChangeAnswer:
    """Return the answer of one change by hand."""
    return MemoryChangeAnswer(group_id=change.group_id, changes=[change_item(change)])


def change_item(change: MemoryChange) -> ChangeItem:
    """Return one change as an item."""
    return ChangeItem(
        action=change.action,
        memory_id=change.memory_id,
        version=change.version,
        old_statement=change.old_statement,
        new_statement=change.new_statement,
        change_reason=change.change_reason,
        message_ids=[*change.message_ids],
        at=change.at.isoformat(timespec="seconds"),
        strength=round(change.strength, 4),
    )


def _fields(memory: GroupMemory) -> dict[str, Any]:
    return {
        "memory_id": memory.memory_id,
        "version": memory.version,
        "group_id": memory.group_id,
        "statement": memory.statement,
        "status": memory.status,
        "tags": [*memory.tags],
        "strength": round(memory.strength, 4),
        "created_at": memory.created_at.isoformat(timespec="seconds"),
        "updated_at": memory.updated_at.isoformat(timespec="seconds"),
        "last_confirmed_at": memory.last_confirmed_at.isoformat(timespec="seconds"),
        "parent_version": memory.parent_version,
        "change_reason": memory.change_reason,
        "message_ids": [*memory.message_ids],
        "flags": [*memory.flags],
    }
