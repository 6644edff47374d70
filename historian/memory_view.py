"""What a recall gives back: points with their evidence, what is uncertain and why, and both sides of a conflict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from historian.model import Role

Section = Literal["preferences", "profile", "constraints", "other"]
SECTIONS: tuple[Section, ...] = ("preferences", "profile", "constraints", "other")

Resolution = Literal["changed", "context", "open"]
"""`changed`: the later statement stands; `context`: both stand, each in its place; `open`: the evidence decides not."""


@dataclass(frozen=True, slots=True)
class Point:
    """One statement of a view, and the ids of the messages that prove it."""

    section: Section
    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """What a view says that a message says. What is None or empty was left open and is not compared."""

    message_id: str
    content: str = ""
    ts: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Doubt:
    """A statement that is not proven, why, and the ids of the messages that have to do with it."""

    text: str
    reason: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A view that somebody made, before it is verified."""

    points: tuple[Point, ...]
    quotes: tuple[Quote, ...] = ()
    uncertain: tuple[Doubt, ...] = ()
    limits: Mapping[str, object] = field(default_factory=dict[str, object])
    steps: tuple[str, ...] = ()

    def joined(self, other: Claim) -> Claim:
        """Return both claims as one, each point and quotation once."""
        return replace(
            self,
            points=tuple(dict.fromkeys((*self.points, *other.points))),
            quotes=tuple(dict.fromkeys((*self.quotes, *other.quotes))),
            uncertain=tuple(dict.fromkeys((*self.uncertain, *other.uncertain))),
        )


@dataclass(frozen=True, slots=True)
class Proof:
    """A message of the record as it is shown for evidence; `content` is cut where it ends in `…`. `ts` is aware."""

    message_id: str
    ts: datetime
    role: Role
    content: str
    sender_id: str | None = None
    sender_name: str | None = None
    conversation_id: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Messages that say opposite things about one point, earliest first, and what follows from that."""

    about: str
    resolution: Resolution
    sides: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Removed:
    """Something of a claim that the record does not bear out, and why."""

    message_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Within which bounds was looked; None is unbounded. `messages_considered` counts different messages."""

    since: str | None = None
    until: str | None = None
    role: str | None = None
    messages_considered: int = 0


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A view whose points are proven: each rests on messages that were re-read in scope.

    `stopped` says in one sentence which budget ended the search early, else it is empty. `notes` are further sentences.
    """

    points: tuple[Point, ...]
    evidence: tuple[Proof, ...]
    uncertain: tuple[Doubt, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    removed: tuple[Removed, ...] = ()
    limits: Limits = Limits()
    steps: tuple[str, ...] = ()
    stopped: str = ""
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    def section(self, name: Section) -> Sequence[Point]:
        """Return the points of one section, in order."""
        return [point for point in self.points if point.section == name]
