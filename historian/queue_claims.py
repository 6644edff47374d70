"""The jobs this process works on, and the ways in which they leave."""

from __future__ import annotations

from historian.durable import publish, stage, unstage
from historian.errors import ConflictError, NotFoundError
from historian.job import Job, encode
from historian.queue_failed import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from historian.clock import Clock
    from historian.job import State
    from historian.journal import Journal
    from historian.liveness import Claimer
    from historian.mutex import Mutex
    from historian.queue_files import QueueFiles
    from historian.queue_view import QueueView


class Claims:
    """What `me` has claimed. All methods raise NotFoundError for a job that was not claimed here.

    ConflictError says that the job was taken over: its claimer had been silent for so long that it counted as dead.
    """

    def __init__(
        self, files: QueueFiles, mutex: Mutex, journal: Journal, view: QueueView, clock: Clock, me: Claimer
    ) -> None:
        self._files = files
        self._mutex = mutex
        self._journal = journal
        self._view = view
        self._clock = clock
        self._me = me
        self._held: dict[str, tuple[Job, int]] = {}

    def take(self, job: Job) -> None:
        """Claim a pending job. Needs the mutex: the claim is written before the job moves under it."""
        self._files.write_claim(job.job_id, self._me, self._clock.now().timestamp())
        self._files.move("pending", "processing", job.job_id)
        self._journal.append(job.job_id)
        self._view.lanes.put_running(job.job_id, job.lane)
        self._held[job.job_id] = (job, self._files.syncs["pending"].ticket())

    def current(self, job_id: str) -> Job:
        """Return the job as it was last written."""
        if job_id not in self._held:
            raise NotFoundError("There is no job of that id claimed here.")
        return self._held[job_id][0]

    def heartbeat(self, job_id: str) -> None:
        """Say that the job is still being worked on."""
        self.current(job_id)
        if not self._files.touch_claim(job_id, self._clock.now().timestamp()):
            raise ConflictError("This job was taken over by another process; drop it.")

    def rewrite(self, changed: Job) -> Job:
        """Replace the document of a claimed job durably."""
        staged = stage(self._files.folders["processing"], encode(changed), disk=self._files.disk)
        try:
            with self._mutex:
                ticket = self._own(changed.job_id)
                publish(staged, self._files.path("processing", changed.job_id), self._files.disk)
                self._held[changed.job_id] = (changed, ticket)
        finally:
            unstage(staged, self._files.disk)
        self._files.sync("processing")
        return changed

    def remove(self, job_id: str) -> None:
        """Remove a claimed job durably."""
        with self._mutex:
            ticket = self._own(job_id)
            self._files.remove("processing", job_id)
            self._released(job_id)
        # the name must be gone from both folders: after a power cut it could else come back as pending
        self._files.syncs["pending"].sync(ticket)
        self._files.sync("processing")

    def leave(self, changed: Job, target: State, reason: str | None = None) -> Job:
        """Move a claimed job, as changed, to another folder: first replaced in place, then renamed."""
        job_id = changed.job_id
        if target == "failed":
            changed = changed.but(reason=reason or "No reason was given.", failed_at=iso(self._clock.now()))
        staged = stage(self._files.folders["processing"], encode(changed), disk=self._files.disk)
        try:
            with self._mutex:
                self._own(job_id)
                publish(staged, self._files.path("processing", job_id), self._files.disk)
                self._files.move("processing", target, job_id)
                self._files.remove("processing", job_id)
                self._released(job_id)
                if target == "pending":
                    self._view.lanes.put_pending(job_id, changed.lane, changed.not_before)
        finally:
            unstage(staged, self._files.disk)
        self._files.sync(target, "processing")
        return changed

    def _own(self, job_id: str) -> int:
        """Return the ticket of a job that is still claimed here. Needs the mutex."""
        self.current(job_id)
        claim = self._files.read_claim(job_id)
        if claim is None or claim[0].instance != self._me.instance:
            del self._held[job_id]
            raise ConflictError("This job was taken over by another process; drop it.")
        return self._held[job_id][1]

    def _released(self, job_id: str) -> None:
        del self._held[job_id]
        self._journal.append(job_id)
        self._view.lanes.drop(job_id)
