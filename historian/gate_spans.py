"""The whole phrase of a finding: a rule is tried at its trigger word, a person replaces all that belongs to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from historian import gate_words as en

_REACH = 40
_UNITS = "days weeks months years"
_DETERMINED = (
    "other past following upcoming coming former latter weekend week month year end beginning start middle current "
    "recent user"
)
_COUNT = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_AFTER_YEAR = rf"年?[初底末](?!级|奖)|[春夏秋冬](?:天|季)?|\s?{_COUNT}\s?月(?:\s?{_COUNT}\s?[日号])?"
_AFTER_MONTH = rf"\s?{_COUNT}\s?[日号]"


@cache
def _leads() -> Mapping[str, re.Pattern[str]]:
    """Return, by the first word of a finding, what may stand before it and still belong to its phrase."""
    about = r"(?:(?:about|around|roughly|almost|nearly|over|just|only|some|more than) )?"
    count = rf"(?:\b{about}{en.COUNT} (?:(?:long|short|full|good|more|business) )?)"
    span = rf"(?:{en.UNIT}|while|time|ages|moment|(?:{en.WEEKDAYS.replace(' ', '|')})s?)"
    rows = (
        (_DETERMINED, r"\bthe $"),
        (_UNITS, rf"{count}$"),
        ("moment present future near foreseeable distant", r"\b(?:at|in) (?:the |this )?$"),
        ("today tomorrow yesterday", r"\b(?:earlier|later|early|late|first thing) $"),
        ("last next this", r"\b(?:the|early|late|earlier|later) $"),
        ("ago", rf"(?:(?:{count}|\b){span} (?:and a half )?|\b(?:not )?(?:so |too |very )?long )$"),
        ("while", r"\b(?:quite )?a $"),
    )
    return {word: re.compile(pattern, re.IGNORECASE) for words, pattern in rows for word in words.split()}


@cache
def _tails() -> Mapping[str, re.Pattern[str]]:
    """Return, by the last letter of a finding, what may stand behind it and still belong to its phrase."""
    return {
        "年": re.compile(_AFTER_YEAR),
        "月": re.compile(_AFTER_MONTH),
        "y": re.compile(r"(?<=day) (?:morning|afternoon|evening|night)\b", re.IGNORECASE),
    }


def widened(text: str, start: int, end: int, floor: int) -> tuple[int, int]:
    """Return where the phrase of the finding at `start:end` begins, not before `floor`, and where it ends."""
    tail = _tails().get(text[end - 1])
    behind = tail.match(text, end) if tail is not None else None
    if text[start].isascii():
        lead = _leads().get(text[start:end].partition(" ")[0].lower())
        before = lead.search(text, max(floor, start - _REACH), start) if lead is not None else None
        start = start if before is None else before.start()
    return start, end if behind is None else behind.end()
