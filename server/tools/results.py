"""The shapes of what the core and host tools answer. Keys are never renamed; each shape may gain some."""

from __future__ import annotations

from typing import Literal

from server.answers import Answer


class GateAdvice(Answer):
    """What stands in one observation that will not be true without context."""

    index: int
    kind: str
    found: str
    hint: str


class EndAnswer(Answer):
    """The receipt of `end`."""

    job_id: str | None
    queued: bool
    duplicate: bool
    gate: list[GateAdvice]
    note: str = ""


class EventItem(Answer):
    """One remembered statement and what it rests on."""

    event_id: str
    text: str
    timestamp_local: str
    timezone: str
    user_id: str
    group_id: str | None
    sender_id: str | None
    sender_name: str | None
    message_ids: list[str]
    is_absolute: bool
    has_new_info: bool
    flags: list[str]
    origin: str
    score: float
    found_by: list[str]


class EventsAnswer(Answer):
    """Events, best first. `degraded` names what did not work; `note` says why there is nothing."""

    events: list[EventItem]
    degraded: list[str]
    warnings: list[str]
    note: str


class ProvenanceItem(Answer):
    """What one line of a profile rests on."""

    line: str
    event_ids: list[str]
    shown_in: str
    confirmed: int


class ProfileAnswer(Answer):
    """A profile as this request may see it."""

    entity_type: Literal["user", "group"]
    entity_id: str
    name: str | None
    tags: list[str]
    updated_at: str | None
    text: str
    provenance: list[ProvenanceItem]
    warnings: list[str]


class ProfileHit(Answer):
    """One profile that answers a query, with the line that does."""

    entity_type: Literal["user", "group"]
    entity_id: str
    name: str | None
    snippet: str
    score: float


class ProfilesAnswer(Answer):
    """Profiles, best first."""

    profiles: list[ProfileHit]
    degraded: list[str]
    note: str


class DecisionItem(Answer):
    """What was decided about an exchange that was considered."""

    should_remember: bool
    reason: str
    by: Literal["model", "rules"]
    event_ids: list[str]


class JobItem(Answer):
    """Where one job stands."""

    job_id: str
    state: Literal["pending", "processing", "done", "failed"]
    step: str | None
    attempts: int
    error: str | None
    age_seconds: float
    next_retry: str | None
    decision: DecisionItem | None


class FailureItem(Answer):
    """A job that failed, and why."""

    job_id: str
    reason: str
    attempts: int
    age_seconds: float


class MemoItem(Answer):
    """A short-term memo."""

    text: str
    timestamp_local: str
    job_id: str


class TroubleItem(Answer):
    """What runs degraded, or by rules, and since when it is known."""

    what: str
    since: str


class HeldItem(Answer):
    """A merge of a profile that a person has to look at before it is carried out."""

    review_id: int
    entity_type: str
    entity_id: str
    since: str
    reasons: list[str]


class StatusAnswer(Answer):
    """The state of the memory, as far as it concerns the asker. `settings` says what of the file has no effect."""

    pending: int
    processing: int
    failed: int
    oldest_age_seconds: float | None
    unembedded: int
    degraded: list[str]
    offline: list[str]
    troubles: list[TroubleItem]
    settings: list[str]
    job: JobItem | None
    failures: list[FailureItem]
    memos: list[MemoItem]
    hint: str
    held: list[HeldItem]


class AppendFailure(Answer):
    """A message that was not recorded, and why."""

    index: int
    reason: str


class AppendAnswer(Answer):
    """What became of the messages of one `messages_append`."""

    inserted: int
    ignored: int
    failed: list[AppendFailure]
    warnings: list[str]
    job_ids: list[str]
