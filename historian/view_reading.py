"""Reads a memory view that some agent made, so that it can be verified: lenient about form, strict about size."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from historian.errors import InvalidInputError
from historian.memory_view import SECTIONS, Claim, Doubt, Point, Quote, Section

MOST_POINTS = 200
MOST_IDS = 1_000
_SHAPE = 'Send one such as {"memory_view": {"other": [{"text": "…", "evidence": ["<message id>"]}]}, "evidence": []}.'


def read_view(raw: object) -> Claim:
    """Return the claim in a view: an object, or the JSON text of one. Sections may also stand at the top level.

    Evidence of a point are ids, or objects with `message_id` and `content`, which then are quotations too.

    Raises:
        InvalidInputError: it is no such object, holds no point, or is too large; the sentence says what to send.
    """
    view = _object(raw)
    inner = view.get("memory_view", view)
    sections = inner if isinstance(inner, Mapping) else {}
    quotes: list[Quote] = [quote for one in _list(view.get("evidence")) if (quote := _quote(one)) is not None]
    points: list[Point] = []
    for section in SECTIONS:
        points += _points(section, sections.get(section), quotes)
    points += _points("other", view.get("points"), quotes)
    doubts = tuple(_doubts(view.get("uncertain")))
    if not points and not doubts and not quotes:
        raise InvalidInputError(f"There is no point and no evidence in this view. {_SHAPE}")
    ids = len(quotes) + sum(len(point.evidence) for point in points) + sum(len(doubt.evidence) for doubt in doubts)
    if len(points) + len(doubts) > MOST_POINTS or ids > MOST_IDS:
        raise InvalidInputError(f"A view may have {MOST_POINTS} points and name {MOST_IDS} messages; split it.")
    return Claim(tuple(points), tuple(quotes), doubts)


def _object(raw: object) -> Mapping[str, object]:
    if isinstance(raw, str):
        try:
            raw = json.loads(raw.lstrip("\ufeff"))
        except (ValueError, RecursionError):
            raise InvalidInputError(f"The view is not JSON. {_SHAPE}") from None
    if not isinstance(raw, Mapping):
        raise InvalidInputError(f"The view is no object. {_SHAPE}")
    return raw


def _list(raw: object) -> Sequence[object]:
    return raw if isinstance(raw, list) else [] if raw is None else [raw]


def _points(section: Section, raw: object, quotes: list[Quote]) -> Iterator[Point]:
    for one in _list(raw):
        if isinstance(one, str) and one.strip():
            yield Point(section, one.strip(), ())
        elif isinstance(one, Mapping):
            text = one.get("text")
            if not isinstance(text, str) or not text.strip():
                raise InvalidInputError(f"A point in {section} has no text. {_SHAPE}")
            yield Point(section, text.strip(), tuple(_ids(one.get("evidence"), quotes)))


def _ids(raw: object, quotes: list[Quote]) -> Iterator[str]:
    for one in _list(raw):
        if isinstance(one, Mapping):
            quote = _quote(one)
            if quote is not None:
                quotes.append(quote)
                yield quote.message_id
        elif isinstance(one, str | int) and not isinstance(one, bool):
            yield str(one)


def _quote(raw: object) -> Quote | None:
    if isinstance(raw, str):
        return Quote(raw) if raw.strip() else None
    if not isinstance(raw, Mapping) or not isinstance(raw.get("message_id"), str | int):
        return None
    texts = {name: value for name in ("content", "ts", "role") if isinstance(value := raw.get(name), str)}
    return Quote(str(raw["message_id"]), texts.get("content", ""), texts.get("ts") or None, texts.get("role") or None)


def _doubts(raw: object) -> Iterator[Doubt]:
    for one in _list(raw):
        if isinstance(one, str) and one.strip():
            yield Doubt(one.strip(), "")
        elif isinstance(one, Mapping) and isinstance(text := one.get("text"), str) and text.strip():
            reason = one.get("reason")
            yield Doubt(text.strip(), reason if isinstance(reason, str) else "", tuple(_ids(one.get("evidence"), [])))
