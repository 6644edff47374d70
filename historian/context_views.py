"""What is offered before a message is answered, as plain frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

SectionName = Literal["pinned", "profile", "events", "group_profile", "group_memories", "memos"]


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One thing to know. `source` names where it comes from, as `event`, `note`, `memory`, `memo` or `profile`."""

    text: str
    source: str
    source_id: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ContextSection:
    """Things of one kind, most useful first. `left_out` counts those for which there was no room."""

    name: SectionName
    items: tuple[ContextItem, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ContextView:
    """What to know before answering. `tokens` is the estimate for `text`, `degraded` names what did not work."""

    text: str
    sections: tuple[ContextSection, ...]
    tokens: int
    degraded: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not self.sections
