"""Brings dates and clock times of one text together: which date an hour belongs to, and what stays as it is."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from historian import times_zh
from historian.clocks import to_24_hours
from historian.days import ClockHit, DateHit, Period, coming, day
from historian.patterns import lazy_pattern
from historian.phrasing import clock_text
from historian.said import Said
from historian.sequences import guessed, in_order

_TO: Final = lazy_pattern(r"\s?(?:到|至|-|–|—|~|～|to|through|thru|until|till)\s?(?:on\s)?", re.IGNORECASE)
_AND: Final = lazy_pattern(r"\s?(?:和|跟|与|、|或者?|以及|,\s?and|,|and|or|&|/)\s?(?:on\s)?", re.IGNORECASE)
_SAME_DAY: Final = lazy_pattern(r"\s?(?:是|就是|,|，|\(|（|is|was)?\s?(?:a\s)?", re.IGNORECASE)
_CLOCK_AFTER: Final = lazy_pattern(
    r"\s?(?:[,，]\s?)?(?:的|在|于|大概|大约|差不多)?(?:at|around|about|by|before|after|from|on|@|for|until|till|between)?(?:\s(?:around|about))?\s?",
    re.IGNORECASE,
)
_CLOCK_BEFORE: Final = lazy_pattern(r"\s?(?:[,，]\s?)?(?:on|of|the)?\s?", re.IGNORECASE)
_MOVED: Final = lazy_pattern(
    r"[改推调挪移换]|提前|\b(?:mov|shift|chang|reschedul|postpon|push|brought|bring|swap|switch)\w*", re.IGNORECASE
)
"""What is moved may go to an earlier day."""
_SENTENCE: Final = lazy_pattern(r"[。！？!?\n；;]|\.\s")
_ROUTINE: Final = lazy_pattern(
    r"起床|睡觉|[上下]班|营业|[开关]门|打烊|开放|闭馆|\b(?:opens?|closes?|wakes?\sup|gets?\sup|goes?\sto|starts?\swork|hours)\b",
    re.IGNORECASE,
)
_OPENING_HOURS: Final = lazy_pattern(
    r"[上下]班|营业|[开关]门|打烊|开放|闭馆|上课|\b(?:open|opens|opening|closed|closes|hours|works?|available|business)\b",
    re.IGNORECASE,
)
_PRECISE: Final = lazy_pattern(
    r"\b(?:meeting|interview|appointment|flight|train|dinner|lunch|breakfast|call|remind|meet|review|deadline|due|demo|"
    r"starts?|begins?|standup|sync|see you|arrives?|leaves?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PlacedClock:
    """A time of day in 24 hours, and the date to set beside it where none stands there."""

    start: int
    end: int
    text: str
    on: date | None
    chinese: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What to replace. A date comes with whether its part of day is kept; `unclear` spans stay and are flagged."""

    dates: tuple[tuple[DateHit, bool], ...]
    clocks: tuple[PlacedClock, ...]
    unclear: tuple[tuple[int, int], ...]


def link(said: Said, dates: Iterable[DateHit], clocks: Iterable[ClockHit]) -> Plan:
    """Return the plan for a text."""
    kept = in_order(said, _weekdays(said, _disjoint(dates)))
    linker = _Linker(said, kept)
    for clock in _trimmed(clocks, kept):
        with suppress(OverflowError):  # the night after the last day of the calendar
            linker.add(clock)
    return linker.plan()


def _disjoint(hits: Iterable[DateHit]) -> list[DateHit]:
    chosen: list[DateHit] = []
    for hit in sorted(hits, key=lambda h: (h.start, -h.end)):
        if not chosen or hit.start >= chosen[-1].end:
            chosen.append(hit)
    return chosen


def _weekdays(said: Said, hits: list[DateHit]) -> list[DateHit]:
    """Drop weekdays that comment another date, and open ranges; let a second weekday follow the first one's week."""
    text, clauses = said.text, said.clauses
    kept: list[DateHit] = []
    dropped_end = -1
    for i, hit in enumerate(hits):
        before = text[hits[i - 1].end : hit.start] if i else None
        after = text[hit.end : hits[i + 1].start] if i + 1 < len(hits) else None
        if hit.prefix != "bare":
            kept.append(hit)
            continue
        if clauses.comments_date(hit.start, hit.end):
            continue
        joined = before is not None and (_TO.fullmatch(before) or _AND.fullmatch(before))
        if joined and _TO.fullmatch(before or "") and (hits[i - 1].end == dropped_end):
            if kept and kept[-1].end == dropped_end:
                kept.append(guessed(hit))
            continue
        if after is not None and _TO.fullmatch(after) and hits[i + 1].prefix == "bare":
            dropped_end = hit.end
            if _is_once(said, hit, hits[i + 1]):
                kept.append(guessed(hit))
            continue
        if joined and kept and kept[-1].end == hits[i - 1].end and kept[-1].prefix not in {"", "bare"}:
            hit = _following(said, kept[-1], hit)  # noqa: PLW2901
        elif after is not None and _TO.fullmatch(after) and hits[i + 1].value.first > said.today:
            hit = _moved(said, hit)  # noqa: PLW2901
        elif _comments(hits[i - 1] if i else None, before) or _comments(
            hits[i + 1] if after is not None else None, after
        ):
            continue
        kept.append(hit)
    return _forward(said, _apart(kept))


