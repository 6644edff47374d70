"""What reading the memory gives back, as plain frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from historian.model import EntityType, Event
from historian.troubles import Trouble

JobState = Literal["pending", "processing", "done", "failed"]


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """An event that answers a query; `score` is its composed relevance, `how` the signals that found it."""

    event: Event
    score: float
    how: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundEvents:
    """Events, best first. `degraded` names what did not work; `warnings` what was understood differently."""

    events: tuple[FoundEvent, ...]
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VisibleLine:
    """One line of a profile and what it rests on."""

    text: str
    event_ids: tuple[str, ...]
    shown_in: str
    confirmed: int


@dataclass(frozen=True, slots=True)
class ProfileView:
    """A profile as one request may see it; `text` is Markdown."""

    entity_type: EntityType
    entity_id: str
    name: str | None
    tags: tuple[str, ...]
    updated_at: datetime | None
    text: str
    lines: tuple[VisibleLine, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundProfile:
    """A profile that answers a query, with the line that does."""

    entity_type: EntityType
    entity_id: str
    name: str | None
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class FoundProfiles:
    """Profiles, best first."""

    profiles: tuple[FoundProfile, ...]
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memo:
    """What an agent did in one turn, short."""

    text: str
    job_id: str
    at: datetime
    timezone: str


@dataclass(frozen=True, slots=True)
class CaptureDecision:
    """What was decided about an exchange: whether it is worth remembering, why, `by` model or rules, and its events."""

    should_remember: bool
    reason: str
    by: str
    event_ids: tuple[str, ...] = ()

    @classmethod
    def known(cls, events: Sequence[Event]) -> CaptureDecision:
        """Return the decision on an exchange of which these events are remembered already."""
        ids = tuple(event.event_id for event in events)
        return cls(should_remember=True, reason="It was considered already.", by="rules", event_ids=ids)


@dataclass(frozen=True, slots=True)
class JobStatus:
    """Where one job stands. `age_seconds` counts from the moment it was acknowledged, `next_retry` is aware."""

    job_id: str
    state: JobState
    step: str | None
    attempts: int
    error: str | None
    age_seconds: float
    next_retry: datetime | None = None
    decision: CaptureDecision | None = None


@dataclass(frozen=True, slots=True)
class HeldMerge:
    """A merge of a profile that a person has to look at. `since` is aware; `reasons` are clauses."""

    review_id: int
    entity_type: EntityType
    entity_id: str
    since: datetime
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the memory, as far as it concerns one scope.

    `settings` says what of the settings file has no effect. Nothing here counts what is not of this scope.
    """

    pending: int
    processing: int
    failed: int
    oldest_age_seconds: float | None
    unembedded: int
    degraded: tuple[str, ...]
    offline: tuple[str, ...]
    troubles: tuple[Trouble, ...]
    settings: tuple[str, ...]
    timezone: str
    job: JobStatus | None
    failures: tuple[JobStatus, ...]
    memos: tuple[Memo, ...]
    hint: str
    held: tuple[HeldMerge, ...] = ()


@dataclass(frozen=True, slots=True)
class AppendResult:
    """What became of the messages of one append: counts, and each bad one with its reason.

    `job_ids` are the jobs in which the messages are considered, where that was asked for.
    """

    inserted: int
    ignored: int
    failed: tuple[tuple[int, str], ...]
    warnings: tuple[str, ...] = ()
    job_ids: tuple[str, ...] = ()
    forgotten: int = 0
