"""What `shiguan status` and `shiguan queue` show to whom the folder belongs: all of it, whoever it is about."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from historian.job import STATES, Job
from historian.status import job_status
from server import __version__
from server.household import Household

if TYPE_CHECKING:
    from historian.job import State


class Overview:
    """Answers the operations `status` and `queue`."""

    def __init__(self, household: Household, url: str | None = None) -> None:
        """`url` is where the owner serves over HTTP."""
        self._household = household
        self._url = url

    def status(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Return counts, what runs degraded and since when, and which profiles are not as they should be."""
        stats, health = self._household.queue.stats(), self._household.health
        offline = tuple(health.offline())
        troubles = [one for one in health.troubles.look() if one.what not in offline]
        return {
            **self._household.counts(),
            "pending": stats.pending,
            "processing": stats.processing,
            "failed": stats.failed,
            "oldest_age_seconds": round(stats.oldest_pending_age, 1),
            "enabled": self._household.live.enabled,
            "degraded": [{"what": one.what, "since": _shown(one.since)} for one in troubles],
            "offline": [*offline],
            "profiles": [*self._profiles()],
            "settings": [*health.settings()],
            "version": __version__,
            "pid": os.getpid(),
            **({"http": self._url} if self._url is not None else {}),
        }

    def queue(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """List all jobs and the profiles whose merge waits, or retry or discard failed jobs.

        Raises:
            NotFoundError: there is no such failed job.
        """
        queue, job_id = self._household.queue, request.get("job_id")
        match request.get("action"):
            case "retry":
                done = queue.retry_failed(job_id)
                self._household.historian.jobs_bell.ring()
                return {"done": done}
            case "discard":
                return {"done": queue.discard(job_id)}
            case _:
                jobs = [self._job(job, state) for state in STATES for job in queue.jobs(state)]
                return {"jobs": jobs, "merges": [one for one in self._profiles() if one["next_retry"]]}

    def _job(self, job: Job, state: State) -> dict[str, Any]:
        status = job_status(job, state, self._household.historian.steps.of(job.job_id), datetime.now(UTC))
        return {
            "job_id": job.job_id,
            "state": state,
            "kind": job.kind,
            "whose": job.lane,
            "step": status.step,
            "created_at": job.created_at,
            "age_seconds": round(status.age_seconds, 1),
            "attempts": job.attempts,
            "error": status.error or "",
            "next_retry": None if status.next_retry is None else _shown(status.next_retry),
        }

    def _profiles(self) -> Iterator[dict[str, Any]]:
        waiting = self._household.profiles.waiting
        for trouble in waiting.troubles():
            about = {"profile": trouble.entity.key, "reason": trouble.reason, "attempts": trouble.attempts}
            if trouble.by_rules:
                yield about | {"what": "merged by rules", "next_retry": None}
            elif waiting.next(trouble.entity, 1):
                yield about | {"what": "waits for its merge", "next_retry": _shown(trouble.not_before)}


def _shown(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="seconds")
