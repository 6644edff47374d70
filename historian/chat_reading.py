"""Finds the JSON in what a model wrote and brings it into shape. Only signs are looked at, no words of any language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from historian.chat import Shape
from historian.errors import UnusableAnswerError

LONGEST = 400_000
"""Characters of an answer that are looked at."""
CANDIDATES = 20
"""Pieces of an answer that are tried, the last ones."""
VIOLATIONS = 8
DEEPEST = 60
"""Brackets within brackets; no shape comes near, and the parser of Python would give up later."""

_THOUGHT = re.compile(r"\A\s*<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL)
_UNFINISHED_THOUGHT = re.compile(r"\A\s*<(?:think|thinking|thought|reasoning)>")
_CLOSING = {"{": "}", "[": "]"}
_BEGINNING = re.compile(r"""\{\s*(?:["'“}]|[A-Za-z_]{1,40}\s*:)|\[\s*[\[{"'“\]0-9-]""")
"""What JSON begins with, also careless JSON, and a bracket in prose seldom does."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer that begins with a bracket; `closed` says that its brackets close."""

    text: str
    closed: bool


def read_answer(wrote: str, shape: type[Shape], *, cut_off: bool = False) -> tuple[Shape, bool]:
    """Return the answer in its shape, and whether it had to be repaired.

    Prose around it, code fences, thoughts in front and a wrapping object or list are passed over. Of several answers
    the last counts. What was cut off is not completed by guessing: that would lose facts without a trace.

    Raises:
        UnusableAnswerError: there is no such answer in it.
    """
    text = _THOUGHT.sub("", wrote[:LONGEST].lstrip("\ufeff")).strip()
    if _UNFINISHED_THOUGHT.match(text):
        text, cut_off = "", True
    if not text:
        raise _cut_off(wrote) if cut_off else _unusable("empty", "gave an empty answer", wrote, ["It was empty."])
    wrong: list[str] = []
    found = list(pieces(text))
    for piece in reversed(found):
        value = _parsed(piece.text) if piece.closed else None
        fitting = _fitted(value, shape, wrong) if value is not None else None
        if fitting is not None:
            return fitting, text != piece.text
    if cut_off or (found and not found[-1].closed and _inside_a_string(found[-1].text)):
        raise _cut_off(wrote)
    for piece in reversed(found):
        value = _repaired(piece.text)
        fitting = _fitted(value, shape, wrong) if value is not None else None
        if fitting is not None:
            return fitting, True
    if wrong:
        raise _unusable("invalid", "gave an answer of another shape", wrote, wrong)
    raise _unusable("malformed", "gave no JSON", wrote, ["It held no JSON object that can be read."])


def read_object(wrote: str) -> dict[str, Any] | None:
    """Return the one JSON object that a model wrote, repaired if need be, or None."""
    text = wrote[:LONGEST].strip()
    value = _parsed(text)
    if value is None:
        value = _repaired(text)
    return value if isinstance(value, dict) else None


def pieces(text: str) -> Iterator[Piece]:
    """Yield the outermost stretches in brackets, the last `CANDIDATES` of them. Linear in the text."""
    found: list[Piece] = []
    start = 0
    while begins := _BEGINNING.search(text, start):
        ends = _end_of(text, begins.start())
        found.append(Piece(text[begins.start() : ends or len(text)], ends is not None))
        if ends is None:
            break
        start = ends
    yield from found[-CANDIDATES:]


def _end_of(text: str, begins: int) -> int | None:
    """Return the position behind the bracket that closes the one at `begins`, or None."""
    expected: list[str] = []
    in_string = escaped = False
    for position in range(begins, len(text)):
        char = text[position]
        if escaped:
            escaped = False
        elif in_string:
            escaped, in_string = char == "\\", char != '"'
        elif char == '"':
            in_string = True
        elif char in _CLOSING:
            expected.append(_CLOSING[char])
        elif expected and char == expected[-1]:
            expected.pop()
            if not expected:
                return position + 1
    return None


def _inside_a_string(text: str) -> bool:
    """Say whether a piece ends amid a string: then it was cut off, and what is missing cannot be known."""
    return len(re.findall(r'(?<!\\)"', text)) % 2 == 1


def _parsed(text: str) -> Any | None:
    if _too_deep(text):
        return None
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _repaired(text: str) -> Any | None:
    import json_repair

    if _too_deep(text):
        return None
    try:
        found = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError):  # it is given anything
        return None
    return found or None


def _too_deep(text: str) -> bool:
    depth = deepest = 0
    for char in text:
        if char in _CLOSING:
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth -= 1
    return deepest > DEEPEST


def _fitted(value: Any, shape: type[Shape], wrong: list[str]) -> Shape | None:
    """Return `value`, or what it wraps, in the shape; note what is wrong with it otherwise."""
    first: list[str] = []
    for one in _readings(value, shape):
        try:
            return shape.model_validate(one)
        except ValidationError as error:
            first = first or [_violation(one) for one in error.errors(include_url=False, include_input=False)]
    wrong[:] = wrong or first[:VIOLATIONS]
    return None


def _readings(value: Any, shape: type[BaseModel]) -> Iterator[Any]:
    """Yield what a model may have meant: an object, a list of one, the only list of the shape, a wrapped object."""
    yield value
    fields = list(shape.model_fields)
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], dict):
            yield value[0]
        if value and len(fields) == 1:
            yield {fields[0]: value}
    elif isinstance(value, dict) and len(value) == 1:
        (inner,) = value.values()
        if isinstance(inner, dict):
            yield inner
        elif isinstance(inner, list) and inner and len(fields) == 1:
            yield {fields[0]: inner}


def _violation(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{where}: {error['msg']}." if where else f"{error['msg']}."


def _cut_off(wrote: str) -> UnusableAnswerError:
    said = "It was cut off before its end; answer more briefly."
    return _unusable("truncated", "broke off in the middle of its answer; raise max_tokens", wrote, [said])


def _unusable(kind: str, what: str, wrote: str, violations: list[str]) -> UnusableAnswerError:
    return UnusableAnswerError(f"The chat model {what}.", kind=kind, violations=tuple(violations), wrote=wrote)
