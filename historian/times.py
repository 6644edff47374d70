"""Resolves the relative times of a Chinese or English text against the instant at which it was said.

Days become `2026-02-20`, months `2026-01`, years `2025` (`2025 年` in Chinese), clock times `HH:MM` beside their date;
weeks, weekends and quarters become their first and last day or month (`2026-02-09 至 2026-02-15`, `the week of
2026-02-09 to 2026-02-15`). Weeks run Monday to Sunday. Quotations, titles, code and addresses stay as they are; so
does what recurs (每周五, every Monday), what is absolute already, and what is vague (前两天, these days) and listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from historian import times_calendar, times_en, times_zh
from historian.approximations import is_approximate
from historian.clocks import find_clocks
from historian.day_names import is_name
from historian.days import DateHit
from historian.fold import simplified
from historian.linking import Plan, link
from historian.patterns import lazy_pattern
from historian.phrasing import Replacement, in_chinese, phrase_chinese, phrase_clock, phrase_english
from historian.ratios import is_no_time
from historian.said import Said
from historian.spans import Exempt, exempt_spans
from historian.tense import Clauses
from historian.vague import find_vague

_GLUED: Final = lazy_pattern(r"[:：.]\d|(?<=\d)\d")
"""Behind a time of day: more of the number that it would be cut out of."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """One expression that was made absolute: its words, what they mean, and where they stood in the original text."""

    found: str
    meaning: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Resolution:
    """A text with its times made absolute, what was resolved, and the words that could not be."""

    text: str
    resolved: tuple[Resolved, ...]
    vague: tuple[str, ...]


def resolve_times(text: str, said_at: datetime) -> Resolution:
    """Return a text with every relative time made absolute.

    `said_at` is aware and in the speaker's zone: days are counted on that zone's calendar, hours and minutes on the
    absolute time line. Takes time linear in the text.

    Raises:
        ValueError: `said_at` is naive.
    """
    if said_at.tzinfo is None:
        raise ValueError("resolve_times needs an aware said_at")
    exempt = exempt_spans(text)
    plain = simplified(text)
    said = Said(plain, said_at, Clauses(plain))
    found = [*times_zh.find_dates(said), *times_en.find_dates(said), *times_calendar.find_dates(said)]
    found = [hit for hit in found if not exempt.touches(hit.start, hit.end)]
    left = [(hit.start, hit.end) for hit in found if is_name(plain, hit) or is_approximate(plain, hit)]
    stays = Exempt(left)
    dates = [hit for hit in found if not stays.touches(hit.start, hit.end)]
    clocks = [
        hit
        for hit in find_clocks(plain)
        if not (exempt.touches(hit.start, hit.end) or is_no_time(plain, hit) or _GLUED.match(plain, hit.end))
    ]
    plan = link(said, dates, clocks)
    replacements = _replacements(text, plan)
    resolved = tuple(Resolved(text[r.start : r.end], r.meaning, r.start, r.end) for r in replacements)
    return Resolution(
        _apply(text, replacements), resolved, _vague(text, plain, exempt, replacements, (*plan.unclear, *left))
    )


def _replacements(text: str, plan: Plan) -> list[Replacement]:
    made: list[Replacement] = []
    previous: DateHit | None = None
    for hit, with_part in plan.dates:
        if hit.lang == "zh" or in_chinese(text, hit.start, hit.end):
            made.append(phrase_chinese(text, hit, with_part=with_part))
        else:
            made.append(phrase_english(text, hit, previous.end if previous else None, with_part=with_part))
        previous = hit
    for clock in plan.clocks:
        chinese = clock.chinese or in_chinese(text, clock.start, clock.end)
        made.append(phrase_clock(text, clock.start, clock.end, clock.text, clock.on, chinese=chinese))
    return sorted(made, key=lambda r: r.start)


def _apply(text: str, replacements: list[Replacement]) -> str:
    pieces: list[str] = []
    position = 0
    for r in replacements:
        pieces += (text[position : r.start], _joint(pieces, text[position : r.start], r.text))
        position = r.end
    pieces.append(text[position:])
    return "".join(pieces)


def _joint(pieces: list[str], between: str, words: str) -> str:
    """Keep two replacements that touch apart by exactly one space."""
    if between or not pieces:
        return words
    return words.lstrip() if pieces[-1].endswith(" ") else f" {words.lstrip()}"


def _vague(
    text: str, plain: str, exempt: Exempt, replacements: list[Replacement], unclear: Iterable[tuple[int, int]]
) -> tuple[str, ...]:
    done = Exempt([(r.start, r.end) for r in replacements])
    spans = {s for s in find_vague(plain) if not exempt.touches(*s) and not done.touches(*s)}
    spans |= set(unclear)
    return tuple(dict.fromkeys(text[start:end] for start, end in sorted(spans)))
