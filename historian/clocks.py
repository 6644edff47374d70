"""Finds times of day in Chinese and English (八点半, 下午3:20, 3pm) and puts them on the 24-hour clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from historian.days import ClockHit, Period
from historian.numerals import en_number, zh_number
from historian.patterns import compile_shared, lazy_pattern, pick
from historian.tense import Clauses
from historian.times_zh import PART, PARTS

_HOUR: Final = "二十[一二三四]?|十[一二三四五六七八九]?|[零一二两三四五六七八九]|2[0-4]|1[0-9]|0?[0-9]"
_MINUTE: Final = (
    r"(?P<minute>[1-5][0-9]|0[0-9]|[二三四五]?十[一二三四五六七八九]?|零[一二三四五六七八九]|"
    r"[一二三四五六七八九0-9](?=分))分?"
)
_NO_CLOCK_AFTER: Final = (
    r"(?!建议|意见|要求|原因|理由|内容|水|东西|儿|也|都|心|评(?![审选标估])|赞|外卖|菜|击|燃|亮|头|子|歌|餐|名|啦|啊?点|一线|几|多|来钟|左右逢|"
    r"[^，。；！？\s]{1,4}[都也][没不]|区别|问题|想法|看法|体会|启示|胃口|事|没|不)"
)
_ZH: Final = lazy_pattern(
    rf"(?:(?P<part>{PART}|(?<!每)[早晚](?!一点)|(?<=[昨今明前])[早晚])\s?的?\s?)?(?<![0-9.:：第有差零一二三四五六七八九十百\-/])(?:"
    rf"(?P<h>{_HOUR})\s?(?:点(?P<sharp>钟|整)?|时(?=\s?(?:整|[0-9]{{1,2}}分|半|[，。,前后到至]|$))整?){_NO_CLOCK_AFTER}"
    rf"(?:(?P<half>半)|(?P<quarter>[一三])刻|\s?{_MINUTE}(?!\s?[人个位名件次元块台辆斤米页]|公里|%))?(?!多|几)"
    r"|(?P<dh>[01]?[0-9]|2[0-4])[:：](?P<dm>[0-5][0-9])(?![0-9:：])(?=[^A-Za-z]{2}|.?$|\s?[^A-Za-z\s]))"
)
_H12: Final = "(?:1[0-2]|0?[1-9])"
_HOURS: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_HALF_DAY: Final = r"(?P<ap>[ap]\.m\.(?!\s*$|\s+(?-i:[A-Z]))|[ap]\.?m\b)"
_IN_PART: Final = r"(?:\s(?P<in>in\sthe\s(?:morning|afternoon|evening)|at\snight))?"
_FLAGS: Final = re.IGNORECASE
_CLOSES: Final = (
    r"\s*(?:$|[^\sA-Za-z0-9:%/-])|\s(?:in\sthe|at\snight|tonight|tomorrow|today|yesterday|this|next|last|on|sharp|and|but|"
    r"because|so|with|for|if|i|we|he|she|they|mon|tue|wed|thu|fri|sat|sun)"
)
_MINUTES_TO: Final = (
    rf"(?<!from\s)(?<!between\s)(?:(?<=\bat\s)(?:10|20|5)|ten|twenty|five)\sto(?=\s(?:{_H12}|{_HOURS})\b(?:{_CLOSES}))"
)
"""`ten to five` as a time; `from 10 to 11` and `ten to twelve eggs` count from one number to another."""
_EN: Final = compile_shared(
    r"(?<![A-Za-z0-9_.:/$€£%-])(?:"
    rf"(?P<h1>{_H12})(?::(?P<m1>[0-5][0-9]))?\s?{_HALF_DAY}"
    rf"|(?P<h2>{_H12}|{_HOURS})\s?o['’]clock{_IN_PART}"
    rf"|(?P<past>half\spast|quarter\spast|(?:a\s)?quarter\sto|(?:ten|twenty|five|10|20|5)\spast|{_MINUTES_TO})\s"
    rf"(?P<h3>{_H12}|{_HOURS})\b(?!:\d|[.,]\d|\s?%){_IN_PART}"
    rf"|(?P<h4>[01]?[0-9]|2[0-3]):(?P<m4>[0-5][0-9])(?![0-9:]){_IN_PART}"
    r"|(?<!quarter\sto\s)(?<!quarter\spast\s)(?<!half\spast\s)(?P<word>noon|midday|midnight)\b"
    rf"|(?<=\bat\s)(?P<h5>{_H12}|{_HOURS})\b(?![:%/-]|\.\d|\s?(?:am|pm|a\.m|p\.m)){_IN_PART}"
    r"(?=\s*(?:$|[^\sA-Za-z0-9])|\s(?:and|with|for|to|in|on|at|or|but|sharp|tonight|tomorrow|today|yesterday|this|next|last|"
    r"if|because|so|until|till|i|we|you|he|she|it|they)\b)"
    rf"|(?P<h6>{_H12})(?=\s(?:tonight|this\s(?:morning|afternoon|evening)|tomorrow\s(?:morning|night|evening|afternoon))\b)"
    rf"|(?P<h8>{_H12})(?=\s(?:to|until|till)\s{_H12}(?::[0-5][0-9])?\s?[ap]\.?m\b(?!\s[a-z]+ing\b))"
    rf"|(?:(?<=from\s)|(?<=between\s))(?P<h7>{_H12})(?=\s?(?:to|and|-|–|until|till)\s?{_H12}(?::[0-5][0-9])?\s?[ap]\.?m)"
    r")",
    _FLAGS,
)
_SPAN_BEFORE: Final = lazy_pattern(r"\b(?:from|between)\s$", _FLAGS)
_LATER: Final = lazy_pattern(
    rf"\s?(?:to|(?P<and>and)|-|–|until|till)\s?(?P<hour>{_H12})(?::[0-5][0-9])?\s?(?P<half>[ap])\.?m", _FLAGS
)
_WORKING: Final = lazy_pattern(
    r"会议|开会|面试|见面|客户|上课|答辩|讲座|下午茶|接孩子|meeting|interview|call\b|sync|standup|review|appointment|lecture|class\b|tea\b",
    re.IGNORECASE,
)
_WAKING: Final = lazy_pattern(r"起床|早餐|早饭|晨跑|日出|breakfast|wake|woke|get up|got up|sunrise", re.IGNORECASE)
_LATE: Final = lazy_pattern(
    r"睡(?![醒过懒眠]|到)|(?:加班|忙|熬夜?|玩|喝|聊|学习|工作|打游戏)[^，。；！？]{0,3}到|才(?:到家|回|下班|睡|走)|"
    r"\b(?:go(?:es)?|going|went|got)\sto\s(?:bed|sleep)\b|\b(?:fell|falls?)\sasleep\b|\b(?:stay(?:s|ed)?\sup|up|work(?:s|ed)?(?:\slate)?)\s(?:un)?till?\b",
    re.IGNORECASE,
)
"""What is done at ten at night rather than in the morning."""
_DINING: Final = lazy_pattern(r"晚饭|晚餐|电影|聚餐|dinner|supper|movie|concert|party|drinks", re.IGNORECASE)


def find_clocks(text: str) -> Iterator[ClockHit]:
    """Yield every time of day in a text, as it was said."""
    for match in _ZH.finditer(text):
        hit = _zh_hit(match)
        if hit is not None:
            yield hit
    for match in _EN.finditer(text):
        yield _carried(text, _en_hit(match))


def _zh_hit(match: re.Match[str]) -> ClockHit | None:
    part = {"早": "早上", "晚": "晚上"}.get(match["part"] or "", match["part"] or "")
    start, end = match.span()
    if match["dh"]:
        return ClockHit(start, end, int(match["dh"]), int(match["dm"]), "zh", PARTS.get(part, ""), exact=True)
    hour = zh_number(match["h"])
    if hour is None:
        return None
    minute = 30 if match["half"] else {"一": 15, "三": 45}.get(match["quarter"] or "", 0)
    if match["minute"]:
        minute = zh_number(match["minute"].replace("零", "").lstrip("0") or "零") or 0
    sure = bool(part or match["sharp"] or match["half"] or match["quarter"] or match["minute"])
    return ClockHit(start, end, hour, minute, "zh", PARTS.get(part, ""), bare=not sure)


def _en_hit(match: re.Match[str]) -> ClockHit:
    start, end = match.span()
    period = _en_period(match)
    if match["word"]:
        hour = 12 if match["word"].lower() != "midnight" else 0
        return ClockHit(start, end, hour, 0, "en", "noon" if hour else "night", exact=bool(hour))
    if match["past"]:
        hour, minute = _spoken(match["past"].lower(), en_number(match["h3"]) or 0)
        return ClockHit(start, end, hour, minute, "en", period)
    if match["h4"]:
        return ClockHit(start, end, int(match["h4"]), int(match["m4"]), "en", period, exact=not period)
    hour = en_number(match["h1"] or match["h2"] or match["h5"] or match["h6"] or match["h7"] or match["h8"]) or 0
    bare = bool(match["h5"] or match["h6"] or match["h7"] or match["h8"])
    return ClockHit(start, end, hour, int(match["m1"] or 0), "en", period, exact=bool(match["ap"]), bare=bare)


def _carried(text: str, hit: ClockHit) -> ClockHit:
    """Give the first hour of `between 3 and 5pm` the half of the day of the second; `from 11 to 1pm` begins before."""
    later = _LATER.match(text, hit.end) if not hit.period and 0 < hit.hour <= 12 else None
    if later is None or (later["and"] and not _SPAN_BEFORE.search(text, max(0, hit.start - 8), hit.start)):
        return hit
    afternoon = (later["half"].lower() == "p") == (hit.hour % 12 <= int(later["hour"]) % 12)
    return replace(hit, period="pm" if afternoon else "am", exact=False, bare=False)


def _en_period(match: re.Match[str]) -> Period:
    half = (match["ap"] or "").lower()[:1]
    if half:
        return "am" if half == "a" else "pm"
    said = pick(match, "in").lower().split()
    last = said[-1] if said else ""
    periods: dict[str, Period] = {"morning": "am", "afternoon": "pm", "evening": "pm", "night": "night"}
    return periods.get(last, "")


def _spoken(words: str, hour: int) -> tuple[int, int]:
    amount = {"half": 30, "quarter": 15, "a": 15, "ten": 10, "twenty": 20, "five": 5}
    first = words.split(maxsplit=1)[0]
    minutes = amount[first] if first in amount else int(first)
    if words.endswith("to"):
        return (hour - 1 or 12, 60 - minutes)
    return hour, minutes


_IN_PERIOD: Final[dict[Period, Callable[[int], tuple[int, int]]]] = {
    "am": lambda hour: (hour, 0),
    "dawn": lambda hour: (hour, 0),
    "noon": lambda hour: (hour if hour >= 9 else hour + 12, 0),
    "pm": lambda hour: (hour + 12, 0),
    "night": lambda hour: (hour, 1) if hour <= 4 else (hour + 12, 0),
}


def to_24_hours(hit: ClockHit, period: Period, clauses: Clauses) -> tuple[int, int] | None:
    """Return the hour (0–23) and by how many days it lies after the date said, or None when that is a guess.

    `period` is the part of day, from the clock itself or its date. 晚上十二点 and 昨晚一点 belong to the day after.
    """
    hour = hit.hour
    if hour >= 13:
        return (0, 1) if hour == 24 else (hour, 0)
    if period:
        return _IN_PERIOD[period](12 if period == "am" and hour == 12 and hit.lang == "zh" else hour % 12)
    if hit.exact or hour == 0:
        return (hour, 0)
    if hour >= 8:
        return None if clauses.says(_LATE, hit.start, hit.end) else (hour, 0)
    return _by_what_is_done(hit, clauses)


def _by_what_is_done(hit: ClockHit, clauses: Clauses) -> tuple[int, int] | None:
    """Read an hour from 1 to 7 without a part of day by what happens then: a meeting at 3 is in the afternoon."""
    if clauses.says(_WAKING, hit.start, hit.end):
        return (hit.hour, 0)
    if clauses.says(_DINING, hit.start, hit.end) and hit.hour >= 5:
        return (hit.hour + 12, 0)
    if clauses.says(_WORKING, hit.start, hit.end) and hit.hour <= 6:
        return (hit.hour + 12, 0)
    return None
