"""Puts a date into the sentence it stands in: the Chinese form, or the English one with the right preposition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from historian.days import DateHit, Value
from historian.patterns import lazy_pattern, words

_PREPOSITIONS: Final = frozenset(
    words(
        "since until till by before after from to for of on in at during than through throughout around about "
        "as via between roughly approximately circa starting beginning ending till toward towards"
    )
)
_DETERMINERS: Final = frozenset(words("the a an my our his her their your its this that"))
_CLAUSE_OPENERS: Final = frozenset(words("that think thinks thought and but because hope guess said says if so"))
_VERB_AFTER: Final = lazy_pattern(
    r"\s(?:is|was|will|were|has|would|works|worked|seems|marks|feels|felt|looks|sounds|suits|isn['’]t|wasn['’]t|"
    r"won['’]t|turned\sout|can't|doesn['’]t)\b",
    re.IGNORECASE,
)
_CONTRACTED_IS: Final = lazy_pattern(
    r"['’]s\s(?:the|a|an|my|our|going|gonna|not|when|her|his|their|fine|good|great|too)\b", re.IGNORECASE
)
_PARTS_ZH: Final = {"morning": "早上", "afternoon": "下午", "evening": "晚上", "night": "晚上", "lunchtime": "中午"}
_LAST_WORD: Final = lazy_pattern(r"([A-Za-z]+)\s$")
_JOINED: Final = lazy_pattern(r"\s?(?:,\s?)?(?:and|or|to|through|until|till|not|[,&-]|–)\s?(?:on\s|not\s)?")
_CJK: Final = lazy_pattern(r"[\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Replacement:
    """What stands in place of [start, end), and the bare meaning without prepositions."""

    start: int
    end: int
    text: str
    meaning: str


def is_cjk(char: str) -> bool:
    """Tell whether a character is a Chinese ideograph."""
    return _CJK.match(char) is not None


def in_chinese(text: str, start: int, end: int) -> bool:
    """Tell whether the nearest letters around a span are Chinese."""
    before = text[max(0, start - 3) : start].rstrip()
    after = text[end : end + 3].lstrip()
    return bool((before and is_cjk(before[-1])) or (after and is_cjk(after[0])))


def clock_text(hour: int, minute: int) -> str:
    """Return `HH:MM`."""
    return f"{hour:02d}:{minute:02d}"


def value_text(value: Value, *, chinese: bool) -> str:
    """Return the bare form of a value: 2026-02-20, 2026-01, 2025 年, 2026-02-09 至 2026-02-15."""
    if value.at is not None:
        return f"{value.first.isoformat()} {value.at:%H:%M}"
    if value.grain == "day":
        return value.first.isoformat()
    if value.grain == "month":
        edge = {"底": " 月底", "初": " 月初", "末": " 月末"}.get(value.name, f" {value.name}" if value.name else "")
        return f"{_month(value.first)}{edge}"
    if value.grain == "year":
        return f"{value.first.year} 年{value.name}" if chinese else f"{value.name} {value.first.year}".strip()
    joiner = " 至 " if chinese else " to "
    if value.grain == "quarter":
        return f"{_month(value.first)}{joiner}{_month(value.last)}"
    return f"{value.first.isoformat()}{joiner}{value.last.isoformat()}"


def _month(d: date) -> str:
    return d.isoformat()[:7]


def spaced(text: str, start: int, end: int, words: str) -> str:
    """Set a space between a replacement and the Chinese or Latin letters it touches."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    left = " " if (is_cjk(before) or (before.isascii() and before.isalnum())) and not is_cjk(words[0]) else ""
    right = " " if (is_cjk(after) or (after.isascii() and after.isalnum())) and not is_cjk(words[-1]) else ""
    return f"{left}{words}{right}"


def phrase_chinese(text: str, hit: DateHit, *, with_part: bool) -> Replacement:
    """Return the replacement of a date in a Chinese sentence."""
    meaning = value_text(_chinese_name(hit.value), chinese=True)
    if with_part and hit.part:
        meaning = f"{meaning} {_PARTS_ZH.get(hit.part, hit.part)}"
    end = hit.end
    words = meaning
    if hit.possessive:
        end, words = _after_possessive(text, hit.end), f"{meaning} 的"
    return Replacement(hit.start, end, spaced(text, hit.start, end, words), meaning)


