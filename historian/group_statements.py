"""What is known of a group as a whole, as far as it goes into the context of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from historian.retrieval import Patience


@dataclass(frozen=True, slots=True)
class GroupStatement:
    """One active statement about a group. `strength` is 0..1, `at` when it was last confirmed, aware."""

    memory_id: str
    text: str
    strength: float
    at: datetime


class GroupStatements(Protocol):
    """Gives the statements that hold of one group. Whoever calls it has checked that the request may read the group."""

    def strongest(self, group_id: str, query: str, limit: int, patience: Patience) -> Sequence[GroupStatement]:
        """Return up to `limit` active statements of this group: those that fit `query` first, then the strongest.

        An empty query asks for the strongest ones. With `limit` 0, or for a group without statements, there are none.

        Raises:
            StoreError: they cannot be read now.
        """
        ...
