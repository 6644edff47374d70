"""What `shiguan import --remember` asks the owner: exchanges of recorded messages go to the historian."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from historian.errors import InvalidInputError, NotFoundError, StoreError
from historian.events import EventStore
from historian.memory import ScopedMemory
from historian.session import Session
from historian.work import scope_from
from server.household import Household

SWITCHED_OFF = "The memory is switched off; set enabled = true in shiguan.toml, then import with --remember again."


class RememberRequests:
    """Answers requests of the operation `remember`. Thread-safe."""

    def __init__(self, household: Household) -> None:
        self._household = household

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Hand exchanges in, and return how many were known, could not be handed in, and wait in this scope.

        Where the request wants a `count`, how many statements there are in this scope, too.

        Raises:
            InvalidInputError: the memory is switched off.
        """
        if not self._household.live.enabled:
            raise InvalidInputError(SWITCHED_OFF)
        scope = scope_from(request["scope"])
        known = left_out = 0
        for exchange in request["exchanges"]:
            memory = self._household.memory.of(scope, _session(request, exchange))
            try:
                known += not _hand_in(memory, exchange)
            except (InvalidInputError, NotFoundError, StoreError):
                left_out += 1
        waiting = len(self._household.queue.unfinished(scope.owner.key))
        answer = {"known": known, "left_out": left_out, "waiting": waiting}
        if request.get("count"):
            answer["statements"] = EventStore(self._household.database).count(scope.owner)
        return answer


def _hand_in(memory: ScopedMemory, exchange: Mapping[str, Any]) -> bool:
    """Hand one exchange in and say whether it is new."""
    ids, facts = [*exchange["message_ids"]], exchange["facts"]
    if facts:
        return not memory.end(observations=facts, message_ids=ids).duplicate
    return memory.consider(ids)


def _session(request: Mapping[str, Any], exchange: Mapping[str, Any]) -> Session:
    """Return the session of an exchange: it was said then, and its statements are those of its message for good."""
    return Session(
        timezone=str(request["timezone"]),
        conversation_id=str(exchange["conversation_id"]),
        request_id=f"import:{exchange['message_ids'][0]}" if exchange["facts"] else None,
        end_seq=int(exchange["part"]) if exchange["facts"] else None,
        sender_name=request.get("name"),
        said_at=str(exchange["since"]) if exchange["facts"] else None,
    )
