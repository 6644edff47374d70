"""From the memory's values to the published shapes."""

from __future__ import annotations

from historian.turn import Receipt
from historian.views import (
    AppendResult,
    CaptureDecision,
    FoundEvent,
    FoundEvents,
    FoundProfiles,
    JobStatus,
    ProfileView,
    Status,
)
from server.answers import NOTHING_FOUND, local
from server.tools.results import (
    AppendAnswer,
    AppendFailure,
    DecisionItem,
    EndAnswer,
    EventItem,
    EventsAnswer,
    FailureItem,
    GateAdvice,
    HeldItem,
    JobItem,
    MemoItem,
    ProfileAnswer,
    ProfileHit,
    ProfilesAnswer,
    ProvenanceItem,
    StatusAnswer,
    TroubleItem,
)


def end_answer(receipt: Receipt) -> EndAnswer:
    """Return the published receipt."""
    gate = [GateAdvice(index=a.index, kind=a.kind, found=a.found, hint=a.hint) for a in receipt.gate]
    return EndAnswer(
        job_id=receipt.job_id, queued=receipt.queued, duplicate=receipt.duplicate, gate=gate, note=receipt.note
    )


def events_answer(found: FoundEvents) -> EventsAnswer:
    """Return the published list of events."""
    return EventsAnswer(
        events=[event_item(item) for item in found.events],
        degraded=[*found.degraded],
        warnings=[*found.warnings],
        note="" if found.events else NOTHING_FOUND,
    )


def event_item(found: FoundEvent) -> EventItem:
    """Return one published event."""
    event = found.event
    return EventItem(
        event_id=event.event_id,
        text=event.text,
        timestamp_local=local(event.timestamp, event.timezone),
        timezone=event.timezone,
        user_id=event.user_id,
        group_id=event.group_id,
        sender_id=event.sender_id,
        sender_name=event.sender_name,
        message_ids=[*event.message_ids],
        is_absolute=event.is_absolute,
        has_new_info=event.has_new_info,
        flags=[*event.flags],
        origin=str(event.origin),
        score=round(found.score, 4),
        found_by=[*found.how],
    )


def profile_answer(view: ProfileView) -> ProfileAnswer:
    """Return the published profile."""
    return ProfileAnswer(
        entity_type=view.entity_type,
        entity_id=view.entity_id,
        name=view.name,
        tags=[*view.tags],
        updated_at=view.updated_at.isoformat(timespec="seconds") if view.updated_at else None,
        text=view.text,
        provenance=[
            ProvenanceItem(
                line=line.text, event_ids=[*line.event_ids], shown_in=line.shown_in, confirmed=line.confirmed
            )
            for line in view.lines
        ],
        warnings=[*view.warnings],
    )


def profiles_answer(found: FoundProfiles) -> ProfilesAnswer:
    """Return the published list of profiles."""
    hits = [
        ProfileHit(
            entity_type=hit.entity_type,
            entity_id=hit.entity_id,
            name=hit.name,
            snippet=hit.snippet,
            score=round(hit.score, 4),
        )
        for hit in found.profiles
    ]
    return ProfilesAnswer(profiles=hits, degraded=[*found.degraded], note="" if hits else NOTHING_FOUND)


def status_answer(status: Status) -> StatusAnswer:
    """Return the published status."""
    return StatusAnswer(
        pending=status.pending,
        processing=status.processing,
        failed=status.failed,
        oldest_age_seconds=status.oldest_age_seconds,
        unembedded=status.unembedded,
        degraded=[*status.degraded],
        offline=[*status.offline],
        troubles=[TroubleItem(what=one.what, since=local(one.since, status.timezone)) for one in status.troubles],
        settings=[*status.settings],
        job=job_item(status.job, status.timezone) if status.job else None,
        failures=[
            FailureItem(
                job_id=job.job_id,
                reason=job.error or "unknown",
                attempts=job.attempts,
                age_seconds=round(job.age_seconds, 3),
            )
            for job in status.failures
        ],
        memos=[
            MemoItem(text=memo.text, timestamp_local=local(memo.at, memo.timezone), job_id=memo.job_id)
            for memo in status.memos
        ],
        hint=status.hint,
        held=[
            HeldItem(
                review_id=one.review_id,
                entity_type=one.entity_type,
                entity_id=one.entity_id,
                since=local(one.since, status.timezone),
                reasons=[*one.reasons],
            )
            for one in status.held
        ],
    )


def job_item(job: JobStatus, timezone: str) -> JobItem:
    """Return one published job."""
    return JobItem(
        job_id=job.job_id,
        state=job.state,
        step=job.step,
        attempts=job.attempts,
        error=job.error,
        age_seconds=round(job.age_seconds, 3),
        next_retry=local(job.next_retry, timezone) if job.next_retry else None,
        decision=_decision(job.decision) if job.decision else None,
    )


def _decision(decision: CaptureDecision) -> DecisionItem:
    return DecisionItem(
        should_remember=decision.should_remember,
        reason=decision.reason,
        by="model" if decision.by == "model" else "rules",
        event_ids=[*decision.event_ids],
    )


def append_answer(result: AppendResult) -> AppendAnswer:
    """Return what became of the messages."""
    failed = [AppendFailure(index=index, reason=reason) for index, reason in result.failed]
    return AppendAnswer(
        inserted=result.inserted,
        ignored=result.ignored,
        failed=failed,
        warnings=[*result.warnings],
        job_ids=[*result.job_ids],
    )
