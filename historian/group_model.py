"""What is remembered of a group as statements that evolve: plain frozen values, as callers see them.

A *memory* is one statement with a stable id; its *versions* form one chain, of which the newest is the head. A memory
is `active` or, once it was deleted, `deprecated`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Status = Literal["active", "deprecated"]
StatusFilter = Literal["active", "deprecated", "all"]
STATUS_FILTERS: tuple[StatusFilter, ...] = ("active", "deprecated", "all")

Action = Literal["keep", "update", "create", "delete", "restore", "strength", "forget"]
"""What became of a memory. `keep` in the log of changes means that new messages confirmed it."""


@dataclass(frozen=True, slots=True)
class GroupMemory:
    """One version of a statement. `strength` is 0..1 as it is now, faded since it was last confirmed.

    `message_ids` are the messages that it rests on, those of earlier versions too. `created_at` is when the memory was
    created, `updated_at` when this version was written or last changed. Older versions of a chain are `deprecated`.
    `flags` says what to know about it, for example that some of its evidence was forgotten.
    """

    memory_id: str
    version: int
    group_id: str
    statement: str
    status: Status
    tags: tuple[str, ...]
    strength: float
    created_at: datetime
    updated_at: datetime
    last_confirmed_at: datetime
    parent_version: int | None
    change_reason: str
    message_ids: tuple[str, ...]
    run_id: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One change of one memory. `message_ids` are the messages behind this change; `run_id` is None where a person
    made it.
    """

    action: Action
    memory_id: str
    group_id: str
    version: int
    old_statement: str | None
    new_statement: str | None
    change_reason: str
    message_ids: tuple[str, ...]
    at: datetime
    strength: float
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class EvolutionStats:
    """What became of the statements that were active before a run, and how many are new.

    `kept` + `updated` + `deleted` are all that were active before. `confirmed` are those kept that new messages bear
    out.
    """

    kept: int = 0
    updated: int = 0
    created: int = 0
    deleted: int = 0
    confirmed: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """An action of the model that was not carried out, alone, and why."""

    action: str
    memory_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Evolution:
    """What one run did. `messages` were read, from `since` (exclusive) to `until`; `active` statements there are now.

    `unanswered` memories got no action and were kept. `by` says who decided: the chat model, rules where there is
    none, or nobody where there was nothing to do. `notes` are sentences.
    """

    group_id: str
    run_id: str | None
    by: Literal["model", "rules", "nobody"]
    stats: EvolutionStats
    changes: tuple[MemoryChange, ...]
    active: int
    messages: int = 0
    since: datetime | None = None
    until: datetime | None = None
    refused: tuple[Refusal, ...] = ()
    unanswered: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Some memories of a group, last changed first; `cursor` is empty after the last page."""

    group_id: str
    memories: tuple[GroupMemory, ...]
    cursor: str
    total: int
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory that answers a query, and its calibrated score 0..1."""

    memory: GroupMemory
    score: float


@dataclass(frozen=True, slots=True)
class FoundMemories:
    """Memories best first. `best_below` is the score of the best one under the threshold where none reached it."""

    group_id: str
    memories: tuple[FoundMemory, ...]
    degraded: tuple[str, ...] = ()
    best_below: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """All versions of one memory and all changes of it, oldest first."""

    memory_id: str
    group_id: str
    versions: tuple[GroupMemory, ...]
    changes: tuple[MemoryChange, ...]


@dataclass(frozen=True, slots=True)
class MemoryChanges:
    """The changes of a group since an instant, newest first; confirmations are left out and counted."""

    group_id: str
    since: datetime
    changes: tuple[MemoryChange, ...]
    confirmed: int
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """How many statements of one group there are, and when they last evolved."""

    group_id: str
    active: int
    deprecated: int
    last_run_at: datetime | None = None
    details: Mapping[str, str] = field(default_factory=dict[str, str])
