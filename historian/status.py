"""How the memory is doing, as far as it concerns one scope: jobs, failures, what is degraded, and recent memos."""

from __future__ import annotations

from historian.clock import Clock
from historian.errors import InvalidInputError, NotFoundError
from historian.indexer import Indexer
from historian.job import Job, is_job_id
from historian.memos import MemoStore
from historian.model import Scope
from historian.queue import Queue
from historian.receipts import ReceiptStore
from historian.retrieval import Retrieval
from historian.steps import Steps
from historian.views import JobState, JobStatus, Memo, Status
from historian.work import END, TurnWork, acknowledged_at

FAILURES_SHOWN = 20
SLOW_SECONDS = 60.0
"""A job that waits longer than this earns a hint."""
NO_JOB = "There is no job of that id in this scope."
OFFLINE = ("events are written by rules: no chat model is configured",)


class StatusReader:
    """Reads the state of the queue and the indexes. Thread-safe."""

    def __init__(
        self,
        queue: Queue,
        receipts: ReceiptStore,
        memos: MemoStore,
        steps: Steps,
        indexer: Indexer,
        retrieval: Retrieval,
        clock: Clock,
    ) -> None:
        self._queue = queue
        self._receipts = receipts
        self._memos = memos
        self._steps = steps
        self._indexer = indexer
        self._retrieval = retrieval
        self._clock = clock

    def read(self, scope: Scope, job_id: str | None, *, memos: int) -> Status:
        """Return the status.

        Raises:
            NotFoundError: there is no such job in scope.
        """
        lane = scope.owner.key
        waiting = [job for job in self._queue.jobs("pending") if job.lane == lane]
        working = [job for job in self._queue.jobs("processing") if job.lane == lane]
        failed = [job for job in self._queue.jobs("failed") if job.lane == lane]
        ages = [self._age(job) for job in (*waiting, *working)]
        oldest = max(ages, default=None)
        return Status(
            pending=len(waiting),
            processing=len(working),
            failed=len(failed),
            oldest_age_seconds=oldest,
            unembedded=self._indexer.waiting(lane),
            degraded=self._retrieval.state(),
            offline=OFFLINE,
            job=self._job(scope, job_id) if job_id is not None else None,
            failures=tuple(self._status(job, "failed") for job in failed[-FAILURES_SHOWN:]),
            memos=tuple(self.memos(scope, memos)),
            hint=_hint(oldest, len(failed)),
        )

    def memos(self, scope: Scope, limit: int) -> list[Memo]:
        """Return the newest memos of the scope, newest first; those of waiting jobs stand first."""
        lane = scope.owner.key
        jobs = [*self._queue.jobs("pending"), *self._queue.jobs("processing")]
        waiting = [memo for job in jobs if job.lane == lane for memo in _memo_of(job)]
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
        return JobStatus(job_id, entry.state, entry.step, entry.attempts, entry.error, age)

    def _status(self, job: Job, state: JobState) -> JobStatus:
        error = job.reason or (job.errors[-1] if job.errors else None)
        return JobStatus(job.job_id, state, self._steps.of(job.job_id), job.attempts, error, self._age(job))

    def _age(self, job: Job) -> float:
        return max(0.0, (self._clock.now() - acknowledged_at(job)).total_seconds())


def _memo_of(job: Job) -> list[Memo]:
    if job.kind != END:
        return []
    try:
        work = TurnWork.read(job.job_id, job.payload)
    except InvalidInputError:
        return []
    return [Memo(work.turn.memo, job.job_id, work.ended_at, work.session.timezone)] if work.turn.memo else []


def _hint(oldest: float | None, failed: int) -> str:
    if oldest is not None and oldest > SLOW_SECONDS:
        return "Jobs wait for long: check that a server is running on this data folder and look at its log."
    if failed:
        return "Some jobs failed: read their reasons, then retry or discard them with `shiguan queue`."
    return ""