def _after_possessive(text: str, end: int) -> int:
    return end + 3 if text[end + 2 : end + 4].strip() and text[end + 2] == " " and is_cjk(text[end + 3]) else end + 2


def _chinese_name(value: Value) -> Value:
    seasons = {"spring": "春天", "summer": "夏天", "autumn": "秋天", "fall": "秋天"}
    return Value(value.grain, value.first, value.last, value.at, seasons.get(value.name, value.name))


def phrase_english(text: str, hit: DateHit, previous_end: int | None, *, with_part: bool) -> Replacement:
    """Return the replacement of a date in an English sentence. `previous_end` is where the date before it ends."""
    bare = value_text(hit.value, chinese=False)
    part = hit.part if with_part else ""
    if hit.possessive and not _CONTRACTED_IS.match(text, hit.end):
        words = f"{bare} {part}".rstrip()
        article = "" if _word_before(text, hit.start) in _DETERMINERS else "the "
        return _finish(text, hit.start, hit.end + 2, article + words, words)
    noun = _noun(hit.value, bare, part)
    end = hit.end
    if _wants_noun(text, hit, previous_end):
        if _CONTRACTED_IS.match(text, hit.end):
            end, noun = hit.end + 2, f"{noun} is"
        return _finish(text, hit.start, end, noun, bare)
    if hit.value.at is not None:
        return _finish(text, hit.start, end, f"at {hit.value.at:%H:%M} on {hit.value.first.isoformat()}", bare)
    preposition = "on" if hit.value.grain in {"day", "weekend"} else "in"
    return _finish(text, hit.start, end, f"{preposition} {noun}", bare)


def _noun(value: Value, bare: str, part: str) -> str:
    if value.grain == "day" and part:
        return f"the {part} of {bare}"
    if value.grain in {"week", "weekend", "quarter"}:
        return f"the {value.grain} of {bare}"
    return bare


def _wants_noun(text: str, hit: DateHit, previous_end: int | None) -> bool:
    """Tell whether no preposition fits: after one, as the subject, or joined to a date that has one."""
    word = _word_before(text, hit.start)
    if word in {"my", "our", "his", "her", "their", "your", "does", "did", "will", "would"}:
        return True
    if word in _PREPOSITIONS and not re.match(r"in\s|within\s", hit.found, re.IGNORECASE):
        return True
    if previous_end is not None and _JOINED.fullmatch(text, previous_end, hit.start):
        return True
    subject = starts_sentence(text, hit.start) or word in _CLAUSE_OPENERS
    return subject and (_VERB_AFTER.match(text, hit.end) or _CONTRACTED_IS.match(text, hit.end)) is not None


def _word_before(text: str, start: int) -> str:
    match = _LAST_WORD.search(text, max(0, start - 20), start)
    return match[1].lower() if match else ""


def starts_sentence(text: str, start: int) -> bool:
    """Tell whether a position is the beginning of a sentence or line."""
    before = text[max(0, start - 4) : start].rstrip(" \t\"“'‘(（*-")
    return not before or before[-1] in ".!?。！？\n:："


def _finish(text: str, start: int, end: int, words: str, meaning: str) -> Replacement:
    if starts_sentence(text, start) and text[start].isupper():
        words = words[0].upper() + words[1:]
    return Replacement(start, end, spaced(text, start, end, words), meaning)


def phrase_clock(text: str, start: int, end: int, clock: str, on: date | None, *, chinese: bool) -> Replacement:
    """Return the replacement of a time of day, with its date where none stands beside it."""
    if on is None:
        return Replacement(start, end, spaced(text, start, end, clock), clock)
    words = f"{on.isoformat()} {clock}" if chinese else f"{clock} on {on.isoformat()}"
    return Replacement(start, end, spaced(text, start, end, words), f"{on.isoformat()} {clock}")
