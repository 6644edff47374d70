"""Changes to a text, collected first and made in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace [start, end) by `text`."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Make the edits, earliest first; of two that overlap the earlier one counts."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda e: (e.start, -e.end)):
        if edit.start < position:
            continue
        pieces += (text[position : edit.start], edit.text)
        position = edit.end
    return "".join([*pieces, text[position:]])
