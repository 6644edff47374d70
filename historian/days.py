"""Arithmetic on days, weeks, months and seasons, and the value a time expression stands for."""

from __future__ import annotations

import calendar as _calendar
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal

Grain = Literal["day", "week", "weekend", "month", "quarter", "year", "season", "instant"]
Lang = Literal["zh", "en"]
Period = Literal["am", "pm", "noon", "night", "dawn", ""]

SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


@dataclass(frozen=True, slots=True)
class Value:
    """A stretch of days. `at` is set for an instant, `name` where a part of it is meant (春天, 底, morning).

    `sure` is False where it is a guess: the words stay, and are flagged.
    """

    grain: Grain
    first: date
    last: date
    at: datetime | None = None
    name: str = ""
    sure: bool = True


@dataclass(frozen=True, slots=True)
class DateHit:
    """An expression that names a date, where it stands and what follows it that belongs to it."""

    start: int
    end: int
    value: Value
    lang: Lang
    part: str = ""
    period: Period = ""
    found: str = ""
    possessive: bool = False
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class ClockHit:
    """An expression that names a time of day. `hour` is 0 to 24 as said; `period` is the part of day said with it."""

    start: int
    end: int
    hour: int
    minute: int
    lang: Lang
    period: Period = ""
    exact: bool = False
    bare: bool = False


def day(d: date) -> Value:
    """Return the value of one day."""
    return Value("day", d, d)


_WEEKS_NEAR = 9
"""So far away a day is named by its weekday and number alone."""


def unsure(value: Value) -> Value:
    """Return a value as a guess."""
    return replace(value, sure=False)


def week(d: date, weeks: int = 0) -> Value:
    """Return the week (Monday to Sunday) of a day, so many weeks on."""
    monday = d - timedelta(days=d.weekday()) + timedelta(weeks=weeks)
    return Value("week", monday, monday + timedelta(days=6))


def weekend(d: date, weeks: int = 0) -> Value:
    """Return Saturday and Sunday of the week of a day, so many weeks on."""
    w = week(d, weeks)
    return Value("weekend", w.first + timedelta(days=5), w.last)


def month(d: date, months: int = 0, name: str = "") -> Value:
    """Return the month of a day, so many months on."""
    first = shift_months(d.replace(day=1), months)
    return Value("month", first, month_end(first), name=name)


def quarter(d: date, quarters: int = 0) -> Value:
    """Return the quarter of a day, so many quarters on."""
    first = shift_months(date(d.year, 3 * ((d.month - 1) // 3) + 1, 1), 3 * quarters)
    return Value("quarter", first, month_end(shift_months(first, 2)))


def year(number: int, name: str = "") -> Value:
    """Return a year."""
    return Value("year", date(number, 1, 1), date(number, 12, 31), name=name)


def month_end(d: date) -> date:
    """Return the last day of the month of a day."""
    return d.replace(day=_calendar.monthrange(d.year, d.month)[1])


def shift_months(d: date, months: int) -> date:
    """Move a day by calendar months; the day is clipped to the month's length."""
    index = d.year * 12 + d.month - 1 + months
    y, m = divmod(index, 12)
    return date(y, m + 1, min(d.day, _calendar.monthrange(y, m + 1)[1]))


def shift_instant(said_at: datetime, delta: timedelta) -> datetime:
    """Move an instant on the absolute time line and tell it in the speaker's zone again."""
    return (said_at.astimezone(UTC) + delta).astimezone(said_at.tzinfo)


def offset(said_at: datetime, unit: str, amount: float, sign: int) -> Value | None:
    """Return what `amount` units before (-1) or after (+1) an instant is, in the unit's own precision.

    Minutes and hours give an instant, days and weeks a day, months a month, years a year; half a month counts as
    15 days and half a year as 6 months. None when it lies outside the calendar.
    """
    today = said_at.date()
    try:
        if unit in {"second", "minute", "hour"}:
            seconds = {"second": 1, "minute": 60, "hour": 3600}[unit] * amount * sign
            at = shift_instant(said_at, timedelta(seconds=seconds))
            return Value("instant", at.date(), at.date(), at=at)
        if unit in {"day", "week"}:
            days = amount * (7 if unit == "week" else 1)
            return day(today + sign * timedelta(days=int(days))) if days == int(days) else None
        if unit == "month":
            whole, half = int(amount), amount != int(amount)
            moved = shift_months(today, sign * whole) + sign * timedelta(days=15 if half else 0)
            return day(moved) if whole == 0 else month(moved)
        if amount == int(amount):
            return year(today.year + sign * int(amount))
        return month(today, sign * int(amount * 12))
    except (ValueError, OverflowError):
        return None


def weekday_in(d: date, weekday: int, weeks: int = 0) -> Value:
    """Return a weekday (Monday is 0) of the week of a day, so many weeks on."""
    return day(week(d, weeks).first + timedelta(days=weekday))


def coming(d: date, weekday: int) -> Value:
    """Return the first such weekday after a day."""
    return day(d + timedelta(days=(weekday - d.weekday() - 1) % 7 + 1))


def most_recent(d: date, weekday: int) -> Value:
    """Return the last such weekday before a day."""
    return day(d - timedelta(days=(d.weekday() - weekday - 1) % 7 + 1))


def weekday_dated(d: date, weekday: int, number: int, *, past: bool) -> Value:
    """Return the next or last weekday with that number in its month (Thursday the 19th), else a guess."""
    near = (
        coming(d - timedelta(days=1), weekday).first if not past else most_recent(d + timedelta(days=1), weekday).first
    )
    weeks = (near + timedelta(weeks=-n if past else n) for n in range(_WEEKS_NEAR))
    found = next((one for one in weeks if one.day == number), None)
    return unsure(day(near)) if found is None else day(found)


def in_month(value: Value, number: int) -> Value | None:
    """Return the day of a month by its number, -1 for the last, or None when the month has no such day."""
    last = value.last.day
    number = last if number == -1 else number
    return day(value.first.replace(day=number)) if 1 <= number <= last else None


def in_year(value: Value, month_number: int) -> Value | None:
    """Return the month of a year by its number."""
    return month(date(value.first.year, month_number, 1)) if 1 <= month_number <= 12 else None


def month_by_name(d: date, month_number: int, direction: int) -> Value:
    """Return the last (-1) or next (+1) month of that number outside the current one, or this year's (0)."""
    y = d.year
    if direction < 0 and month_number >= d.month:
        y -= 1
    if direction > 0 and month_number <= d.month:
        y += 1
    return month(date(y, month_number, 1))
