"""The gate: finds in a finished event text what only its context could explain.

Token-aware rules for Chinese, English and both in one sentence. Quoted speech, titles and code are exempt. Every rule
looks at a bounded stretch of text, so the time is linear in the length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from historian import gate_times as zh
from historian import gate_words as en
from historian.fold import simplified
from historian.gate_guards import counts, is_code, is_name, is_somebody
from historian.gate_spans import widened
from historian.patterns import lazy_pattern

_QUOTES = lazy_pattern("[“「『《〈«`\"＂‘']")
MAX_FINDINGS = 1000
"""A text with so many is not looked at further: it is far from absolute."""


class GateKind(StrEnum):
    """What is missing: the person, the day of speaking, or the place of speaking."""

    PRONOUN = "pronoun"
    TIME = "time"
    PLACE = "place"


_HINTS = {
    GateKind.PRONOUN: 'Replace "{}" with the name of the person or thing.',
    GateKind.TIME: 'Replace "{}" with the absolute date.',
    GateKind.PLACE: 'Replace "{}" with the name of the place.',
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A word that needs context; `start` and `end` are offsets in the given text."""

    kind: GateKind
    found: str
    start: int
    end: int

    @property
    def hint(self) -> str:
        """One sentence that tells the writing agent what to do."""
        return _HINTS[self.kind].format(self.found)


def inspect(text: str) -> tuple[Finding, ...]:
    """Return what in `text` needs context, in order of position; an empty tuple means the text stands alone."""
    return tuple(_scan(simplified(_mask(text)), text))


def is_absolute(text: str) -> bool:
    """Tell whether `text` stays true without context."""
    return next(_scan(simplified(_mask(text)), text), None) is None


@cache
def _exempt() -> re.Pattern[str]:
    """What is quoted, a title or marked as code. No branch can cross its own opening mark: linear on unclosed ones."""
    return re.compile(
        r"“[^“”]*”|「[^「」]*」|『[^『』]*』|《[^《》]*》|〈[^〈〉]*〉|«[^«»]*»|`+[^`]*`+|\"[^\"\n]*\"|＂[^＂\n]*＂"
        r"|‘(?:[^‘’]|(?<=[A-Za-z])’(?=[A-Za-z]))*’"
        r"|(?<![A-Za-z0-9])'(?!\s)(?:[^'\n]|(?<=[A-Za-z])'(?=[A-Za-z]))*'(?![A-Za-z0-9])"
        r"|#(?!\d)[^#\s，。；、]{1,40}#"
        r"|(?:https?|ftp|file)://[^\s，。；、（）“”《》]+|www\.[^\s，。；、（）“”《》]+"
    )


def _mask(text: str) -> str:
    """Return `text` with exempt stretches blanked by a neutral sign, offsets kept."""
    if _QUOTES.search(text) is None and "#" not in text and "://" not in text and "www." not in text:
        return text
    return _exempt().sub(lambda match: "￼" * (match.end() - match.start()), text)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rows of one first character or word: one pattern with a group per row."""

    pattern: re.Pattern[str]
    kinds: tuple[GateKind | None, ...]
    guards: tuple[str, ...]


def _compile(rows: list[tuple[str, str]], flags: int) -> _Rules:
    whats = [what.partition(":") for what, _ in rows]
    return _Rules(
        re.compile("|".join(f"({pattern})" for _, pattern in rows), flags),
        tuple(None if kind == "pass" else GateKind(kind) for kind, _, _ in whats),
        tuple(guard for _, _, guard in whats),
    )


@cache
def _of_character(character: str) -> _Rules:
    return _compile([(what, pattern) for first, what, pattern in zh.ROWS if character in first], 0)


@cache
def _word_rows() -> dict[str, list[tuple[str, str]]]:
    rows: dict[str, list[tuple[str, str]]] = {}
    for words, what, pattern in en.ROWS:
        for word in words.split():
            rows.setdefault(word, []).append((what, pattern or word))
    return rows


@cache
def _of_word(word: str) -> _Rules:
    return _compile(_word_rows()[word], re.IGNORECASE)


@cache
def _trigger() -> re.Pattern[str]:
    """Find a Chinese character that begins a rule, or a whole run of Latin letters (`a/b` and `a-b` are one)."""
    first = "".join(sorted({character for characters, _, _ in zh.ROWS for character in characters}))
    latin = "A-Za-z_À-ɏ"
    return re.compile(
        rf"[{latin}{re.escape(first)}](?<![A-Za-z0-9][0-9])"
        rf"(?:(?<=[{latin}])(?:[{latin}0-9'’@+/\\#~]|\.(?!\.)|-(?!-))*(?<=[{latin}0-9]))?"
    )


def _scan(masked: str, text: str) -> Iterator[Finding]:
    position = found = last = 0
    search, words = _trigger().search, _word_rows()
    while found < MAX_FINDINGS and (match := search(masked, position)) is not None:
        run, start, position = match[0], match.start(), match.end()
        if run in zh.FIRST:
            rules: _Rules | GateKind | None = _of_character(run)
        elif run.isalpha() and run != "TA" and run.lower() not in words:
            continue
        else:
            rules = _latin(masked, run, start, words)
        if rules is None:
            continue
        if isinstance(rules, GateKind):
            kind: GateKind | None = rules
            end = position
        else:
            kind, end = _apply(rules, masked, start)
        position = max(position, end)
        if kind is not None and masked[end : end + 1] != "_":
            start, last = widened(masked, start, end, last)
            found, position = found + 1, max(position, last)
            yield Finding(kind, text[start:last], start, last)


def _apply(rules: _Rules, masked: str, start: int) -> tuple[GateKind | None, int]:
    """Return the kind that the rules find at `start`, if any, and where the stretch that they judged ends."""
    hit = rules.pattern.match(masked, start)
    if hit is None:
        return None, start
    row = (hit.lastindex or 1) - 1
    kind, guard = rules.kinds[row], rules.guards[row]
    if kind is not None and guard and not counts(guard, masked, start, hit.end()):
        kind = None
    return kind, hit.end()


def _latin(masked: str, run: str, start: int, words: Mapping[str, object]) -> _Rules | GateKind | None:
    """Return the rules for a run of Latin letters, or the kind where the run decides alone; None for code and names."""
    if run == "TA" and is_somebody(masked, start):
        return GateKind.PRONOUN
    word = run.lower().replace("’", "'")
    stem, apostrophe, ending = word.partition("'")
    if not run.isalpha() and not (apostrophe and stem.isalpha() and ending.isalpha()):
        return _pair(word)
    contracted = stem in en.CONTRACTED and ending in en.ENDINGS
    if not contracted and word not in words:
        word = stem if ending == "s" and stem != "there" else ""
        if word not in words:
            return None
    if is_code(masked, start, start + len(run)) or is_name(masked, run, start):
        return None
    return GateKind.PRONOUN if contracted else _of_word(word)


def _pair(word: str) -> GateKind | None:
    """Judge `his/her` and `today/tomorrow`; every other compound is a path, an address or a name."""
    parts = word.split("/")
    if len(parts) == 2 and all(part in en.PAIRED for part in parts):
        return GateKind.TIME if parts[0] in en.PAIRED_TIMES else GateKind.PRONOUN
    return None