def _forward(said: Said, hits: list[DateHit]) -> list[DateHit]:
    """Return the dates; what would end a stretch before it begins is a guess (from Friday through next Wednesday)."""
    checked = hits[:1]
    for hit in hits[1:]:
        first = checked[-1]
        backwards = first.value.sure and hit.value.last < first.value.first
        joined = backwards and _TO.fullmatch(said.text, first.end, hit.start) is not None
        moved = joined and said.clauses.says(_MOVED, first.start, hit.end)
        checked.append(guessed(hit) if joined and not moved else hit)
    return checked


def _apart(hits: list[DateHit]) -> list[DateHit]:
    """Return the dates; the second of `this Friday or next Friday` is a guess where it would be the first."""
    these = {hit.value.first for hit in hits if hit.prefix == "this"}
    return [guessed(hit) if hit.prefix == "next" and hit.value.first in these else hit for hit in hits]


def _is_once(said: Said, first: DateHit, last: DateHit) -> bool:
    """Tell whether a stretch of two weekdays is no opening hours or working week, so that its dates are wanted."""
    if first.value.first.weekday() == 0 or said.clauses.says(_OPENING_HOURS, first.start, last.end):
        return False
    return not said.clauses.recurs(first.start, last.end)


def _moved(said: Said, hit: DateHit) -> DateHit:
    """Return a weekday from which something was moved to a day to come as one to come (from Friday to next Tuesday)."""
    if re.search(r"\bfrom\s$|[从由自]$", said.text[max(0, hit.start - 6) : hit.start], re.IGNORECASE) is None:
        return hit
    return replace(hit, value=coming(said.today, hit.value.first.weekday()))


def _comments(other: DateHit | None, gap: str | None) -> bool:
    if other is None or gap is None or other.prefix or other.value.grain != "day" or len(gap) > 6:
        return False
    return _SAME_DAY.fullmatch(gap) is not None


def _following(said: Said, first: DateHit, second: DateHit) -> DateHit:
    """Return a bare weekday that is joined to `last Monday`, `下周一` in the same week or direction."""
    if first.lang == "zh":
        found = times_zh.same_week(first.value, second.found)
        return replace(second, value=day(found), prefix=first.prefix) if found else second
    number = second.value.first.weekday()
    if first.prefix == "next":
        shift = (number - first.value.first.weekday()) % 7
        return replace(second, value=day(first.value.first + timedelta(days=shift)), prefix=first.prefix)
    if first.prefix not in {"last", "past"}:
        return second
    base = first.value.first
    after = replace(second, value=day(base + timedelta(days=(number - base.weekday()) % 7)), prefix=first.prefix)
    return after if after.value.first < said.today else guessed(after)


def _trimmed(clocks: Iterable[ClockHit], dates: list[DateHit]) -> list[ClockHit]:
    """Return the clock times in order, without what a date covers already (the 下午 of 昨天下午三点)."""
    starts = [hit.start for hit in dates]
    chosen: list[ClockHit] = []
    for clock in sorted(clocks, key=lambda c: (c.start, -c.end)):
        i = bisect_left(starts, clock.start + 1) - 1
        start = max(clock.start, dates[i].end) if i >= 0 else clock.start
        overlaps_next = i + 1 < len(dates) and dates[i + 1].start < clock.end
        if start >= clock.end or overlaps_next or (chosen and start < chosen[-1].end):
            continue
        chosen.append(replace(clock, start=start))
    return chosen


def _after_midnight(clock: ClockHit, hit: DateHit) -> tuple[int, int] | None:
    """Return the hour of 今晚凌晨一点: it belongs to the day after the one whose night is named."""
    if hit.period != "night" or clock.period != "dawn" or clock.hour % 12 > 5:
        return None
    return clock.hour % 12, 1


