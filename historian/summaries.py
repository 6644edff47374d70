"""Summaries that an earlier memory kept in one JSON file, one for each turn: a list of records, or of plain texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from historian.errors import InvalidInputError
from historian.zones import parse_instant

_LISTS = ("end_summaries", "summaries", "records", "memos")
_TEXTS = ("summary", "action_summary", "memo", "text", "content")
_FACTS = ("observations", "new_info")
_TIMES = ("timestamp", "time", "ts", "created_at", "date")
_PLACES = ("location", "place")


@dataclass(frozen=True, slots=True)
class Summary:
    """What was done in one turn, and the facts it brought. `at` is aware; `is_dated` false: taken from what is near.

    `number` is where it stands in the file, from 1; `mark` tells it from the others, wherever it stands.
    """

    number: int
    mark: str
    memo: str
    observations: tuple[str, ...]
    at: datetime
    is_dated: bool
    place: str | None


@dataclass(frozen=True, slots=True)
class Summaries:
    """Those of one file in its order, and each bad record by its number from 1 with the reason."""

    good: tuple[Summary, ...]
    bad: tuple[tuple[int, str], ...]


def read_summaries(document: bytes, zone: tzinfo, undated: datetime) -> Summaries:
    """Return what a file holds. Naive times are in `zone`.

    A record without a time gets that of the dated one before it in the file, else after it, else `undated`.

    Raises:
        InvalidInputError: it is no such file.
    """
    good: list[Summary] = []
    bad: list[tuple[int, str]] = []
    latest: datetime | None = None
    for number, raw in enumerate(_records(document), start=1):
        try:
            one = _summary(number, raw, zone, latest or undated)
        except InvalidInputError as error:
            bad.append((number, str(error)))
            continue
        good.append(one)
        if one.is_dated and latest is None:
            good = [replace(earlier, at=one.at) for earlier in good[:-1]] + [one]
        latest = one.at if one.is_dated else latest
    return Summaries(tuple(good), tuple(bad))


def _records(document: bytes) -> Sequence[object]:
    try:
        read: Any = json.loads(document.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise InvalidInputError("The file is no JSON; give the end_summaries.json of the earlier memory.") from None
    if isinstance(read, dict):
        read = next((read[name] for name in _LISTS if isinstance(read.get(name), list)), None)
    if not isinstance(read, list):
        raise InvalidInputError("The file holds no list of summaries; give the end_summaries.json itself.")
    return read


def _summary(number: int, raw: object, zone: tzinfo, latest: datetime) -> Summary:
    record: Mapping[str, object] = {"summary": raw} if isinstance(raw, str) else raw if isinstance(raw, dict) else {}
    memo = _text(_first(record, _TEXTS))
    facts = _facts(_first(record, _FACTS))
    if not memo and not facts:
        raise InvalidInputError("It has no text; a record is a text, or an object with a summary.")
    given, place = _first(record, _TIMES), _place(_first(record, _PLACES))
    at = None if given in (None, "") else _instant(given, zone)
    mark = json.dumps([memo, *facts, None if at is None else at.isoformat(), place])
    return Summary(
        number=number,
        mark=hashlib.sha256(mark.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        memo=memo,
        observations=facts,
        at=at or latest,
        is_dated=at is not None,
        place=place,
    )


def _first(record: Mapping[str, object], names: Sequence[str]) -> object:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInputError("Its summary is no text.")
    return value.strip()


def _facts(value: object) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(text for one in listed if (text := _text(one)))


def _instant(value: object, zone: tzinfo) -> datetime:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidInputError("Its time is neither a text nor a number.")
    try:
        return parse_instant(value, zone)[0]
    except InvalidInputError as error:
        raise InvalidInputError(f"Its time cannot be read: {error}") from None


def _place(value: object) -> str | None:
    """Return the place as a text; an object names it, with the kind of chat that it was."""
    if isinstance(value, dict):
        value = _first(value, ("name", "id"))
    return str(value).strip()[:200] or None if isinstance(value, str | int) and not isinstance(value, bool) else None
