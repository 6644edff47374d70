"""Dates and times as chat programs write them in many languages, and in which order a file has day and month."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Order = Literal["dmy", "mdy", "ymd"]

_EARLY = frozenset(["上午", "午前", "오전", "凌晨", "早上", "清晨", "sa", "fm", "am", "a.m.", "a.m", "ق.د", "qm"])
_LATE = frozenset(["下午", "午後", "오후", "晚上", "傍晚", "中午", "em", "pm", "p.m.", "p.m", "ch"])
_NOON = "中午"
HALVES = "|".join(sorted((re.escape(word) for word in (*_EARLY, *_LATE)), key=len, reverse=True))
"""What may stand for a half of the day, as a pattern; letter case does not matter."""
DATE = r"(?P<date>\d{1,4}(?P<mark>[./-]) ?\d{1,2}(?P=mark) ?\d{1,4})\.?"
TIME = (
    rf"(?:(?P<before>{HALVES}) ?)?(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})(?:[:.](?P<second>\d{{2}}))?"
    rf"(?: ?(?P<after>[ap]\. ?m\.?|{HALVES}))?"
)
_ENOUGH = 5_000


@dataclass(frozen=True, slots=True)
class Stamp:
    """The numbers of a date, in the order in which they were written, and a time of day."""

    numbers: tuple[int, int, int]
    hour: int
    minute: int
    second: int
    twelve: bool

    def at(self, order: Order) -> datetime | None:
        """Return the time without a zone, or None where there is no such day."""
        year, month, day = _ordered(self.numbers, order)
        try:
            return datetime(year if year > 99 else 2000 + year, month, day, self.hour, self.minute, self.second)
        except ValueError:
            return None


def stamp(heading: re.Match[str]) -> Stamp | None:
    """Return what the groups of `DATE` and `TIME` say, or None where that is no time."""
    one, two, three = (int(number) for number in re.findall(r"\d+", heading["date"]))
    half = (heading["before"] or heading["after"] or "").lower().replace(" ", "")
    hour, minute, second = int(heading["hour"]), int(heading["minute"]), int(heading["second"] or 0)
    if half and hour <= 12:
        hour = _hour(hour, half)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return Stamp((one, two, three), hour, minute, second, bool(half))


def _hour(hour: int, half: str) -> int:
    late = half in _LATE or half.startswith("p")
    if half == _NOON:
        return hour if hour >= 11 else hour + 12
    if hour == 12:
        return 12 if late else 0
    return hour + 12 if late else hour


def order_of(stamps: Iterable[Stamp], mark: str) -> Order:
    """Return the order in which the dates of a file are written.

    A number over 12 decides, then which order never goes back in time, then the custom: with AM and PM and slashes the
    month comes first.
    """
    seen: list[Stamp] = []
    for one in stamps:
        first, second, _ = one.numbers
        if first > 31:
            return "ymd"
        if first > 12:
            return "dmy"
        if second > 12:
            return "mdy"
        seen.append(one)
        if len(seen) >= _ENOUGH:
            break
    backwards = {order: _backwards(seen, order) for order in ("dmy", "mdy")}
    if backwards["dmy"] != backwards["mdy"]:
        return "dmy" if backwards["dmy"] < backwards["mdy"] else "mdy"
    return "mdy" if mark == "/" and any(one.twelve for one in seen) else "dmy"


def _backwards(stamps: Sequence[Stamp], order: Order) -> int:
    times = [at for at in (one.at(order) for one in stamps) if at is not None]
    return sum(later < earlier for earlier, later in itertools.pairwise(times))


def _ordered(numbers: tuple[int, int, int], order: Order) -> tuple[int, int, int]:
    one, two, three = numbers
    match order:
        case "ymd":
            return one, two, three
        case "dmy":
            return three, two, one
        case "mdy":
            return three, one, two
