"""Ids and numbers in a text, normalised so that equal values compare equal: 三只猫 and 3 cats, 3万 and 30,000."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from historian.numerals import en_number, zh_number
from historian.patterns import lazy_pattern

_MEASURES = (
    "个只条张把本位名台辆件套家间次遍回颗粒块片朵棵株杯碗瓶盒包袋箱斤克吨米岁天周年月日号点时分秒倍元"
    "角层楼度双对支枝头匹架艘所座篇首部种类"
    "期届章节页行列项例组队批份场局轮届万亿公千美人口步厘毫升平磅"
)
_DIGIT = "[零〇一二两三四五六七八九]"
_ZH = r"[零〇一二两三四五六七八九十百千]{1,9}"
_UNITS = (
    "am|pm|st|nd|rd|th|km|kg|cm|mm|ml|gb|mb|tb|kb|gib|mib|ghz|mhz|hz|ms|min|mins|hrs?|sec|px|pt|fps|rpm|kwh|kw|mah|"
    "m|g|s|h|l|t|x|v|w|b|d|°c|c|f"
)
_EN_WORDS = (
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|"
    r"seven|eight|nine))?|"
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    r"seventeen|eighteen|nineteen"
)
_REMEMBERED_LENGTH = 500
_SCALES = {"万": 10_000, "亿": 100_000_000, "k": 1000, "千": 1000, "百": 100, "million": 1_000_000, "thousand": 1000}


@cache
def _ids() -> re.Pattern[str]:
    """Every branch is one maximal run of characters, so the search is linear in the text."""
    return re.compile(r"https?://[^\s，。；、（）“”《》]+|[@#A-Za-z0-9][A-Za-z0-9@._:/#+-]*")


@cache
def _no_ids() -> re.Pattern[str]:
    """Match what begins like an id and is a measure, a number, a span of numbers, or one of years."""
    return re.compile(
        rf"(?i:\d{{1,24}}(?:\.\d{{1,12}})?(?:{_UNITS}|k))|\d+(?:\.\d+)?(?:[-/:]\d{{1,2}})*|(?:19|20)\d\d-(?:19|20)\d\d"
    )


@cache
def _moments() -> re.Pattern[str]:
    """Match dates and clock times in digits, whose parts are numbers and not ids."""
    return re.compile(
        r"(?<![0-9A-Za-z_#.-])\d{4}-\d{1,2}(?:-\d{1,2})?(?:T\d{1,2}(?::\d{2}){1,2}(?:\.\d+)?(?:Z|"
        r"[+-]\d{2}:?\d{2})?)?(?![0-9A-Za-z-])"
        r"|(?<![0-9A-Za-z])\d{1,4}/\d{1,2}(?:/\d{1,4})?(?![0-9A-Za-z/])"
        r"|(?<!\d)\d{1,2}[:：]\d{2}(?:[:：]\d{2})?(?!\d)"
    )


@cache
def _numbers() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<percent>百分之){_ZH}"
        rf"|(?P<digits>(?<![0-9.A-Za-z_])\d{{1,24}}(?:,\d{{3}}){{0,6}}(?:\.\d{{1,12}})?)(?:\s?(?P<scale>[万亿千百]|"
        r"[kK](?![A-Za-z])|(?:million|thousand)\b))?"
        rf"|(?P<zh>(?!千万(?:[别不勿莫]|要|记得|小心|注意))(?<![第几数零〇一二两三四五六七八九十百千张李王赵丁]){_ZH})(?P<zscale>[万亿])?(?=\s?"
        rf"(?P<measure>[{_MEASURES}])|[^几多零〇一二两三四五六七八九十百千])"
        rf"|\b(?P<en>(?i:{_EN_WORDS}))\b(?:\s(?P<escale>(?i:thousand|million|hundred)))?"
    )


_SOFT = lazy_pattern(
    rf"(?:\d{{1,4}}|{_ZH}|[几半])\s?(?:多?个?半?)(?:秒钟?|分钟|刻钟|小时|钟头?|天|日|晚|周|星期|礼拜|"
    r"月|季度|学期|年)(?:以|之)?[前后]"
    rf"|(?:\d{{1,2}}|{_ZH})\s?[点點时](?:钟|整|半|[一二三123]刻|(?:\d{{1,2}}|{_ZH})分?)?|"
    rf"(?<=[一-鿿])?(?:\d{{1,2}}|{_ZH})[号號]"
    rf"|\d{{1,2}}[:：]\d{{2}}(?:\s?[ap]m)?|\b\d{{1,2}}\s?[ap]\.?m\b|(?:过去|未来|最近|近|上|"
    rf"下)这?(?:\d{{1,3}}|{_ZH})个?(?:天|周|年|月|星期|小时|分钟)"
    rf"|\b(?i:(?:\d{{1,4}}|{_EN_WORDS})\s(?:seconds?|minutes?|hours?|days?|weeks?|months?|"
    r"years?)\s(?:ago|from now|later|back))\b"
    rf"|\b(?i:(?:in|last|past|next)\s(?:\d{{1,4}}|{_EN_WORDS})\s(?:seconds?|minutes?|hours?|days?|"
    r"weeks?|months?|years?))\b"
    rf"|(?:周|星期|礼拜)[一二三四五六日天]|\d{{1,2}}(?:st|nd|rd|th)\b"
)
"""Times relative to the day of speaking, or without their day: a resolver may replace them, numbers and all."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The ids and number values of a text. Values are canonical decimal texts; `007` and `3.10` stay as written."""

    ids: frozenset[str]
    numbers: frozenset[str]