class _Linker:
    """Places clock times one after the other."""

    def __init__(self, said: Said, dates: list[DateHit]) -> None:
        self._text = said.text
        self._clauses = said.clauses
        self._dates = dates
        self._starts = [hit.start for hit in dates]
        self._keep_part = [True] * len(dates)
        self._today = said.today
        self._clocks: list[PlacedClock] = []
        self._unclear: list[tuple[int, int]] = []
        self._last: tuple[ClockHit, Period, date, int] | None = None
        self._breaks = [match.start() for match in _SENTENCE.finditer(said.text)]

    def plan(self) -> Plan:
        """Return what was placed."""
        dates = zip(self._dates, self._keep_part, strict=True)
        guesses = [(hit.start, hit.end) for hit in self._dates if not hit.value.sure]
        return Plan(
            tuple((hit, part) for hit, part in dates if hit.value.sure),
            tuple(self._clocks),
            (*self._unclear, *guesses),
        )

    def add(self, clock: ClockHit) -> None:
        """Place one clock time: in a range, beside a date, in a sentence with a date, or alone."""
        i = bisect_left(self._starts, clock.start)
        if self._continues_range(clock):
            return
        if i > 0 and _CLOCK_AFTER.fullmatch(self._text, self._dates[i - 1].end, clock.start):
            self._beside(clock, i - 1)
        elif i < len(self._dates) and _CLOCK_BEFORE.fullmatch(self._text, clock.end, self._dates[i].start):
            self._beside(clock, i)
        elif self._clauses.comments_date(clock.start, clock.end):
            return
        else:
            self._apart(clock, i)

    def _place(
        self, clock: ClockHit, period: Period, on: date, hours: tuple[int, int], *, show: bool, index: int
    ) -> None:
        hour, shift = hours
        moved = on + timedelta(days=shift)
        shown = moved if show or (shift and index < 0) else None
        chinese = clock.lang == "zh"
        words = clock_text(hour, clock.minute)
        self._clocks.append(PlacedClock(clock.start, clock.end, words, shown, chinese))
        self._last = (clock, period, moved, hour)

    def _continues_range(self, clock: ClockHit) -> bool:
        """Place the second time of 三点到五点: same date, same part of day, unless it names its own."""
        if self._last is None:
            return False
        first, period, on, first_hour = self._last
        if not _TO.fullmatch(self._text, first.end, clock.start):
            return False
        hours = to_24_hours(clock, clock.period or period, self._clauses)
        if hours is None and first_hour >= 12 and clock.hour < 12:
            hours = (clock.hour + 12, 0)
        if hours is not None:
            self._place(
                clock, clock.period or period, on, (hours[0], hours[1] and int(hours[0] > 12)), show=False, index=0
            )
        return True

    def _beside(self, clock: ClockHit, i: int) -> None:
        hit = self._dates[i]
        if hit.value.grain != "day" or (clock.bare and clock.hour == 1 and not (clock.period or hit.period)):
            return
        period = hit.period if hit.period and not (clock.period and clock.period != "night") else clock.period
        if hit.period == "night" and clock.period in {"am", "night"} and clock.lang == "en":
            hours: tuple[int, int] | None = (
                (clock.hour % 12, 1) if clock.period == "am" or clock.hour % 12 == 0 else None
            )
            hours = hours or to_24_hours(clock, "night", self._clauses)
        else:
            hours = _after_midnight(clock, hit) or to_24_hours(clock, period, self._clauses)
        if hours is None:
            self._unclear.append((clock.start, clock.end))
            return
        if hours[1]:
            moved = day(hit.value.first + timedelta(days=hours[1]))
            self._dates[i] = replace(hit, value=moved)
        self._keep_part[i] = False
        self._place(clock, period, hit.value.first, hours, show=False, index=i)

    def _apart(self, clock: ClockHit, i: int) -> None:
        """Place a clock time that stands away from any date."""
        near = self._date_in_sentence(clock, i)
        if near is not None:
            if clock.bare and (clock.hour == 1 or clock.lang == "en"):
                return
            hours = _after_midnight(clock, near) or to_24_hours(clock, clock.period or near.period, self._clauses)
            if hours is not None:
                self._place(clock, clock.period, near.value.first, hours, show=False, index=-1)
            return
        if self._is_of_today(clock):
            hours = to_24_hours(clock, clock.period, self._clauses)
            if hours is not None:
                self._place(clock, clock.period, self._today, hours, show=True, index=-1)

    def _date_in_sentence(self, clock: ClockHit, i: int) -> DateHit | None:
        for j in (i - 1, i):
            if 0 <= j < len(self._dates) and self._dates[j].value.grain == "day":
                low, high = sorted((clock.start, self._dates[j].start))
                if bisect_left(self._breaks, low) == bisect_left(self._breaks, high) and high - low < 120:
                    return self._dates[j]
        return None

    def _is_of_today(self, clock: ClockHit) -> bool:
        """Tell whether a clock time without a date is one of today: no habit, no opening hour, no other date near."""
        clauses, start, end = self._clauses, clock.start, clock.end
        if clock.bare or clauses.recurs(start, end) or clauses.is_dated(start, end):
            return False
        if clock.lang == "zh" and not clock.period:
            return False
        definite = clauses.is_past(start, end) or clauses.is_announced(start, end)
        if not definite and clauses.is_beside_habit(start, end):
            return False
        if clock.lang == "zh":
            return definite or not clauses.says(_ROUTINE, start, end)
        at = re.search(
            r"\b(?:at|by|before|until|till|after|around|from)\s$", self._text[max(0, start - 8) : start], re.IGNORECASE
        )
        return at is not None and (definite or clauses.says(_PRECISE, start, end))
