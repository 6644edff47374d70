"""What stands around a word: its clause or sentence, within a bounded reach."""

from __future__ import annotations

import re

from historian.patterns import lazy_pattern

_WORD = lazy_pattern("[a-z]+")
REACH = 32
SENTENCE_REACH = 120
CLAUSE_END = lazy_pattern(r"[，。；：！？、,;:!?\n（()）]")
SENTENCE_END = lazy_pattern(r"[。！？!?\n]|\.\s")


def before_in(text: str, start: int, end_of_part: re.Pattern[str], reach: int = REACH) -> str | None:
    """Return what stands before `start` in its clause or sentence; None when its beginning is out of reach."""
    part = text[max(0, start - reach) : start]
    last = None
    for match in end_of_part.finditer(part):
        last = match
    if last is not None:
        return part[last.end() :].strip()
    return part.strip() if start <= reach else None


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence around `start:end` without the stretch itself, as far as it is within reach."""
    before = before_in(text, start, SENTENCE_END, SENTENCE_REACH)
    left = text[max(0, start - SENTENCE_REACH) : start] if before is None else before
    right = text[end : end + SENTENCE_REACH]
    stop = SENTENCE_END.search(right)
    return f"{left} {right[: stop.start()] if stop else right}"


def words_of(sentence: str) -> list[str]:
    """Return the English words of a sentence in lower case."""
    return _WORD.findall(sentence.lower())
