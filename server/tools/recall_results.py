"""The shape of a memory view. Keys are never renamed; each shape may gain some."""

from __future__ import annotations

from historian.memory_view import SECTIONS, Conflict, MemoryView, Proof, Section
from server.answers import Answer


class PointItem(Answer):
    """One proven statement and the ids of the messages that prove it."""

    text: str
    evidence: list[str]


class SectionsItem(Answer):
    """The proven points."""

    preferences: list[PointItem]
    profile: list[PointItem]
    constraints: list[PointItem]
    other: list[PointItem]


class ProofItem(Answer):
    """A message of the record; `content` is cut where it ends in `…`."""

    message_id: str
    ts: str
    role: str
    content: str
    sender_id: str | None
    sender_name: str | None
    conversation_id: str


class RangeItem(Answer):
    """Bounds that were searched within; empty is unbounded."""

    since: str
    until: str


class LimitsItem(Answer):
    """Within which bounds was looked, and at how many different messages."""

    time_range: RangeItem
    role: str
    messages_considered: int


class DoubtItem(Answer):
    """A statement that is not proven, and why."""

    text: str
    reason: str
    evidence: list[str]


class ConflictItem(Answer):
    """Messages that say opposite things, earliest first. `resolution`: changed (the later stands), context, open."""

    about: str
    resolution: str
    sides: list[ProofItem]


class RemovedItem(Answer):
    """Evidence that the record does not bear out."""

    message_id: str
    reason: str


class ViewAnswer(Answer):
    """A memory view whose points are proven. `stopped` says which budget ended the search early."""

    memory_view: SectionsItem
    evidence: list[ProofItem]
    limits: LimitsItem
    uncertain: list[DoubtItem]
    conflicts: list[ConflictItem]
    removed: list[RemovedItem]
    steps: list[str]
    stopped: str
    notes: list[str]
    degraded: list[str]


def view_answer(view: MemoryView) -> ViewAnswer:
    """Return the published view."""
    limits = view.limits
    return ViewAnswer(
        memory_view=SectionsItem(**{section: _points(view, section) for section in SECTIONS}),
        evidence=[_proof(one) for one in view.evidence],
        limits=LimitsItem(
            time_range=RangeItem(since=limits.since or "", until=limits.until or ""),
            role=limits.role or "",
            messages_considered=limits.messages_considered,
        ),
        uncertain=[DoubtItem(text=one.text, reason=one.reason, evidence=[*one.evidence]) for one in view.uncertain],
        conflicts=[_conflict(one) for one in view.conflicts],
        removed=[RemovedItem(message_id=one.message_id, reason=one.reason) for one in view.removed],
        steps=[*view.steps],
        stopped=view.stopped,
        notes=[*view.notes],
        degraded=[*view.degraded],
    )


def _points(view: MemoryView, section: Section) -> list[PointItem]:
    return [PointItem(text=one.text, evidence=[*one.evidence]) for one in view.section(section)]


def _proof(proof: Proof) -> ProofItem:
    return ProofItem(
        message_id=proof.message_id,
        ts=proof.ts.isoformat(),
        role=proof.role,
        content=proof.content,
        sender_id=proof.sender_id,
        sender_name=proof.sender_name,
        conversation_id=proof.conversation_id,
    )


def _conflict(conflict: Conflict) -> ConflictItem:
    sides = [_proof(one) for one in conflict.sides]
    return ConflictItem(about=conflict.about, resolution=conflict.resolution, sides=sides)
