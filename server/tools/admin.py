"""The admin toolset: for a person, or an agent that a person trusts with the upkeep of the memory."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from server.answers import Answer, answer
from server.binding import Bound
from server.toolsets import Published

FailedJob = Annotated[str, Field(description="A failed job's id; left out: every failed job of yours", max_length=64)]


class JobsAnswer(Answer):
    """The jobs that were retried or discarded."""

    job_ids: list[str]


def retry_job(memory: Bound, job_id: FailedJob = "") -> Annotated[CallToolResult, JobsAnswer]:
    done = memory.retry_jobs(job_id or None)
    return answer(JobsAnswer(job_ids=done), f"{len(done)} will run again: {', '.join(done) or 'none had failed'}.")


def discard_job(memory: Bound, job_id: FailedJob = "") -> Annotated[CallToolResult, JobsAnswer]:
    done = memory.discard_jobs(job_id or None)
    return answer(JobsAnswer(job_ids=done), f"{len(done)} discarded: {', '.join(done) or 'none had failed'}.")


TOOLS = [
    Published(
        retry_job,
        name="retry_job",
        title="Retry failed jobs",
        description="Have a failed job done again, with a fresh count of attempts. memory_status names failed jobs and "
        "why they failed; mend the reason first.",
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
        ),
    ),
    Published(
        discard_job,
        name="discard_job",
        title="Discard failed jobs",
        description="Throw a failed job away for good: what it has not stored yet is lost. Only when a person says so.",
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
        ),
    ),
]
