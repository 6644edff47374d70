"""What the owner does for `shiguan context` and `shiguan migrate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from historian.errors import InvalidInputError
from historian.events import EventStore
from historian.model import Scope
from historian.session import Session
from historian.tombstones import Tombstones
from historian.work import scope_from
from server.household import Household
from server.tools.context_results import context_answer

MIGRATED = "migrate:"
"""Begins the request id of what came out of a file of summaries; the rest tells it from the others of the file."""


class TurnRequests:
    """Answers two operations of the control connection."""

    def __init__(self, household: Household) -> None:
        self._household = household

    def context(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return what to know before a message is answered."""
        session = Session(
            timezone=str(request["timezone"]),
            conversation_id=request.get("conversation_id"),
            sender_name=request.get("name"),
            group_name=request.get("group_name"),
        )
        view = self._household.memory.of(scope_from(request["scope"]), session).context(str(request["message"]))
        return {**context_answer(view).model_dump(mode="json"), "empty": view.is_empty}

    def migrate(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Close a turn for each summary, as it was at its time; one that is known or was forgotten changes nothing."""
        scope = scope_from(request["scope"])
        done: dict[str, Any] = {"queued": 0, "known": 0, "forgotten": 0, "failed": []}
        for index, record in enumerate(request["records"]):
            try:
                done[self._migrate(scope, record, request)] += 1
            except InvalidInputError as error:
                done["failed"].append([index, str(error)])
        return done

    def _migrate(self, scope: Scope, record: Mapping[str, Any], request: Mapping[str, Any]) -> str:
        request_id = f"{MIGRATED}{record['mark']}"
        event_id = f"{request_id}:0:0"
        if EventStore(self._household.database).named(scope.owner, event_id) is not None:
            return "known"
        was_forgotten = self._was_forgotten(scope, event_id)
        if was_forgotten and not request.get("again"):
            return "forgotten"
        session = Session(
            timezone=str(request["timezone"]),
            request_id=request_id,
            end_seq=0,
            sender_name=request.get("name"),
            said_at=record["at"],
        )
        closed = self._household.memory.of(scope, session).end(
            memo=record["memo"],
            observations=record["observations"],
            location=record["place"],
            force=was_forgotten,  # else it would be taken for a repeat of the call that was forgotten
        )
        if was_forgotten:
            with self._household.database.write() as connection:
                Tombstones(connection, scope.owner.key).lift("event", event_id)
        return "known" if closed.duplicate else "queued"

    def _was_forgotten(self, scope: Scope, event_id: str) -> bool:
        with self._household.database.read() as connection:
            return Tombstones(connection, scope.owner.key).has("event", event_id)
