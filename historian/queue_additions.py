"""The ways into the queue: one job, one job of a known id, or several that are made durable together."""

from __future__ import annotations

from historian.durable import publish, stage, unstage
from historian.errors import InvalidInputError, StoreError
from historian.job import UNREADABLE, Job, JobIds, encode, is_job_id
from historian.queue_failed import iso
from historian.staging import Draft, Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from historian.clock import Clock
    from historian.journal import Journal
    from historian.mutex import Mutex
    from historian.queue_files import QueueFiles
    from historian.queue_view import QueueView


class Additions:
    """Makes jobs pending. Thread-safe."""

    def __init__(self, files: QueueFiles, mutex: Mutex, journal: Journal, view: QueueView, clock: Clock) -> None:
        self._files = files
        self._mutex = mutex
        self._journal = journal
        self._view = view
        self._clock = clock
        self._stage = Stage(files.folders["pending"], files.disk)

    def close(self) -> None:
        """Let go of what helps to add several jobs."""
        self._stage.close()

    def one(self, kind: str, lane: str, payload: dict[str, object], job_id: str | None) -> Job:
        """Add a job, or return the one of that id that is in the queue already."""
        if job_id is not None and not is_job_id(job_id):
            raise InvalidInputError("A job id has 1 to 64 lower-case letters, digits, hyphens or underscores.")
        job = self._made(job_id or JobIds.new(), kind, lane, payload)
        staged = stage(self._files.folders["pending"], encode(job), disk=self._files.disk)
        if job_id is not None:
            return self._once(job, staged)
        self._publish(job, staged)
        self._journal.append(job.job_id)
        self._files.sync("pending")
        return job

    def all(self, kind: str, wanted: Sequence[tuple[str, dict[str, object]]]) -> list[Job | StoreError]:
        """Add a job for each lane and payload; in place of one that the disk refused stands why."""
        jobs = [self._made(JobIds.new(), kind, lane, payload) for lane, payload in wanted]
        drafts = [Draft(encode(job)) for job in jobs]
        self._stage.put(drafts)
        for job, draft in zip(jobs, drafts, strict=True):
            try:
                if draft.error is None:
                    self._publish(job, draft.staged)
            except StoreError as error:
                draft.error = error
        published = [place for place, draft in enumerate(drafts) if draft.error is None]
        if published:
            self._journal.append(*(jobs[place].job_id for place in published))
            try:
                self._files.sync("pending")
            except StoreError as error:
                for place in published:
                    drafts[place].error = error
        return [draft.error or job for job, draft in zip(jobs, drafts, strict=True)]

    def _made(self, job_id: str, kind: str, lane: str, payload: dict[str, object]) -> Job:
        if not kind or not lane or kind == UNREADABLE:
            raise InvalidInputError("A job needs a kind and a lane; send two non-empty texts.")
        if not isinstance(payload, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError("The payload of a job is a JSON object; send one.")
        return Job(job_id, kind, lane, payload, created_at=iso(self._clock.now()))

    def _once(self, job: Job, staged: str) -> Job:
        try:
            with self._mutex:
                known = self._view.find(job.job_id)
                if known is None:
                    self._publish(job, staged)
                    self._journal.append(job.job_id)
        finally:
            unstage(staged, self._files.disk)
        self._files.sync("pending")
        return job if known is None else known[1]

    def _publish(self, job: Job, staged: str) -> None:
        publish(staged, self._files.path("pending", job.job_id), self._files.disk)
        self._view.arrived(job)
