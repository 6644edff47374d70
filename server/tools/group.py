"""The group toolset: statements about a group that evolve, each with its versions, reasons and messages."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from historian.group_memory import THRESHOLD
from server.answers import QUOTED, answer
from server.binding import Bound
from server.group_prose import (
    change_line,
    changes_prose,
    evolve_prose,
    found_prose,
    memories_prose,
    memory_history_prose,
)
from server.tools.core import READ, GroupId
from server.tools.group_results import (
    EvolveAnswer,
    FoundMemoriesAnswer,
    MemoriesAnswer,
    MemoryChangeAnswer,
    MemoryChangesAnswer,
    MemoryHistoryAnswer,
    change_answer,
    changes_answer,
    evolve_answer,
    found_answer,
    history_answer,
    memories_answer,
)
from server.toolsets import Published

Days = Annotated[float, Field(ge=0.01, le=3650)]
MemoryId = Annotated[str, Field(description="From group_memories", max_length=512)]
Reason = Annotated[str, Field(description="Why, in one sentence", max_length=500)]
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
DELETES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)


def evolve_memories(
    memory: Bound,
    days: Annotated[
        float, Field(description="How far a first run looks back; above 1: read again", ge=0.01, le=3650)
    ] = 1,
    target_group_id: GroupId = "",
) -> Annotated[CallToolResult, EvolveAnswer]:
    done = memory.groups.evolve(target_group_id, days=days)
    return answer(evolve_answer(done), evolve_prose(done))


def group_memories(
    memory: Bound,
    status: Annotated[Literal["active", "deprecated", "all"], Field(description="deprecated: deleted ones")] = "active",
    limit: Annotated[int, Field(ge=1, le=200)] = 20,
    cursor: Annotated[str, Field(description="next_cursor of the page before", max_length=200)] = "",
    target_group_id: GroupId = "",
) -> Annotated[CallToolResult, MemoriesAnswer]:
    page = memory.groups.list(target_group_id, status=status, limit=limit, cursor=cursor)
    return answer(memories_answer(page), memories_prose(page))


def search_group_memories(
    memory: Bound,
    query: Annotated[str, Field(description="A question or words", max_length=4000)],
    limit: Annotated[int, Field(ge=1, le=200)] = 5,
    threshold: Annotated[float, Field(description="Least score", ge=0, le=1)] = THRESHOLD,
    target_group_id: GroupId = "",
) -> Annotated[CallToolResult, FoundMemoriesAnswer]:
    found = memory.groups.search(query, target_group_id, limit=limit, threshold=threshold)
    return answer(found_answer(found), found_prose(found))


def memory_history(memory: Bound, memory_id: MemoryId) -> Annotated[CallToolResult, MemoryHistoryAnswer]:
    found = memory.groups.history(memory_id)
    return answer(history_answer(found), memory_history_prose(found))


def memory_changes(
    memory: Bound, days: Days = 7, target_group_id: GroupId = ""
) -> Annotated[CallToolResult, MemoryChangesAnswer]:
    found = memory.groups.changes(target_group_id, days=days)
    return answer(changes_answer(found), changes_prose(found))


def restore_memory(
    memory: Bound,
    memory_id: MemoryId,
    version: Annotated[int, Field(description="Say again what this version said; 0: as it is", ge=0, le=1_000_000)] = 0,
    reason: Reason = "",
) -> Annotated[CallToolResult, MemoryChangeAnswer]:
    done = memory.groups.restore(memory_id, version=version, reason=reason)
    return answer(change_answer(done), change_line(done))


def delete_memory(
    memory: Bound, memory_id: MemoryId, reason: Reason = ""
) -> Annotated[CallToolResult, MemoryChangeAnswer]:
    done = memory.groups.delete(memory_id, reason=reason)
    return answer(change_answer(done), change_line(done))


def set_memory_strength(
    memory: Bound,
    memory_id: MemoryId,
    strength: Annotated[float, Field(description="0 to 1", ge=0, le=1)],
    reason: Reason = "",
) -> Annotated[CallToolResult, MemoryChangeAnswer]:
    done = memory.groups.set_strength(memory_id, strength, reason=reason)
    return answer(change_answer(done), change_line(done))


TOOLS = [
    Published(
        evolve_memories,
        name="evolve_memories",
        title="Let a group's memory evolve",
        description="Let the chat model revise the statements about this group by what was said since the last run: "
        "keep, update, create, delete, each with a reason and the messages behind it. One run of a group at a time; a "
        f"failed run changes nothing. {QUOTED}",
        annotations=DELETES,
        needs_admin=True,
        asks_model=True,
    ),
    Published(
        group_memories,
        name="group_memories",
        title="What is known of a group",
        description="The statements about this group, last changed first, with version, strength and the messages they "
        f"rest on. {QUOTED}",
        annotations=READ,
    ),
    Published(
        search_group_memories,
        name="search_group_memories",
        title="Search what is known of a group",
        description=f"The active statements about this group that answer a question, best first. {QUOTED}",
        annotations=READ,
    ),
    Published(
        memory_history,
        name="memory_history",
        title="How a statement came about",
        description=f"Every version of one statement and every change of it, with reasons and messages. {QUOTED}",
        annotations=READ,
    ),
    Published(
        memory_changes,
        name="memory_changes",
        title="What changed in a group's memory",
        description=f"The changes of the last days, newest first: before, after, reason, messages. {QUOTED}",
        annotations=READ,
    ),
    Published(
        restore_memory,
        name="restore_memory",
        title="Restore a statement",
        description="Bring a deleted statement back, or what an earlier version said, as a new version. Only when a "
        f"person says so. {QUOTED}",
        annotations=CHANGES,
        needs_admin=True,
    ),
    Published(
        delete_memory,
        name="delete_memory",
        title="Delete a statement",
        description="Retire a statement: it is no longer found, its versions stay, restore_memory brings it back. Only "
        f"when a person says so. {QUOTED}",
        annotations=DELETES,
        needs_admin=True,
    ),
    Published(
        set_memory_strength,
        name="set_memory_strength",
        title="Set how strong a statement is",
        description="Give a statement another strength, from which it fades until new messages confirm it. Only when a "
        f"person says so. {QUOTED}",
        annotations=CHANGES,
        needs_admin=True,
    ),
]
