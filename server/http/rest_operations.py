"""Group memory as plain REST: what may be asked, where, with which parameters, and what a token needs for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from historian.group_memory import MAX_DAYS, MAX_QUERY, MAX_REASON, THRESHOLD, ScopedGroups
from server.answers import Answer
from server.http.identity import ADMIN, READ
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

Schema = Mapping[str, Any]
Given = Mapping[str, Any]

_TEXT = {"type": "string"}
_REASON = {**_TEXT, "maxLength": MAX_REASON, "description": "Why, in one sentence"}
_DAYS = {"type": "number", "minimum": 0.01, "maximum": MAX_DAYS}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": 200}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a method at a path; `path` names `group_id` or `memory_id`, which `call` gets as `subject`.

    `tool` is the tool that does the same; `parameters` are JSON Schemas by name, `required` those that must be there.
    """

    method: str
    path: str
    tool: str
    scope: str
    summary: str
    parameters: Mapping[str, Schema]
    answer: type[Answer]
    call: Callable[[ScopedGroups, str, Given], Answer]
    required: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        """The parameters as one schema."""
        return {"properties": self.parameters, "required": [*self.required]}


OPERATIONS = (
    Operation(
        "POST",
        "/evolve/{group_id}",
        "evolve_memories",
        ADMIN,
        "Let the statements about a group evolve by what was said since the last run",
        {"days": {**_DAYS, "default": 1, "description": "How far a first run looks back; above 1: read again"}},
        EvolveAnswer,
        lambda groups, group, given: evolve_answer(groups.evolve(group, days=given.get("days", 1))),
    ),
    Operation(
        "GET",
        "/list/{group_id}",
        "group_memories",
        READ,
        "The statements about a group, last changed first",
        {
            "status": {**_TEXT, "enum": ["active", "deprecated", "all"], "default": "active"},
            "limit": {**_LIMIT, "default": 20},
            "offset": {"type": "integer", "minimum": 0, "maximum": 1_000_000, "default": 0},
        },
        MemoriesAnswer,
        lambda groups, group, given: memories_answer(groups.list(group, **given)),
    ),
    Operation(
        "GET",
        "/search/{group_id}",
        "search_group_memories",
        READ,
        "The active statements about a group that answer a question, best first",
        {
            "q": {**_TEXT, "maxLength": MAX_QUERY, "description": "A question or words"},
            "limit": {**_LIMIT, "default": 5},
            "threshold": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "default": THRESHOLD,
                "description": "Least score",
            },
        },
        FoundMemoriesAnswer,
        lambda groups, group, given: found_answer(
            groups.search(given["q"], group, limit=given.get("limit", 5), threshold=given.get("threshold", THRESHOLD))
        ),
        ("q",),
    ),
    Operation(
        "GET",
        "/changes/{group_id}",
        "memory_changes",
        READ,
        "What changed in the last days, newest first",
        {"days": {**_DAYS, "default": 7}},
        MemoryChangesAnswer,
        lambda groups, group, given: changes_answer(groups.changes(group, days=given.get("days", 7))),
    ),
    Operation(
        "GET",
        "/history/{memory_id}",
        "memory_history",
        READ,
        "Every version and every change of one statement, oldest first",
        {},
        MemoryHistoryAnswer,
        lambda groups, memory, given: history_answer(groups.history(memory)),
    ),
    Operation(
        "PUT",
        "/restore/{memory_id}",
        "restore_memory",
        ADMIN,
        "Bring a deleted statement back, or what an earlier version said",
        {
            "version": {
                "type": "integer",
                "minimum": 0,
                "maximum": 1_000_000,
                "default": 0,
                "description": "Say again what this version said; 0: as it is",
            },
            "reason": _REASON,
        },
        MemoryChangeAnswer,
        lambda groups, memory, given: change_answer(groups.restore(memory, **given)),
    ),
    Operation(
        "PUT",
        "/strength/{memory_id}",
        "set_memory_strength",
        ADMIN,
        "Give a statement another strength",
        {"strength": {"type": "number", "minimum": 0, "maximum": 1}, "reason": _REASON},
        MemoryChangeAnswer,
        lambda groups, memory, given: change_answer(
            groups.set_strength(memory, given["strength"], reason=given.get("reason", ""))
        ),
        ("strength",),
    ),
    Operation(
        "DELETE",
        "/{memory_id}",
        "delete_memory",
        ADMIN,
        "Retire a statement; its versions stay",
        {"reason": _REASON},
        MemoryChangeAnswer,
        lambda groups, memory, given: change_answer(groups.delete(memory, **given)),
    ),
)
