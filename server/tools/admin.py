"""The admin toolset: for a person, or an agent that a person trusts with the upkeep of the memory."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from server.answers import QUOTED, Answer, answer
from server.binding import Bound
from server.profile_prose import history_prose, rollback_prose
from server.tools.core import READ, EntityType
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


class ChangeItem(Answer):
    """A kept version: what it is called, and what changed from it to the next newer one."""

    revision: str
    kept_at: str
    readable: bool
    lines: int
    diff: list[str]


class DropItem(Answer):
    """What is not in the profile any more, or never came into it, and why."""

    line: str
    reason: str
    at: str


class HistoryAnswer(Answer):
    """The kept versions of a profile, newest first."""

    entity_type: str
    entity_id: str
    revisions: list[ChangeItem]
    left_out: list[DropItem]


class RollbackAnswer(Answer):
    """What going back changed; `undo` is the revision that holds what was there before."""

    entity_type: str
    entity_id: str
    revision: str
    diff: list[str]
    undo: str | None
    text: str


ProfileId = Annotated[str, Field(description="Left out: you, or the group of this conversation")]


def profile_history(
    memory: Bound, entity_type: EntityType = "user", entity_id: ProfileId = ""
) -> Annotated[CallToolResult, HistoryAnswer]:
    found = memory.profile_history(entity_type, entity_id or None)
    result = HistoryAnswer(
        entity_type=found.entity.kind,
        entity_id=found.entity.id,
        revisions=[
            ChangeItem(
                revision=one.revision,
                kept_at=one.kept_at.isoformat(timespec="seconds"),
                readable=one.readable,
                lines=one.lines,
                diff=[*one.diff],
            )
            for one in found.versions
        ],
        left_out=[
            DropItem(line=one.line, reason=one.reason, at=one.at.isoformat(timespec="seconds")) for one in found.drops
        ],
    )
    return answer(result, history_prose(found))


def rollback_profile(
    memory: Bound,
    entity_type: EntityType = "user",
    entity_id: ProfileId = "",
    revision: Annotated[str, Field(description="From profile_history; left out: the newest", max_length=64)] = "",
) -> Annotated[CallToolResult, RollbackAnswer]:
    done = memory.rollback_profile(entity_type, entity_id or None, revision)
    result = RollbackAnswer(
        entity_type=done.entity.kind,
        entity_id=done.entity.id,
        revision=done.revision,
        diff=[*done.diff],
        undo=done.undo,
        text=done.profile.render(),
    )
    return answer(result, rollback_prose(done))


TOOLS = [
    Published(
        profile_history,
        name="profile_history",
        title="Earlier versions of a profile",
        description="The kept versions of your profile or that of a group of yours, newest first, with what changed "
        f"after each, and why lines are gone. {QUOTED}",
        annotations=READ,
    ),
    Published(
        rollback_profile,
        name="rollback_profile",
        title="Go back to an earlier version of a profile",
        description="Make a kept version the present one, with its receipts; what is there now becomes a version too, "
        f"so that undo takes it back. Only when a person says so. {QUOTED}",
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
        ),
    ),
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
