"""The jobs that were given up: looking after the `failed` folder."""

from __future__ import annotations

from historian.durable import publish, stage, sweep_temporaries
from historian.errors import InvalidInputError, NotFoundError
from historian.job import UNREADABLE, Job, PoisonError, encode, is_job_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from historian.clock import Clock
    from historian.mutex import Mutex
    from historian.queue_files import QueueFiles

TEMPORARY_SECONDS = 3600.0
_DAY = 86_400.0


def iso(instant: datetime) -> str:
    """Return the instant as ISO 8601 in UTC with microseconds and `Z`."""
    return instant.isoformat(timespec="microseconds").replace("+00:00", "Z")


class FailedJobs:
    """Tries failed jobs again, throws them away, and keeps the folder within its bounds."""

    def __init__(self, files: QueueFiles, mutex: Mutex, clock: Clock, *, max_age_days: float, max_files: int) -> None:
        self._files = files
        self._mutex = mutex
        self._clock = clock
        self._max_age = max_age_days * _DAY
        self._max_files = max_files

    def retry(self, job_id: str | None) -> list[Job]:
        """Move one failed job, or all that can be read, back to `pending` with a fresh count; return them.

        Raises:
            NotFoundError: no such failed job.
            InvalidInputError: it is a file that never was a job.
        """
        revived: list[Job] = []
        with self._mutex:
            for job in self._chosen(job_id):
                if job.kind == UNREADABLE:
                    if job_id is not None:
                        raise InvalidInputError("This was never a readable job; discard it instead.")
                    continue
                revived.append(self._revive(job))
        if revived:
            self._files.sync("pending", "failed")
        return revived

    def discard(self, job_id: str | None) -> list[str]:
        """Remove one failed job, or all of them; return the ids.

        Raises:
            NotFoundError: no such failed job.
        """
        with self._mutex:
            gone = [job.job_id for job in self._chosen(job_id)]
            for name in gone:
                self._files.remove("failed", name)
        if gone:
            self._files.sync("failed")
        return gone

    def sweep(self) -> int:
        """Remove what is too old or too much, oldest first, and leftovers of crashes; return how many files went."""
        removed = sum(sweep_temporaries(folder, TEMPORARY_SECONDS) for folder in self._files.folders.values())
        now = self._clock.now()
        with self._mutex:
            for orphan in set(self._files.names("failed", ".poison")) - set(self._files.names("failed")):
                self._files.adopt(orphan, "The file was not a job.", iso(now), {})
            kept = sorted((job.failed_at or job.created_at, job.job_id) for job in self._chosen(None))
            oldest = iso(_before(now, self._max_age))
            surplus = max(len(kept) - self._max_files, 0)
            for place, (failed_at, job_id) in enumerate(kept):
                if place < surplus or failed_at < oldest:
                    self._files.remove("failed", job_id)
                    removed += 1
        if removed:
            self._files.sync("failed")
        return removed

    def _revive(self, job: Job) -> Job:
        """Move one job back; the reason stays in the document until it is next written."""
        files = self._files
        fresh = job.but(attempts=0, not_before=None)
        if files.exists("pending", job.job_id) or files.exists("processing", job.job_id):
            files.remove("failed", job.job_id)
            return fresh
        path = files.path("failed", job.job_id)
        publish(stage(files.folders["failed"], encode(fresh), disk=files.disk), path, files.disk)
        files.move("failed", "pending", job.job_id)
        return fresh

    def _chosen(self, job_id: str | None) -> list[Job]:
        """Return the failed job of that id, or all; unreadable documents are replaced by ones that say so."""
        if job_id is None:
            names = self._files.names("failed")
        else:
            names = [job_id] if is_job_id(job_id) and self._files.exists("failed", job_id) else []
        chosen: list[Job] = []
        for name in names:
            try:
                job = self._files.load("failed", name)
            except PoisonError as error:
                job = self._files.quarantine("failed", name, str(error), iso(self._clock.now()))
            if job is not None:
                chosen.append(job)
        if job_id is not None and not chosen:
            raise NotFoundError("There is no failed job of that id.")
        return chosen


def _before(instant: datetime, seconds: float) -> datetime:
    """Return the instant so many seconds earlier."""
    return instant.fromtimestamp(instant.timestamp() - seconds, instant.tzinfo)
