"""What the owner does for `shiguan group` and `shiguan evolve`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC
from typing import Any

from historian.errors import InvalidInputError
from historian.group_memory import ScopedGroups
from historian.group_model import STATUS_FILTERS
from historian.session import Session
from historian.work import scope_from
from historian.zones import parse_instant
from server.answers import Answer
from server.household import Household
from server.tools.group_results import changes_answer, evolve_answer, history_answer, memories_answer

Action = Callable[[ScopedGroups, Mapping[str, Any]], Answer]
LONGEST_PAGE = 200


class GroupRequests:
    """Answers the operation `group`, with what the tools of group memory answer."""

    def __init__(self, household: Household) -> None:
        self._household = household
        self._actions: dict[str, Action] = {
            "list": _list,
            "history": lambda groups, request: history_answer(groups.history(str(request["memory_id"]))),
            "changes": lambda groups, request: changes_answer(groups.changes(days=float(request["days"]))),
            "evolve": _evolve,
        }

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Do one action.

        Raises:
            InvalidInputError: the action is not known, no group is named, or a value is out of bounds.
            NotFoundError: there is no such memory in scope.
            NotConfiguredError, ModelError: the statements cannot evolve now.
        """
        action = self._actions.get(str(request["action"]))
        if action is None:
            raise InvalidInputError("The owner does not know this action; use the same version on both sides.")
        session = Session(timezone=str(request["timezone"]))
        groups = self._household.memory.of(scope_from(request["scope"]), session).groups
        return action(groups, request).model_dump(mode="json")


def _evolve(groups: ScopedGroups, request: Mapping[str, Any]) -> Answer:
    since = request["since"]
    return evolve_answer(groups.evolve(since=None if since is None else parse_instant(since, UTC)[0]))


def _list(groups: ScopedGroups, request: Mapping[str, Any]) -> Answer:
    status, limit = request["status"], int(request["limit"])
    if status not in STATUS_FILTERS or not 1 <= limit <= LONGEST_PAGE:
        raise InvalidInputError(f"status is active, deprecated or all, and limit is from 1 to {LONGEST_PAGE}.")
    return memories_answer(groups.list(status=status, limit=limit))
