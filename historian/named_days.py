"""The days that a question names: 5月3日, May 3rd, in May 2023, 2023-05-03, and 昨天, last week."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime

from historian import times_en, times_zh
from historian.days import month_end
from historian.expressions_en import MONTHS
from historian.message_ranking import Days
from historian.patterns import lazy_pattern
from historian.said import Said
from historian.tense import Clauses

MOST = 8
"""Expressions of one question that are looked at."""

_NUMBERS = {name[:length]: number for number, name in enumerate(MONTHS, 1) for length in (3, len(name))} | {"sept": 9}
_MONTH = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_DAY = r"[0-3]?\d(?:st|nd|rd|th)?"
_ENGLISH = lazy_pattern(
    rf"(?<![\w-])(?:(?P<in>(?:in|during|since|of|by|until|last|this|next|early|mid|late)\s+)(?:early\s+|mid\s+|late\s+)?)?"
    rf"(?:(?P<before>{_DAY})\s+(?:of\s+)?)?(?P<month>{_MONTH})\b\.?(?:\s+(?P<after>{_DAY})(?![\w:]))?(?:,?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
_CHINESE = lazy_pattern(
    r"(?:(?P<year>(?:19|20)\d\d)\s*年\s*)?(?<!\d)(?P<month>1[0-2]|0?[1-9])\s*月(?:份|\s*(?P<day>3[01]|[12]\d|0?[1-9])\s*[日号號])?(?![的]?前)"
)
_NUMERIC = lazy_pattern(r"(?<![\d.])(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?(?![\d.])")
_WORDLIKE = frozenset({"may", "march", "mar", "dec", "jan", "jun", "sep", "oct", "nov", "apr", "aug", "feb", "jul"})
_UP_TO = lazy_pattern(r"\s*(?:-|–|—|~|to|until|till|through|至|到)\s*\Z", re.IGNORECASE)
_AND = lazy_pattern(r"\s*(?:and|和|与)\s*\Z", re.IGNORECASE)
_BETWEEN = lazy_pattern(r"\bbetween\s+\Z", re.IGNORECASE)
_LEAP = 2000
"""The year that stands for any: it has every day."""

_Found = tuple[int, int, Days]


def named_days(text: str, asked_at: datetime) -> tuple[Days, ...]:
    """Return the days that a text names. `asked_at` is aware and in the asker's zone; relative days count from it."""
    absolute = sorted([*_english(text), *_months(text, _CHINESE), *_months(text, _NUMERIC)], key=lambda one: one[:2])
    found = [days for _, _, days in _joined(text, absolute[:MOST])]
    taken = [(start, end) for start, end, _ in absolute]
    said = Said(text, asked_at, Clauses(text))
    for hit in [*times_zh.find_dates(said), *times_en.find_dates(said)][:MOST]:
        if not any(start < hit.end and hit.start < end for start, end in taken):
            found.append(Days(hit.value.first, hit.value.last))
    return tuple(dict.fromkeys(found))


def _english(text: str) -> Iterator[_Found]:
    for match in _ENGLISH.finditer(text):
        day = match["before"] or match["after"]
        sure = match["in"] or day or match["year"]
        name = match["month"]
        if not sure and (name.lower() in _WORDLIKE or not name[0].isupper()):
            continue  # "may", "march" are words, too
        if match["in"] and match["in"].split()[0].lower() in {"last", "this", "next"} and not (day or match["year"]):
            continue  # relative
        number = int(re.sub(r"\D", "", day)) if day else None
        days = _days(match["year"], _NUMBERS[name.lower()], number)
        if days is not None:
            yield match.start("before") if match["before"] else match.start("month"), match.end(), days


def _months(text: str, pattern: re.Pattern[str]) -> Iterator[_Found]:
    for match in pattern.finditer(text):
        days = _days(match["year"], int(match["month"]), int(match["day"]) if match["day"] else None)
        if days is not None:
            yield match.start(), match.end(), days


def _days(year: str | None, month: int, day: int | None) -> Days | None:
    try:
        first = date(int(year) if year else _LEAP, month, day or 1)
    except ValueError:
        return None
    return Days(first, first if day else month_end(first), yearly=year is None)


def _joined(text: str, found: list[_Found]) -> Iterator[_Found]:
    """Make one stretch of two days that are its ends: May 3 to May 7, between August 11 and August 15 2023."""
    waiting: _Found | None = None
    for one in found:
        if waiting is None:
            waiting = one
            continue
        start, end, days = waiting
        between = text[end : one[0]]
        both = _UP_TO.match(between) or (_AND.match(between) and _BETWEEN.search(text[:start]))
        joint = _stretch(days, one[2]) if both else None
        if joint is None:
            yield waiting
            waiting = one
        else:
            waiting = (start, one[1], joint)
    if waiting is not None:
        yield waiting


def _stretch(one: Days, other: Days) -> Days | None:
    """Return the days from one to the other; the first end takes the year of the last, as it is said."""
    first = one.first
    if one.yearly and not other.yearly:
        try:
            first = first.replace(year=other.first.year)
        except ValueError:
            return None
    yearly = one.yearly and other.yearly
    return Days(first, other.last, yearly) if first <= other.last and (yearly or not other.yearly) else None
