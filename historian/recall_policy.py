"""Where a question is looked for first: the table of the recall skill as rules, and when a search is widened."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from historian.evidence_views import EvidenceItem
from historian.message_question import understand

DEFAULT_DAYS, LATELY_DAYS, LAST_TIME_DAYS, HABIT_DAYS = 30, 7, 30, 180
THIN = 3
"""With fewer messages a search is widened."""

_DAYS = (
    (re.compile(r"上一?次|最后一次|\blast time\b|\bmost recent(?:ly)?\b", re.IGNORECASE), LAST_TIME_DAYS),
    (
        re.compile(r"最近|这几天|近来|这阵子|刚才|刚刚|\b(?:recent(?:ly)?|lately|these days|just now)\b", re.I),
        LATELY_DAYS,
    ),
    (
        re.compile(r"习惯|通常|一般|总是|平时|每[天周月]|\b(?:habits?|usual(?:ly)?|always|every|routine)\b", re.I),
        HABIT_DAYS,
    ),
)


@dataclass(frozen=True, slots=True)
class Window:
    """Within which bounds is looked. Times are aware, `until` is exclusive; None is unbounded."""

    since: datetime | None
    until: datetime | None
    role: str | None

    def filters(self) -> Mapping[str, object]:
        """Return it as a search takes it."""
        times = {name: at.isoformat() for name, at in (("since", self.since), ("until", self.until)) if at is not None}
        return {"role": self.role, "time_range": times}


def windows(
    question: str, now: datetime, since: datetime | None, until: datetime | None, role: str | None
) -> Iterator[Window]:
    """Yield where to look, narrow first. What the caller asked for (`since`, `until`, `role`) is never widened.

    A question that names days finds them by rank, so that its time is not narrowed.
    """
    asked = understand(question, (), now).wanted
    whose = role or asked.role or "user"
    is_bound = since is not None or until is not None
    if not is_bound and not asked.days:
        days = next((days for pattern, days in _DAYS if pattern.search(question)), DEFAULT_DAYS)
        yield Window(now - timedelta(days=days), None, whose)
        if days < HABIT_DAYS:
            yield Window(now - timedelta(days=HABIT_DAYS), None, whose)
    yield Window(since, until, whose)
    if role is None:
        yield Window(since, until, None)


def is_thin(items: Sequence[EvidenceItem]) -> bool:
    """Say whether a search found too little to go by."""
    return len(items) < THIN