def figures(text: str) -> Figures:
    """Return the ids and numbers in `text`."""
    return _remembered(text) if len(text) <= _REMEMBERED_LENGTH else _figures(text)


def _figures(text: str) -> Figures:
    numbers: set[str] = set()

    def moment(match: re.Match[str]) -> str:
        parts = [plain for part in re.findall(r"\d+", match[0]) if (plain := _plain(part)) != "0"]
        numbers.update(parts)
        return " " * len(match[0])

    rest = _moments().sub(moment, text)
    ids: set[str] = set()

    def identifier(match: re.Match[str]) -> str:
        run = match[0].rstrip(".:/+-#@")
        if not is_id(run):
            return match[0]
        ids.add(run)
        return " " * len(match[0])

    rest = _ids().sub(identifier, rest)
    numbers.update(value for match in _numbers().finditer(rest) if (value := _value(match)) is not None)
    return Figures(frozenset(ids), frozenset(numbers))


_remembered = lru_cache(maxsize=512)(_figures)
"""A rewrite is compared with the same texts, and with the same names of people, several times."""


def ordered_numbers(text: str) -> list[str]:
    """Return the number values of `text` in their order, without those of dates, clock times and ids."""
    rest = _moments().sub(lambda match: " " * len(match[0]), text)
    rest = _ids().sub(lambda match: " " * len(match[0]) if is_id(match[0].rstrip(".:/+-#@")) else match[0], rest)
    return [value for match in _numbers().finditer(rest) if (value := _value(match)) is not None]


def replaceable(text: str) -> frozenset[str]:
    """Return the numbers that stand only in relative or dayless times of `text`, which a resolved date may replace."""
    return figures(text).numbers - figures(_SOFT.sub("，", text)).numbers


def clock_readings(text: str) -> frozenset[str]:
    """Return the values that a clock time in `text` may take when written with 24 hours: 三点半 gives 3, 15 and 30."""
    found: set[str] = set()
    for match in re.finditer(rf"(\d{{1,2}}|{_ZH})\s?(?:[点點时](半|[一三]刻)?|[:：]\d\d|\s?[ap]\.?m\b)", text):
        hour = zh_number(match[1])
        if hour is not None and hour <= 24:
            found.update((str(hour), str((hour + 12) % 24)))
            found.update({"半": ("30",), "一刻": ("15",), "三刻": ("45",)}.get(match[2] or "", ()))
    return frozenset(found)


def is_id(run: str) -> bool:
    """Tell whether an ASCII run is an explicit identifier: letters with digits, `#12`, `@x`, a URL, a dotted number."""
    if not any(character.isdigit() for character in run):
        return (run.startswith("@") and len(run) > 1) or "@" in run[1:-1] or "://" in run or "_" in run.strip("_")
    return _no_ids().fullmatch(run) is None


def _plain(digits: str) -> str:
    digits = digits.replace(",", "")
    if "." in digits:
        whole, _, rest = digits.partition(".")
        return whole if not rest.strip("0") else digits
    return digits.lstrip("0") or "0" if len(digits) <= 2 else digits


def _scaled(value: str, scale: str) -> str:
    """Multiply a decimal text without going through binary fractions."""
    whole, _, rest = value.partition(".")
    factor = _SCALES.get(scale.lower(), 1)
    zeros = len(str(factor)) - 1
    if len(rest) > zeros:
        return f"{value}{scale}"
    return (whole + rest + "0" * (zeros - len(rest))).lstrip("0") or "0"


def _value(match: re.Match[str]) -> str | None:
    if match["digits"]:
        plain = _plain(match["digits"])
        return _scaled(plain, match["scale"]) if match["scale"] else plain
    if match["percent"]:
        value = zh_number(match[0][3:])
        return None if value is None else str(value)
    if match["en"]:
        value = en_number(match["en"])
        if value is None:
            return None
        return str(value * {"hundred": 100, "thousand": 1000, "million": 10**6}.get((match["escale"] or "").lower(), 1))
    return _chinese(match)


def _chinese(match: re.Match[str]) -> str | None:
    """Count a Chinese numeral only before a measure word: 一 alone and numerals inside words are no figures."""
    word = match["zh"]
    value = zh_number(word)
    if value is None or word == "一" or (not match["measure"] and not match["zscale"] and len(word) < 3):
        return None
    return _scaled(str(value), match["zscale"]) if match["zscale"] else str(value)
