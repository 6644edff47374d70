"""What waits to be remembered and what failed, with another try or the waste bin for the latter."""

from __future__ import annotations

from server.web.page import Asked, Done, Page


def show_jobs(asked: Asked) -> Page:
    """Return the jobs of the guest's scope."""
    jobs = asked.memory.look.jobs()
    values = {
        "waiting": [job for job in jobs if job.state != "failed"],
        "failed": [job for job in jobs if job.state == "failed"],
        "status": asked.memory.status(),
    }
    return Page("jobs.html", values)


def retry(asked: Asked) -> Done:
    """Have one failed job done again, or all of them. Raises NotFoundError."""
    done = asked.memory.retry_jobs(asked.field("job_id") or None)
    return Done("queue", {"done": "retried", "count": str(len(done))})


def discard(asked: Asked) -> Done:
    """Throw one failed job away, or all of them. Raises NotFoundError."""
    done = asked.memory.discard_jobs(asked.field("job_id") or None)
    return Done("queue", {"done": "discarded", "count": str(len(done))})
