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

_SENTENCE: Final = lazy_pattern(r"[。！？!?\n]|\.\s")
_APART: Final = lazy_pattern("[;；]")
_OTHER: Final = lazy_pattern(
    r"[，,；;](?!\s?(?:[，,；;]|我|然后|再|并|就|又|才|之?后|(?:and\s)?(?:I|we|he|she|they|then|comes?|returns?|returning|fly|flies|go|goes|"
    r"coming|back|flying|on|until|till)\b))[^，,；;]+\Z",
    re.IGNORECASE,
)
"""Before the weekday: somebody else, whose way back it may be (我周五去北京，小王周四回来)."""
_RETURN: Final = lazy_pattern(
    r"返[回程校工岗航]|(?<![几每次这那首上下])(?<!(?<![周期拜])[一二三四五六两])回(?![忆顾答复应想收馈访报避])|"
    r"\b(?:back|return(?:s|ing|ed)?|until|till)\b",
    re.IGNORECASE,
)
_LATEST: Final = lazy_pattern(r"\b(?:by|before)\s$", re.IGNORECASE)
_LISTED: Final = lazy_pattern(r"\s?(?:和|跟|与|、|或者?|以及|,?\s?(?:and|or)|,|&|/)\s?(?:on\s)?", re.IGNORECASE)
_ISO: Final = lazy_pattern(r"(?<![0-9-])(\d{4}-\d{2}-\d{2})(?![0-9-])")
_REACH: Final = 120
_DAYS: Final = frozenset({"day", "week", "weekend"})


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
    return found


def _following(said: Said, before: _Before, hit: DateHit) -> DateHit:
    _, right = said.clauses.bounds(hit.start, hit.end)
    returns = _RETURN.search(said.text, before.end, max(right, hit.end)) is not None
    first = before.value
    if first is None or _SENTENCE.search(said.text, before.end, hit.start):
        early = first is not None and said.today <= hit.value.first < first.first
        return guessed(hit) if returns and (first is None or early) else hit
    if returns:
        return _returning(said, before.end, right, first, hit)
    listed = _APART.search(said.text, before.end, hit.start) or _LISTED.fullmatch(said.text, before.end, hit.start)
    early = said.today <= hit.value.first < first.first and first.grain in _DAYS
    return guessed(hit) if early and not listed else hit


def _returning(said: Said, begin: int, right: int, first: Value, hit: DateHit) -> DateHit:
    """Return the day of a way back, which comes after the first day. `begin` and `right` bound what is said of it."""
    found, today = hit.value.first, said.today
    past = found < today
    if not past and first.first < today:
        return hit
    if past and first.first >= today:
        if "才" not in said.text[begin:right]:
            return guessed(hit)
        past = False  # 周三才回: not before then
    if first.grain not in _DAYS:
        return guessed(hit) if found < first.first else hit
    start = first.first - timedelta(days=0 if first.grain == "day" else 1)
    wanted = days.coming(start, found.weekday())
    doubtful = found == first.first or (past and wanted.first >= today)
    if wanted != hit.value:
        latest = _LATEST.search(said.text, max(0, hit.start - 8), hit.start)
        doubtful = doubtful or latest is not None or _OTHER.search(said.text, begin, hit.start) is not None
    return guessed(hit) if doubtful else replace(hit, value=wanted)


def guessed(hit: DateHit) -> DateHit:
    """Return a date as one that stays and is flagged."""
    return replace(hit, value=days.unsure(hit.value))
