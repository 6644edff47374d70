"""Failed jobs, as far as they are of one scope: to be tried again or thrown away."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from historian.errors import InvalidInputError, NotFoundError
from historian.job import Job, is_job_id
from historian.model import Scope
from historian.queue import Queue

NO_FAILED_JOB = "There is no failed job of that id in this scope; memory_status lists those that failed."


class FailureKeeper:
    """Retries and discards what failed. Thread-safe."""

    def __init__(self, queue: Queue, wake: Callable[[], None]) -> None:
        self._queue = queue
        self._wake = wake

    def retry(self, scope: Scope, job_id: str | None) -> list[str]:
        """Make one failed job of the scope pending with a fresh count, or all of them; return their ids.

        Raises:
            NotFoundError: no such failed job in scope.
        """
        done = self._each(scope, job_id, self._queue.retry_failed)
        self._wake()
        return done

    def discard(self, scope: Scope, job_id: str | None) -> list[str]:
        """Throw one failed job of the scope away, or all of them; return their ids.

        Raises:
            NotFoundError: no such failed job in scope.
        """
        return self._each(scope, job_id, self._queue.discard)

    def _each(self, scope: Scope, job_id: str | None, do: Callable[[str], list[str]]) -> list[str]:
        if job_id is not None:
            return do(self._required(scope, job_id).job_id)
        done: list[str] = []
        for job in self._queue.jobs("failed"):
            if job.lane == scope.owner.key:
                with suppress(NotFoundError):  # somebody else was faster
                    done += do(job.job_id)
        return done

    def _required(self, scope: Scope, job_id: str) -> Job:
        found = self._queue.get(job_id) if is_job_id(job_id) else None
        if found is None or found[1].lane != scope.owner.key:
            raise NotFoundError(NO_FAILED_JOB)
        state, job = found
        if state != "failed":
            raise InvalidInputError(f"Job {job_id} is {state}; only a failed job can be retried or discarded.")
        return job
