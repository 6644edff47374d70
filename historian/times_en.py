"""Finds English expressions that name a date relative to the day of speaking: last Friday, two weeks ago, tonight."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from historian import days
from historian.days import DateHit, Value
from historian.expressions_en import (
    AFTER_DAY,
    AFTER_OBJECT,
    AGO,
    ARRANGED,
    ATTRIBUTE,
    BARE_WEEKDAY,
    CHAINED,
    DAY_WORD,
    HAD_DONE,
    IN,
    IS_DAY,
    LASTING,
    LASTS_FROM,
    MONTH_OF_YEAR,
    MONTHS,
    NAMED_AFTER,
    NAMED_BEFORE,
    NOT_DONE,
    NOT_IN,
    OF_DAYS,
    OF_SPAN,
    PARTS,
    PERIOD,
    SCHEDULED,
    SEASON,
    SHORT,
    SPENT,
    SURNAME_AFTER,
    TITLE_AFTER,
    TITLE_BEFORE,
    WEEK_ON,
    WEEKDAY_STEP,
    WEEKDAYS,
)
from historian.numerals import en_number, en_ordinal
from historian.patterns import came_from, lazy_pattern, pick
from historian.phrasing import starts_sentence
from historian.said import Build, Said, within_calendar


def find_dates(said: Said) -> Iterator[DateHit]:
    """Yield every English expression of a date in a text, with the value it has when said at an instant."""
    text = said.text
    for pattern, build in _FINDERS:
        for match in pattern.finditer(text):
            value = within_calendar(build, match, said)
            if value is not None:
                yield _hit(match, value)


def _hit(match: re.Match[str], value: Value) -> DateHit:
    part = pick(match, "part").lower()
    night = pick(match, "night").lower()
    part = part or {"tonight": "night", "last\u0020night": "night"}.get(" ".join(night.split()), "")
    part = part or ("night" if pick(match, "far").lower().endswith("last") else "")
    part = part or pick(match, "thispart").lower()[5:]
    return DateHit(
        match.start(),
        match.end(),
        value,
        "en",
        part=part,
        period=PARTS.get(part, ""),
        found=match.group(),
        possessive=match.string[match.end() : match.end() + 2] in {"'s", "’s"},
        prefix=_direction(match),
    )


def _direction(match: re.Match[str]) -> str:
    """Return how a weekday was pointed at (`last`, `next`, `this`, `bare`), for the one joined to it by `and`, `to`."""
    if came_from(match, BARE_WEEKDAY):
        return "bare"
    return pick(match, "step").lower() if came_from(match, WEEKDAY_STEP) else ""


def weekday_number(word: str) -> int:
    """Return 0 for Monday to 6 for Sunday, of a full or short English name."""
    word = word.lower()
    return WEEKDAYS.index(word) if word in WEEKDAYS else SHORT[word]


_AIMED: Final = lazy_pattern(
    r"(?:\b(?:on|by|for|to|from|until|till|since|before|after)\s|[.!?,]\s?|^\s?)$", re.IGNORECASE
)
_FULL: Final = {"tmrw": "tomorrow", "tmr": "tomorrow"}


def _day_word(match: re.Match[str], said: Said) -> Value | None:
    text, today = match.string, said.today
    near = pick(match, "near").lower()
    if near:
        if TITLE_BEFORE.search(text, max(0, match.start() - 12), match.start()):
            return None
        if TITLE_AFTER.match(text, match.end()):
            return None
        shift = {"yesterday": -1, "today": 0, "tomorrow": 1}[_FULL.get(near, near)]
    elif re.search(r"\b(?:Day|Night)\b", match.group()) and not starts_sentence(text, match.start()):
        return None  # a title: The Day After Tomorrow
    elif pick(match, "far"):
        shift = -2 if "before" in pick(match, "far").lower() else 2
    else:
        shift = -1 if pick(match, "night").lower().startswith("last") else 0
    return days.day(today + timedelta(days=shift))


def _amount(match: re.Match[str]) -> tuple[str, float] | None:
    unit = {"min": "minute", "hr": "hour", "night": "day"}.get(
        pick(match, "unit").lower().rstrip("s"), pick(match, "unit").lower().rstrip("s")
    )
    number = 0.5 if pick(match, "half") else float(en_number(pick(match, "n")) or 0)
    number += 0.5 if not pick(match, "half") and (pick(match, "and") or pick(match, "tail")) else 0
    if unit == "fortnight":
        unit, number = "week", number * 2
    if number <= 0 or (number == 0.5 and unit in {"day", "week"}):
        return None
    return unit, number


def _ago(match: re.Match[str], said: Said) -> Value | None:
    found = _amount(match)
    if found is None or re.search(
        r"\b(?:than|over|nearly|almost|under)\s$", match.string[max(0, match.start() - 8) : match.start()]
    ):
        return None
    if CHAINED.search(match.string, max(0, match.start() - 16), match.start()):
        return None
    way = pick(match, "way").lower()
    if way.startswith("from") and _lasts(match):
        return None
    if pick(match, "anniversary") and found[0] in {"year", "month"}:
        months = int(found[1] * (12 if found[0] == "year" else 1))
        return days.day(days.shift_months(said.today, -months))
    if found[0] == "weekend":
        return days.weekend(said.today, -int(found[1])) if way == "ago" and found[1] == int(found[1]) else None
    base = said.at + timedelta(days={"tomorrow": 1, "yesterday": -1}.get(way.split()[-1], 0))
    return days.offset(base, *found, -1 if way == "ago" else 1)


def _lasts(match: re.Match[str]) -> bool:
    """Tell whether an amount is a stretch that begins on the day named: `for 3 nights from Friday`."""
    nights = pick(match, "unit").lower().startswith("night")
    return nights or LASTING.search(match.string, max(0, match.start() - 24), match.start()) is not None


def _after_day(match: re.Match[str], said: Said) -> Value | None:
    found = _amount(match)
    ago = pick(match, "way").lower().startswith("ago")
    if found is None or found[0] not in ({"day", "week", "month", "year"} if ago else {"day", "week"}):
        return None
    if not pick(match, "way").lower().startswith("ago") and _lasts(match):
        return None
    sign = -1 if pick(match, "way").lower().startswith(("before", "ago")) else 1
    today = said.today
    if pick(match, "base"):
        base = today + timedelta(days={"tomorrow": 1, "yesterday": -1, "today": 0}[pick(match, "base").lower()])
    else:
        number = weekday_number(pick(match, "wd"))
        past = sign < 0 or pick(match, "step").lower() == "last"
        base = (days.most_recent(today, number) if past else days.coming(today, number)).first
    if found[0] in {"month", "year"}:
        return days.day(days.shift_months(base, sign * int(found[1] * (12 if found[0] == "year" else 1))))
    return days.day(base + sign * timedelta(days=int(found[1]) * (7 if found[0] == "week" else 1)))


def _week_on(match: re.Match[str], said: Said) -> Value | None:
    """Return the day of `Monday week`, `tomorrow week`: a week after the one that is named."""
    if pick(match, "base"):
        base = said.today + timedelta(days=1 if pick(match, "base").lower() == "tomorrow" else 0)
    else:
        base = days.coming(said.today, weekday_number(pick(match, "wd"))).first
    return None if said.clauses.is_habit(*match.span()) else days.day(base + timedelta(days=7))


def _in(match: re.Match[str], said: Said) -> Value | None:
    text, start, end = match.string, match.start(), match.end()
    left, _ = said.clauses.bounds(start, end)
    if pick(match, "in").lower() == "within" or re.match(
        r"\s(?:of|and\s(?:\d{1,2}|an?|one|two|three|four|five|six)\s(?:month|week|day|hour|minute|min)s?\b|a\srow|total|or\s(?:less|more|so)|flat)\b|['’]s?\b",
        text[end : end + 24],
    ):
        return None
    if (
        said.clauses.first(NOT_IN, left, start) is not None
        or said.clauses.first(NOT_DONE, left, start) is not None
        or said.clauses.is_past(start, end)
        or said.clauses.is_habit(start, end)
    ):
        return None
    found = _amount(match)
    return days.offset(said.at, *found, 1) if found else None


def _weekday_step(match: re.Match[str], said: Said) -> Value | None:
    today, text = said.today, match.string
    word = pick(match, "wd")
    number = weekday_number(word)
    if word[0].isupper() and pick(match, "step")[:1].isupper() and not starts_sentence(text, match.start()):
        return None
    if OF_SPAN.match(text, match.end()):
        return None
    if pick(match, "rel"):
        near = days.most_recent(today, number) if "last" in pick(match, "rel") else days.weekday_in(today, number, 1)
        return days.day(near.first + timedelta(days=-7 if "last" in pick(match, "rel") else 7))
    in_week = pick(match, "wstep")
    if in_week:
        return days.weekday_in(today, number, {"last": -1, "next": 1}.get(in_week.lower().split()[-1], 0))
    if len(word) < 5 and not word[0].isupper():
        return None
    return pointed(today, pick(match, "step"), number, past=said.clauses.is_past(*match.span()))


def pointed(today: date, step: str, number: int, *, past: bool) -> Value:
    """Return the weekday that `last`, `next`, `this`, `coming` or no word before it points at."""
    word = " ".join(step.lower().split())
    if word in {"last", "past", "this past"}:
        return days.most_recent(today, number)
    if word == "next":
        return days.weekday_in(today, number, 1)
    if word == "this":
        here = days.weekday_in(today, number)
        return here if here.first >= today or past else days.coming(today, number)
    return days.most_recent(today, number) if past and word == "bare" else days.coming(today, number)


def _bare_weekday(match: re.Match[str], said: Said) -> Value | None:
    text, start, end = match.string, match.start(), match.end()
    before = text[max(0, start - 24) : start]
    name_end = match.end("wd") if pick(match, "nth") and not _AIMED.search(before) else end
    if NAMED_BEFORE.search(before) or NAMED_AFTER.match(text, name_end) or IS_DAY.search(before):
        return None
    named = before[-1:].isspace() and not re.search(
        r"\b(?:on|by|for|to|of|from|until|till|since|before|after)\s$", before
    )
    if named and not before.rstrip().endswith((".", "!", "?")) and SURNAME_AFTER.match(text, end):
        return None
    owned = ATTRIBUTE.search(before) is not None and not (before.endswith("her ") and AFTER_OBJECT.match(text, end))
    if not _AIMED.search(before) and OF_DAYS.match(text, end):
        return None
    if owned or said.clauses.recurs(start, end):
        return None
    aimed = re.search(r"\b(?:to|for|by|till)\s$", before, re.IGNORECASE) is not None
    aimed = aimed and not (before.lower().endswith("by ") and said.clauses.says(HAD_DONE, start, end))
    since = re.search(r"\bsince\s(?:early\s|late\s)?$", before, re.IGNORECASE) is not None
    scheduled = SCHEDULED.search(text, max(0, start - 48), start) is not None
    past = since or (not aimed and not scheduled and said.clauses.is_past(start, end))
    lasting = past and LASTS_FROM.search(text, max(0, start - 48), start) is not None
    arranged = lasting and said.clauses.says(ARRANGED, start, end)
    number = weekday_number(pick(match, "wd") or pick(match, "short"))
    if pick(match, "nth"):
        return days.weekday_dated(said.today, number, int(pick(match, "nth")), past=past)
    found = pointed(said.today, "bare", number, past=past and not arranged)
    guess = (lasting and not arranged and not said.clauses.says(SPENT, start, end)) or said.clauses.may_recur(
        start, end
    )
    return days.unsure(found) if guess else found


def _span(today: date, unit: str, count: int) -> Value:
    if unit == "week":
        return days.week(today, count)
    if unit == "weekend":
        return days.weekend(today, count)
    if unit == "month":
        return days.month(today, count)
    return days.quarter(today, count) if unit == "quarter" else days.year(today.year + count)


def _period(match: re.Match[str], said: Said) -> Value | None:
    text, today = match.string, said.today
    if pick(match, "rel"):
        return _span(today, pick(match, "unit2").lower(), -2 if "last" in pick(match, "rel").lower() else 2)
    step, unit = " ".join(pick(match, "step").lower().split()), pick(match, "unit").lower()
    counts = {"last": -1, "next": 1, "this": 0, "coming": 1, "this coming": 1, "past": -1, "this past": -1}
    before = text[max(0, match.start() - 6) : match.start()].lower()
    if (
        (before.endswith("the ") and not pick(match, "lead"))
        or step == "past"
        or re.match(r"\sof\b", text[match.end() : match.end() + 4])
    ):
        return None
    count = counts[step] if not (unit == "weekend" and step == "this coming") else 0
    if unit == "weekend" and step == "this" and today.weekday() < 4 and said.clauses.is_past(*match.span()):
        count = -1  # early in the week, a weekend that is over is the last one
    found = _span(today, unit, count)
    if pick(match, "lead_dom"):
        number = -1 if pick(match, "lead_dom").lower().startswith("last") else en_ordinal(pick(match, "lead_dom"))
        return days.in_month(found, number) if number and unit == "month" else None
    return found


def _month_of_year(match: re.Match[str], said: Said) -> Value | None:
    name = pick(match, "month").lower()
    if pick(match, "month") in {"may", "march"} and pick(match, "step").lower() == "this":
        return None  # the verb
    number, today = MONTHS.index(name) + 1, said.today
    step = (pick(match, "ystep") or "").lower()
    if step:
        found = days.in_year(days.year(today.year + {"last": -1, "next": 1}.get(step, 0)), number)
    else:
        direction = {"last": -1, "past": -1, "this past": -1, "next": 1, "coming": 1}.get(
            pick(match, "step").lower(), 0
        )
        found = days.month_by_name(today, number, direction)
    dom = pick(match, "dom")
    ordinal = en_ordinal(dom) if dom else None
    return days.in_month(found, ordinal) if found and ordinal else found


def _season(match: re.Match[str], said: Said) -> Value | None:
    today, name = said.today, pick(match, "season").lower()
    if name == "winter":
        return None  # a winter has two years, and which one is meant depends on the speaker
    first = days.SEASONS[name]
    number = today.year
    step = pick(match, "step").lower()
    if step == "last" and today.month < first + 3:
        number -= 1
    if step == "next" and today.month >= first:
        number += 1
    return days.year(number, name)


_FINDERS: Final[tuple[tuple[re.Pattern[str], Build], ...]] = (
    (AFTER_DAY, _after_day),
    (WEEK_ON, _week_on),
    (AGO, _ago),
    (IN, _in),
    (DAY_WORD, _day_word),
    (MONTH_OF_YEAR, _month_of_year),
    (WEEKDAY_STEP, _weekday_step),
    (PERIOD, _period),
    (SEASON, _season),
    (BARE_WEEKDAY, _bare_weekday),
)
