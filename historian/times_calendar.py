"""Finds days and months that are named without their year or month: 1月3日, 5号, June 30, the 31st, in January.

Where the sentence speaks of the past it is the last such day, where it announces something the next one. Elsewhere it
is a guess: the words stay and are flagged, save where they recur (a birthday, every month).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from historian import days
from historian.days import DateHit, Lang, Value
from historian.expressions_en import MONTHS
from historian.numerals import zh_number
from historian.patterns import lazy_pattern
from historian.said import Said

_DAY_ZH: Final = (
    "3[01]|[12][0-9]|0?[1-9]|三十一?|二十[一二三四五六七八九]?|十[一二三四五六七八九]?|[一二三四五六七八九]"
)
_MONTH_DAY_ZH: Final = lazy_pattern(
    rf"(?<![0-9一二三四五六七八九十年历月每腊正/.-])(?<!年\s)(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月(?P<day>{_DAY_ZH})[日号]"
)
_DAY_ONLY_ZH: Final = lazy_pattern(
    r"(?<![0-9零一二三四五六七八九十第每年月路街巷弄楼栋座A-Za-z./:-])(?<![月个第]\s)(?P<day>3[01]|[12][0-9]|[1-9])号"
    r"(?=\s*(?:[到至~—，。、！？；,.]|$|[前后以之]|早上|晚上|上午|下午|中午|我|你|他|她|在|去|来|要|交|回|开会|开学|就|会|搬|走|考|发工资|截止|体检|"
    r"放假|结|飞|出发|到期|还款|见))"
)
_MONTH_EN: Final = "|".join(name.capitalize() for name in MONTHS)
_MONTH_DAY_EN: Final = lazy_pattern(
    rf"\b(?P<on>(?i:on|by|until|till|before|after|since|from|for|to))\s(?:the\s)?(?:(?P<month>{_MONTH_EN})\s(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?|"
    rf"(?P<dom>[0-3]?[0-9])(?:st|nd|rd|th)?\s(?:of\s)?(?P<name>{_MONTH_EN}))\b"
    r"(?P<tail>\s?(?:to|until|-|–)\s?[0-3]?[0-9](?:st|nd|rd|th)?\b)?(?!,?\s\d|[:.]\d|-)"
)
_MONTH_ONLY_EN: Final = lazy_pattern(
    rf"\b(?P<on>(?i:in|by|until|till|before|since))\s(?P<month>{_MONTH_EN})\b(?!,?\s(?:of\s)?\d|-)"
)
_DAY_ONLY_EN: Final = lazy_pattern(
    r"\b(?:on|by|until|till|before|after|since|from)\sthe\s(?P<day>[0-3]?[0-9](?:st|nd|rd|th))"
    r"(?=\s*(?:$|[,.;!?])|\s(?:at|in\sthe\s(?:morning|afternoon|evening)|to|until|and|but|because|so|with|for|i|we|he|she|they|it)\b)",
    re.IGNORECASE,
)
_YEARLY: Final = lazy_pattern(
    r"每|生日|诞辰|纪念|周年|节|农历|阴历|正月|腊月|财年|\b(?:birthday|anniversary|born|every|each|holidays?|season|weather|"
    r"cold|hot|warm|rains?|snows?|fiscal|tax|summer|winter|spring|autumn|years?)\b",
    re.IGNORECASE,
)
_YEAR: Final = lazy_pattern(
    r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])|[去前今明后同当那]年|\b(?:last|next|this|that|same)\syear\b", re.IGNORECASE
)
_REARRANGED: Final = lazy_pattern(
    r"\b(?:reschedul|postpon|cancel)(?:l?ed)\b|\bcalled\soff\b|\b(?:was|were|been|got|being)\s(?:moved|pushed|shifted|brought)\b",
    re.IGNORECASE,
)
"""What was put off may have been meant for a day to come."""
_REACH: Final = 120


def find_dates(said: Said) -> Iterator[DateHit]:
    """Yield the days and months of a text that want their year or month."""
    for pattern, lang in ((_MONTH_DAY_ZH, "zh"), (_MONTH_DAY_EN, "en"), (_MONTH_ONLY_EN, "en")):
        for match in pattern.finditer(said.text):
            start = match.start() if lang == "zh" else match.end("on") + 1
            value = _in_year(said, match, start)
            if value is not None:
                yield _hit(match, start, value, "zh" if lang == "zh" else "en")
    for match in _DAY_ONLY_ZH.finditer(said.text):
        if not _recurs(said, match):
            yield _hit(match, match.start(), days.unsure(days.day(said.today)), "zh")
    for match in _DAY_ONLY_EN.finditer(said.text):
        if not _recurs(said, match):
            yield _hit(match, match.start("day") - 4, days.unsure(days.day(said.today)), "en")


def _hit(match: re.Match[str], start: int, value: Value, lang: Lang) -> DateHit:
    return DateHit(start, match.end(), value, lang, found=match.string[start : match.end()])


def _recurs(said: Said, match: re.Match[str]) -> bool:
    """Tell whether it comes again every year or month, or lies in a year or month that is named near by."""
    clauses, (start, end) = said.clauses, match.span()
    near = clauses.first(_YEAR, max(0, start - _REACH), end + _REACH)
    return near is not None or clauses.says(_YEARLY, start, end) or clauses.recurs(start, end)


def _in_year(said: Said, match: re.Match[str], start: int) -> Value | None:
    if _recurs(said, match):
        return None
    groups = match.groupdict()
    name, number = groups.get("month") or groups.get("name") or "", groups.get("day") or groups.get("dom") or ""
    month = MONTHS.index(name.lower()) + 1 if name.isalpha() and name.isascii() else zh_number(name)
    day = zh_number(number) if number else 1
    if month is None or day is None:
        return None
    past = said.clauses.is_past(start, match.end())
    found = _nearest(said.today, month, day, past=past)
    value = days.day(found) if number and found else days.month(found) if found else None
    past = past and not said.clauses.says(_REARRANGED, start, match.end())
    sure = (past or said.clauses.is_announced(start, match.end())) and not groups.get("tail")
    return value if value is None or sure else days.unsure(value)


def _nearest(today: date, month: int, day: int, *, past: bool) -> date | None:
    """Return the last such day before today, or the next one from today on; None where there is none near."""
    years = (today.year, today.year - 1) if past else (today.year, today.year + 1)
    for year in years:
        try:
            found = date(year, month, day)
        except ValueError:
            return None
        if (found < today) if past else (found >= today):
            return found
    return None
