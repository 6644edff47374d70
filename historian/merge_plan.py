"""What shall become of a profile: changes of lines by their text, so that it can be carried out on a later version."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal

from historian.merge import Statement
from historian.model import Owner
from historian.profile import ProfileLine

Action = Literal["confirm", "update", "remove"]

PASSING = "it passes soon"


@dataclass(frozen=True, slots=True)
class Page:
    """What one merge looks at: lines and statements that are all shown in the same place, so that no line can leave it.

    `hidden` counts the lines of that place that the page has no room for.
    """

    entity: Owner
    place: str
    lines: tuple[ProfileLine, ...]
    statements: tuple[Statement, ...]
    name: str | None
    names: tuple[str, ...]
    now: datetime
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of the line that says `line`. `events` are those of the new statements that it follows from.

    A removed line that is `covered_by` the line of that text leaves its receipts there.
    """

    action: Action
    line: str
    text: str = ""
    events: tuple[str, ...] = ()
    covered_by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Addition:
    """A new line and the events of the statements that it rests on."""

    text: str
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A merge that can be carried out. Lines that it does not name stay as they are.

    `passing` are the events of statements that belong into no profile.
    """

    place: str
    changes: tuple[Change, ...] = ()
    additions: tuple[Addition, ...] = ()
    passing: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def text_of(self, line: str) -> str:
        """Return what the line that says `line` says afterwards."""
        changed = [one.text for one in self.changes if one.action == "update" and one.line == line]
        return changed[0] if changed else line

    def encode(self) -> str:
        """Return it as JSON text."""
        return json.dumps(asdict(self), ensure_ascii=False)


def verbatim(place: str, statements: Sequence[Statement]) -> Plan:
    """Return the plan that adds each statement as a line."""
    return Plan(place, additions=tuple(Addition(one.text, (one.event_id,)) for one in statements))


def decode_plan(text: str) -> Plan:
    """Return what `Plan.encode` wrote."""
    raw: dict[str, Any] = json.loads(text)
    return Plan(
        place=raw["place"],
        changes=tuple(replace(Change(**one), events=tuple(one["events"])) for one in raw["changes"]),
        additions=tuple(Addition(one["text"], tuple(one["events"])) for one in raw["additions"]),
        passing=tuple(raw["passing"]),
        tags=tuple(raw["tags"]),
    )
