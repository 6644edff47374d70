"""The core toolset: close a turn, find what is remembered, and see how the memory is doing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field, WithJsonSchema

from historian.turn import MAX_EVIDENCE, MAX_OBSERVATIONS
from server.answers import QUOTED, answer
from server.binding import Bound
from server.prose import end_prose, events_prose, profile_prose, profiles_prose, status_prose
from server.tools.convert import end_answer, events_answer, profile_answer, profiles_answer, status_answer
from server.tools.results import EndAnswer, EventsAnswer, ProfileAnswer, ProfilesAnswer, StatusAnswer
from server.toolsets import Published

EntityType = Annotated[Literal["user", "group"], Field(description="user or group")]
GroupId = Annotated[str, Field(description="Only this group, one you belong to")]
TopK = Annotated[int, Field(ge=0, le=200, description="At most so many; 0: as is set")]
TimeBound = Annotated[str, Field(description="When it was said: ISO 8601; naive times are in the session's zone")]
RecentMessages = Annotated[
    list[Any],
    Field(description="Earlier messages, for disambiguation only"),
    WithJsonSchema({"type": "array", "items": {"type": ["string", "object"]}}),
]


async def end(
    memory: Bound,
    memo: Annotated[str, Field(description="What you did this turn, one or two sentences")] = "",
    observations: Annotated[
        list[str],
        Field(
            description="New facts from the current message(s), one each: whole sentences with names, ids and absolute "
            "dates, in the user's language; no pronouns, no 'yesterday', no 'here'",
            max_length=MAX_OBSERVATIONS,
        ),
    ] = [],  # noqa: B006 - the SDK copies defaults; a plain list keeps the schema without null
    force: Annotated[bool, Field(description="Store as worded: gate hits cost no retries and set no flag")] = False,
    source_message: Annotated[str, Field(description="The message(s) that triggered the turn, verbatim")] = "",
    recent_messages: RecentMessages = [],  # noqa: B006
    message_ids: Annotated[
        list[str], Field(description="Ids of recorded messages the facts rest on", max_length=MAX_EVIDENCE)
    ] = [],  # noqa: B006
    location: Annotated[str, Field(description="Absolute place, if known")] = "",
) -> Annotated[CallToolResult, EndAnswer]:
    receipt = await memory.hand_in(
        memo=memo,
        observations=observations,
        force=force,
        source_message=source_message,
        recent_messages=recent_messages,
        message_ids=message_ids,
        location=location,
    )
    return answer(end_answer(receipt), end_prose(receipt))


def search_events(
    memory: Bound,
    query: Annotated[str, Field(description="What to look for, in any language")],
    target_user_id: Annotated[str, Field(description="Only events about this person")] = "",
    target_group_id: GroupId = "",
    top_k: TopK = 0,
    time_from: TimeBound = "",
    time_to: Annotated[str, Field(description="Exclusive; a date alone includes its day")] = "",
) -> Annotated[CallToolResult, EventsAnswer]:
    found = memory.search_events(
        query,
        target_user_id=target_user_id or None,
        target_group_id=target_group_id or None,
        top_k=top_k,
        time_from=time_from or None,
        time_to=time_to or None,
    )
    return answer(events_answer(found), events_prose(found))


def get_profile(
    memory: Bound,
    entity_type: EntityType = "user",
    entity_id: Annotated[str, Field(description="Left out: you, or the group of this conversation")] = "",
) -> Annotated[CallToolResult, ProfileAnswer]:
    view = memory.profile(entity_type, entity_id or None)
    return answer(profile_answer(view), profile_prose(view))


def search_profiles(
    memory: Bound,
    query: Annotated[str, Field(description="What to look for, in any language")],
    entity_type: Annotated[Literal["", "user", "group"], Field(description="user or group; left out: both")] = "",
    entity_id: Annotated[str, Field(description="Only this profile")] = "",
    top_k: TopK = 0,
) -> Annotated[CallToolResult, ProfilesAnswer]:
    found = memory.search_profiles(query, entity_type=entity_type or None, entity_id=entity_id or None, top_k=top_k)
    return answer(profiles_answer(found), profiles_prose(found))


def memory_status(
    memory: Bound,
    job_id: Annotated[str, Field(description="A job id from an end receipt")] = "",
) -> Annotated[CallToolResult, StatusAnswer]:
    status = memory.status(job_id or None)
    return answer(status_answer(status), status_prose(status))


READ = ToolAnnotations(read_only_hint=True, open_world_hint=False, idempotent_hint=True)

TOOLS = [
    Published(
        end,
        name="end",
        title="Close the turn",
        description="Call once when a turn is done: a short memo and the new facts it brought. Answers at once with a "
        "receipt; facts are stored behind it. If gate names words that need context, reword and call again.",
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
        aliases={"action_summary": "memo", "summary": "memo", "new_info": "observations"},
    ),
    Published(
        search_events,
        name="search_events",
        title="Search remembered events",
        description="Find remembered facts by meaning and words, best first, each with the ids of the messages behind "
        f"it. Time bounds are strict. {QUOTED}",
        annotations=READ,
    ),
    Published(
        get_profile,
        name="get_profile",
        title="Read a profile",
        description="What is known about you, a group of yours, or a person seen there, each line with its events. "
        f"{QUOTED}",
        annotations=READ,
    ),
    Published(
        search_profiles,
        name="search_profiles",
        title="Search profiles",
        description=f"Find the people or groups a description fits. {QUOTED}",
        annotations=READ,
    ),
    Published(
        memory_status,
        name="memory_status",
        title="Memory status",
        description="State of a job or of the memory: queue, failures and why, what runs offline or degraded, recent "
        f"memos. {QUOTED}",
        annotations=READ,
    ),
]
