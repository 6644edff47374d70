"""Files of one JSON value a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from historian.formats.outcome import Refusal
from historian.formats.piece import HEAD_BYTES, Piece

MAX_LINE = 8_000_000
"""Bytes of one line; a longer one is refused."""
_SAMPLES = 50


def values(piece: Piece) -> Iterator[tuple[str, Any] | Refusal]:
    """Yield the place and the value of each line that is not blank; one that cannot be read is a refusal."""
    with piece.open() as stream:
        number = 0
        while line := stream.readline(MAX_LINE + 1):
            number += 1
            place = f"line {number}"
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if len(line) > MAX_LINE:
                while line and not line.endswith(b"\n"):
                    line = stream.readline(MAX_LINE)
                yield Refusal(place, f"It is longer than {MAX_LINE} bytes.")
            elif line.strip():
                yield _value(place, line)


def objects(piece: Piece) -> Iterator[tuple[str, Mapping[str, Any]] | Refusal]:
    """Do as `values`; what is no object is a refusal too."""
    for found in values(piece):
        if isinstance(found, Refusal) or isinstance(found[1], dict):
            yield found
        else:
            yield Refusal(found[0], "It is not a JSON object.")


def samples(piece: Piece) -> list[Mapping[str, Any]]:
    """Return the objects among the first lines, for recognising a format; nothing where it is no such file."""
    lines = piece.head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(piece.head) >= HEAD_BYTES and len(lines) > 1:
        lines.pop()
    found: list[Mapping[str, Any]] = []
    for line in [line for line in lines if line.strip()][:_SAMPLES]:
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _value(place: str, line: bytes) -> tuple[str, Any] | Refusal:
    try:
        return place, json.loads(line)
    except (ValueError, RecursionError):
        return Refusal(place, "It is not a JSON object in UTF-8 on one line.")
