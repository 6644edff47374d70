"""A text, when it was said, and what its clauses speak of: what every finder of times is given."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

from historian.days import Value
from historian.tense import Clauses

Build = Callable[[re.Match[str], "Said"], Value | None]
"""Says what a found expression means, or None where it is not what it looks like."""


@dataclass(frozen=True, slots=True)
class Said:
    """`at` is aware and in the speaker's zone."""

    text: str
    at: datetime
    clauses: Clauses

    @property
    def today(self) -> date:
        """The day on which it was said, on the speaker's calendar."""
        return self.at.date()


def within_calendar(build: Build, match: re.Match[str], said: Said) -> Value | None:
    """Return what an expression means, or None where that lies outside the years 1 to 9999."""
    try:
        return build(match, said)
    except (ValueError, OverflowError):
        return None
