"""Orders the dates of one sentence: who leaves on a day comes back on a later one, never on one before it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from historian import days
from historian.days import DateHit, Value
from historian.patterns import lazy_pattern
from historian.said import Said

_SENTENCE: Final = lazy_pattern(r"[。！？!?\n；;]|\.\s")
_RETURN: Final = lazy_pattern(
    r"返[回程校工岗航]|(?<![几每次这那首上下])(?<!(?<![周期拜])[一二三四五六两])回(?![忆顾答复应想收馈访报避])|"
    r"\b(?:back|return(?:s|ing|ed)?|until|till)\b",
    re.IGNORECASE,
)
_LATEST: Final = lazy_pattern(r"\b(?:by|before)\s$", re.IGNORECASE)
_LISTED: Final = lazy_pattern(r"\s?(?:和|跟|与|、|或者?|以及|,?\s?(?:and|or)|,|&|/)\s?(?:on\s)?", re.IGNORECASE)
_ISO: Final = lazy_pattern(r"(?<![0-9-])(\d{4}-\d{2}-\d{2})(?![0-9-])")
_REACH: Final = 120


@dataclass(frozen=True, slots=True)
class _Before:
    """The date that a weekday may follow, and where it ends. `value` is None where the date cannot be read."""

    end: int
    value: Value | None


def in_order(said: Said, hits: Iterable[DateHit]) -> list[DateHit]:
    """Return the dates with each bare weekday behind the one before it; where that is a guess, it is marked unsure."""
    placed: list[DateHit] = []
    for hit in hits:
        before = _before(said, placed[-1] if placed else None, hit) if hit.prefix == "bare" else None
        placed.append(_following(said, before, hit) if before else hit)
    return placed


def _before(said: Said, last: DateHit | None, hit: DateHit) -> _Before | None:
    """Return the date nearest before a weekday in its sentence: one that was found, or an absolute one."""
    text, low = said.text, max(0, hit.start - _REACH)
    found = _Before(last.end, last.value) if last is not None and last.end >= low and last.value.sure else None
    absolute = said.clauses.dated_before(found.end if found else low, hit.start)
    if absolute is not None:
        iso = _ISO.fullmatch(text, *absolute)
        found = _Before(absolute[1], days.day(date.fromisoformat(iso[1])) if iso else None)
    if found is None or _SENTENCE.search(text, found.end, hit.start):
        return None
    return found


def _following(said: Said, before: _Before, hit: DateHit) -> DateHit:
    _, right = said.clauses.bounds(hit.start, hit.end)
    returns = _RETURN.search(said.text, before.end, max(right, hit.end)) is not None
    first, today, found = before.value, said.today, hit.value.first
    if first is None:
        return guessed(hit) if returns else hit
    if not returns:
        listed = _LISTED.fullmatch(said.text, before.end, hit.start) is not None
        early = today <= found < first.first and first.grain in {"day", "week", "weekend"}
        return guessed(hit) if early and not listed else hit
    past = found < today
    if past != (first.first < today):
        return hit
    if first.grain not in {"day", "week", "weekend"}:
        return guessed(hit) if found < first.first else hit
    start = first.first - timedelta(days=0 if first.grain == "day" else 1)
    wanted = days.coming(start, found.weekday())
    if (past and wanted.first >= today) or (
        wanted != hit.value and _LATEST.search(said.text, max(0, hit.start - 8), hit.start)
    ):
        return guessed(hit)
    return replace(hit, value=wanted)


def guessed(hit: DateHit) -> DateHit:
    """Return a date as one that stays and is flagged."""
    return replace(hit, value=days.unsure(hit.value))
