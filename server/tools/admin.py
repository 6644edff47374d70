"""The admin toolset: for a person, or an agent that a person trusts with the upkeep of the memory."""

from __future__ import annotations

import json
from typing import Annotated

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from server.answers import QUOTED, Answer, answer, quoted
from server.binding import Bound
from server.toolsets import Published

FailedJob = Annotated[str, Field(description="A failed job's id; left out: every failed job of yours", max_length=64)]


MAX_LINES = 200
"""Lines of one page of an export."""


class ExportAnswer(Answer):
    """One page of an export: JSON objects, each of a `kind`. `next_cursor` is empty after the last page."""

    lines: list[str]
    next_cursor: str


class JobsAnswer(Answer):
    """The jobs that were retried or discarded."""

    job_ids: list[str]


def retry_job(memory: Bound, job_id: FailedJob = "") -> Annotated[CallToolResult, JobsAnswer]:
    done = memory.retry_jobs(job_id or None)
    return answer(JobsAnswer(job_ids=done), f"{len(done)} will run again: {', '.join(done) or 'none had failed'}.")


def discard_job(memory: Bound, job_id: FailedJob = "") -> Annotated[CallToolResult, JobsAnswer]:
    done = memory.discard_jobs(job_id or None)
    return answer(JobsAnswer(job_ids=done), f"{len(done)} discarded: {', '.join(done) or 'none had failed'}.")


def export(
    memory: Bound,
    cursor: Annotated[str, Field(description="next_cursor of the page before", max_length=64)] = "",
    page_size: Annotated[int, Field(description="Lines of a page", ge=1, le=MAX_LINES)] = 50,
) -> Annotated[CallToolResult, ExportAnswer]:
    page = memory.export(cursor, page_size)
    lines = [json.dumps(line, ensure_ascii=False) for line in page.lines]
    more = f" Go on with cursor {page.cursor!r}." if page.cursor else " That is all."
    prose = f"{len(lines)} lines of the export, JSON objects:{more}"
    return answer(ExportAnswer(lines=lines, next_cursor=page.cursor), "\n".join([prose, *map(quoted, lines)]))


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
    Published(
        export,
        name="export",
        title="Export everything",
        description="Everything remembered of the asker or of this group, to take away: messages, events with their "
        "evidence, memos, the profile with its history; page by page, as JSON lines that `shiguan import` reads. "
        f"{QUOTED}",
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
]
