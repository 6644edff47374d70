"""What the owner does for `shiguan rewrite` and `shiguan audit`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from historian.audit import Auditor
from historian.errors import InvalidInputError, NotConfiguredError
from historian.events import EventStore
from server.household import Household

MOST_SHOWN = 1000
SWITCHED_OFF = "The memory is switched off; write enabled = true in shiguan.toml to have its events phrased again."


class LookingAfter:
    """Answers two operations of the control connection."""

    def __init__(self, household: Household) -> None:
        self._household = household

    def rewrite(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Have the events of one turn phrased again, the first one behind the row `after`; say where to go on.

        Raises:
            InvalidInputError: the memory is switched off.
            NotConfiguredError: there is no model for it.
        """
        if not self._household.live.enabled:
            raise InvalidInputError(SWITCHED_OFF)
        upgrader = self._household.historian.upkeep.upgrader
        if not self._household.chat.configured("rewrite"):
            raise NotConfiguredError("There is no chat model to phrase events again; set chat.base_url and chat.model.")
        after, everything = int(request.get("after", 0)), bool(request.get("all"))
        waiting = upgrader.amendments.count(everything=everything, after=after)
        done = upgrader.turn(after=after, everything=everything)
        if done is None:
            return {"waiting": 0, "looked_at": 0, "better": 0, "after": None, "away": False}
        return {
            "waiting": waiting,
            "looked_at": done.looked_at,
            "better": done.better,
            "after": done.last,
            "away": done.is_away,
        }

    def audit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return what `Auditor` finds."""
        household = self._household
        auditor = Auditor(household.database, EventStore(household.database), household.profiles.store)
        limit = max(1, min(int(request.get("limit", 20)), MOST_SHOWN))
        return asdict(auditor.run(limit))
