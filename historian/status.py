"""How the memory is doing, as far as it concerns one scope: jobs, failures, what is degraded, and recent memos."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from historian.clock import Clock
from historian.errors import InvalidInputError, NotFoundError
from historian.indexer import Indexer
from historian.job import Job, is_job_id
from historian.live import LiveOptions
from historian.memos import MemoStore
from historian.merge_waiting import MergeWaiting
from historian.model import Owner, Scope
from historian.profile_reading import entities_of
from historian.pulse import Pulse
from historian.queue import Queue
from historian.receipts import ReceiptStore
from historian.reviewing import ReviewDesk
from historian.steps import Steps
from historian.troubles import Troubles
from historian.views import HeldMerge, JobState, JobStatus, Memo, Status
from historian.work import END, TurnWork, acknowledged_at

if TYPE_CHECKING:
    from historian.job import State

FAILURES_SHOWN = 20
SLOW_SECONDS = 60.0
"""A job that waits longer than this earns a hint."""
NO_JOB = "There is no job of that id in this scope."
NOBODY_WORKS = (
    "No historian works on the queue, so nothing is stored now: start a server on this data folder, or restart this "
    "one and look at its log."
)


@dataclass(frozen=True, slots=True)
class Health:
    """What does not concern one scope: `troubles` run degraded, `offline` says what runs by rules without a model,
    `settings` what of the settings file has no effect.
    """

    pulse: Pulse
    troubles: Troubles
    offline: Callable[[], Sequence[str]]
    settings: Callable[[], Sequence[str]]
    options: LiveOptions


@dataclass(frozen=True, slots=True)
class Merges:
    """What profiles do not hold yet: statements that wait, and merges that are held for review."""

    waiting: MergeWaiting
    desk: ReviewDesk


class StatusReader:
    """Reads the state of the queue and the indexes. Thread-safe."""

    def __init__(
        self,
        queue: Queue,
        receipts: ReceiptStore,
        memos: MemoStore,
        steps: Steps,
        indexer: Indexer,
        health: Health,
        clock: Clock,
        merges: Merges,
    ) -> None:
        self._queue = queue
        self._receipts = receipts
        self._memos = memos
        self._steps = steps
        self._indexer = indexer
        self._health = health
        self._clock = clock
        self._merges = merges

    def read(self, scope: Scope, job_id: str | None, *, memos: int, timezone: str = "UTC") -> Status:
        """Return the status; its times are to be shown in `timezone`.

        Raises:
            NotFoundError: there is no such job in scope.
        """
        lane = scope.owner.key
        unfinished, unread = self._queue.outline(lane, _jobs_read(memos))
        failed = [job for job in self._queue.jobs("failed") if job.lane == lane]
        oldest = max((_age(job, self._clock.now()) for _, job in unfinished), default=None)
        processing = sum(state == "processing" for state, _ in unfinished)
        pending = len(unfinished) - processing + unread
        offline = tuple(self._health.offline())
        troubles = self._health.troubles.look()
        return Status(
            pending=pending,
            processing=processing,
            failed=len(failed),
            oldest_age_seconds=oldest,
            unembedded=self._indexer.waiting(lane),
            degraded=tuple(trouble.what for trouble in troubles if trouble.what not in offline),
            offline=offline,
            troubles=troubles,
            settings=tuple(self._health.settings()),
            timezone=timezone,
            job=self._job(scope, job_id) if job_id is not None else None,
            failures=tuple(self._status(job, "failed") for job in failed[-FAILURES_SHOWN:]),
            memos=tuple(self._newest_memos(scope, unfinished, memos)),
            hint=self._hint(oldest, pending, len(failed)),
            held=tuple(self._held(scope)),
        )

    def jobs(self, scope: Scope, limit: int) -> list[JobStatus]:
        """Return the oldest jobs of the scope that wait or are being done, then the newest that failed."""
        lane = scope.owner.key
        unfinished = [self._status(job, state) for state, job in self._queue.unfinished(lane)[:limit]]
        failed = [job for job in self._queue.jobs("failed") if job.lane == lane]
        return [*unfinished, *(self._status(job, "failed") for job in failed[::-1][:limit])]

    def memos(self, scope: Scope, limit: int) -> list[Memo]:
        """Return the newest memos of the scope, newest first; those of waiting jobs stand first."""
        return self._newest_memos(scope, self._queue.outline(scope.owner.key, _jobs_read(limit))[0], limit)

    def _newest_memos(self, scope: Scope, unfinished: Sequence[tuple[State, Job]], limit: int) -> list[Memo]:
        waiting = [memo for _, job in unfinished for memo in _memo_of(job)]
        waiting.sort(key=lambda memo: memo.at, reverse=True)
        known = {memo.job_id for memo in waiting}
        stored = [memo for memo in self._memos.newest(scope.owner, limit) if memo.job_id not in known]
        return [*waiting, *stored][:limit]

    def _job(self, scope: Scope, job_id: str) -> JobStatus:
        if not is_job_id(job_id):
            raise NotFoundError(NO_JOB)
        unfinished = self._queue.get(job_id)
        if unfinished is not None and unfinished[1].lane == scope.owner.key:
            return self._status(unfinished[1], unfinished[0])
        entry = self._receipts.get(job_id, scope.owner)
        if entry is None:
            raise NotFoundError(NO_JOB)
        age = (self._clock.now() - entry.created_at).total_seconds()
        unmerged = self._merges.waiting.of_job(job_id) if entry.state == "done" else None
        if unmerged is not None:
            return self._merging(job_id, unmerged, age)
        return JobStatus(job_id, entry.state, entry.step, entry.attempts, entry.error, age, decision=entry.decision)

    def _merging(self, job_id: str, entity: Owner, age: float) -> JobStatus:
        """A job whose events are stored, and only its merge is not done yet."""
        trouble = self._merges.waiting.trouble(entity)
        if trouble is None or trouble.by_rules:
            return JobStatus(job_id, "processing", "merge", 0, None, age)
        return JobStatus(job_id, "pending", "merge", trouble.attempts, trouble.reason, age, trouble.not_before)

    def _held(self, scope: Scope) -> list[HeldMerge]:
        """Return the merges that are held, of the profiles that this request may decide about."""
        return [
            HeldMerge(review.id, entity.kind, entity.id, review.made_at, review.reasons)
            for entity in entities_of(scope)
            for review in self._merges.desk.held(entity)
        ]

    def _status(self, job: Job, state: JobState) -> JobStatus:
        return job_status(job, state, self._steps.of(job.job_id), self._clock.now())

    def _hint(self, oldest: float | None, pending: int, failed: int) -> str:
        if not self._health.options.enabled:
            return "Set enabled = true in shiguan.toml to have the waiting jobs done and observations kept again."
        if pending and not self._health.pulse.is_alive:
            return NOBODY_WORKS
        if oldest is not None and oldest > SLOW_SECONDS:
            return (
                f"A job has waited for {oldest:.0f} s: those of one person or group are done in order, and others may "
                "stand before them. Ask again with its job_id to see its step, attempts and last error."
            )
        if failed:
            return "Some jobs failed: read their reasons, then retry or discard them with `shiguan queue`."
        return ""


def job_status(job: Job, state: JobState, step: str | None, now: datetime) -> JobStatus:
    """Return where a job of the queue stands; `step` is the one that somebody works on, if anybody does."""
    error = job.reason or (job.errors[-1] if job.errors else None)
    retry = datetime.fromtimestamp(job.not_before, UTC) if job.not_before and state == "pending" else None
    return JobStatus(job.job_id, state, step or job.step or None, job.attempts, error, _age(job, now), retry)


def _age(job: Job, now: datetime) -> float:
    return max(0.0, (now - acknowledged_at(job)).total_seconds())


def _jobs_read(memos: int) -> int:
    """Return how many jobs of a long lane are read: the first for its age, the newest for memos, which not all have."""
    return 2 * memos + 1


def _memo_of(job: Job) -> list[Memo]:
    if job.kind != END:
        return []
    try:
        work = TurnWork.read(job.job_id, job.payload)
    except InvalidInputError:
        return []
    return [Memo(work.turn.memo, job.job_id, work.ended_at, work.session.timezone)] if work.turn.memo else []
