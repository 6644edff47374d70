"""The offline rewriter: makes one observation stand without its context, by rules alone.

Relative times become dates, the first and second person the known names, 这里 and here the known place. What cannot be
resolved stays as it was said and is flagged. Quotations, titles and code stay, and so does the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from historian import persons_en, persons_zh, places
from historian.edits import Edit, apply_edits
from historian.hearsay import open_reports, owned_kin
from historian.patterns import lazy_pattern
from historian.reported import reported_spans
from historian.spans import Exempt, exempt_spans
from historian.times import Resolution, Resolved, resolve_times
from historian.titles import title_spans

_FRAME: Final = lazy_pattern(r"(?:User|USER|user|The user said|用户(?:说|表示|提到)?)\s?[:：]\s*(?=\S)")
_BESIDES: Final = lazy_pattern(
    r"(?:by the way|btw|对了|顺便说一[下句]|顺便提一[下句])\s?[,，:：]?\s*(?=(?:I|my)\b|我|俺|咱)", re.IGNORECASE
)
_WRAPPED: Final = lazy_pattern(r"“([^“”]*)”[。.]?|\"([^\"]*)\"[。.]?|「([^「」]*)」[。.]?")


@dataclass(frozen=True, slots=True)
class RewriteContext:
    """What is known about one observation. `said_at` is aware and in the speaker's zone.

    `speaker_name` is the human who spoke (first person), `agent_name` the one addressed (second person).
    """

    said_at: datetime
    speaker_name: str | None = None
    agent_name: str | None = None
    group_name: str | None = None
    location: str | None = None
    recent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rewritten text; `flags` name what stayed (`time:最近`, `pronoun:他`), `allowed` what rewriting brought in.

    `dated` is the observation with its times resolved and nothing else changed: what the identity check compares with.
    `times` are the expressions that were resolved.
    """

    text: str
    flags: tuple[str, ...]
    allowed: tuple[str, ...]
    dated: str
    times: tuple[Resolved, ...] = ()


def rewrite_offline(observation: str, context: RewriteContext) -> Rewritten:
    """Return an observation that stands alone as far as rules can make it. Takes time linear in the text.

    Raises:
        ValueError: `said_at` is naive.
    """
    text = observation.strip()
    if context.speaker_name:
        text = _without_frame(text)
        text = text[besides.end() :] if (besides := _BESIDES.match(text)) else text
    times = resolve_times(text, context.said_at)
    exempt = exempt_spans(times.text)
    speaker = _clean(context.speaker_name)
    reported = Exempt([*reported_spans(times.text, speaker), *open_reports(times.text, speaker)])
    titles = title_spans(times.text)
    edits = [
        e
        for e in _edits(times.text, context)
        if not any(spans.touches(e.start, e.end) for spans in (exempt, reported, titles))
    ]
    flags = _flags(times, exempt, reported, context)
    return Rewritten(apply_edits(times.text, edits), flags, _allowed(times, edits, context), times.text, times.resolved)


def _without_frame(text: str) -> str:
    match = _FRAME.match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    wrapped = _WRAPPED.fullmatch(rest)
    return next(part for part in wrapped.groups() if part is not None).strip() or rest if wrapped else rest


def _edits(text: str, context: RewriteContext) -> Iterator[Edit]:
    name, agent = _clean(context.speaker_name), _clean(context.agent_name)
    group, location = _clean(context.group_name), _clean(context.location)
    if group:
        yield from places.group_edits(text, group)
    if name:
        yield from owned_kin(text, name)
        yield from persons_zh.user_subject(text, name)
        yield from persons_en.user_subject(text, name)
        yield from persons_zh.first_person(text, name)
        yield from persons_en.first_person(text, name, context.said_at.date().isoformat())
    if agent:
        yield from persons_zh.second_person(text, agent)
        yield from persons_en.second_person(text, agent)
    if location:
        yield from places.place_edits(text, location)


def _clean(name: str | None) -> str:
    return " ".join(name.split()) if name else ""


def _flags(times: Resolution, exempt: Exempt, reported: Exempt, context: RewriteContext) -> tuple[str, ...]:
    text = times.text
    speaker, agent = bool(_clean(context.speaker_name)), bool(_clean(context.agent_name))
    location, group = bool(_clean(context.location)), bool(_clean(context.group_name))
    pronouns = {
        *persons_zh.unnamed(text, speaker=speaker, agent=agent),
        *persons_en.unnamed(text, speaker=speaker, agent=agent),
    }
    pronouns |= {span for span in _persons_of_others(text) if reported.touches(*span)}
    grouped = {e.start for e in places.group_edits(text, "x")}
    pronouns = {span for span in pronouns if span[0] not in grouped}
    found = {(*span, "pronoun") for span in pronouns}
    found |= {(*span, "place") for span in places.unplaced(text, location=location, group=group)}
    kept = [f"{kind}:{text[start:end]}" for start, end, kind in sorted(found) if not exempt.touches(start, end)]
    return tuple(dict.fromkeys([*(f"time:{words}" for words in times.vague), *kept]))


def _persons_of_others(text: str) -> Iterator[tuple[int, int]]:
    yield from persons_zh.unnamed(text, speaker=False, agent=False)
    yield from persons_en.unnamed(text, speaker=False, agent=False)


def _allowed(times: Resolution, edits: list[Edit], context: RewriteContext) -> tuple[str, ...]:
    introduced = "\n".join(edit.text for edit in edits)
    names = (context.speaker_name, context.agent_name, context.group_name, context.location)
    known = (clean for name in names if (clean := _clean(name)) and clean in introduced)
    return tuple(dict.fromkeys([*(r.meaning for r in times.resolved), *known]))
