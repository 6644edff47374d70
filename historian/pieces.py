"""Cutting a long text into pieces that an embedding model can take in, so that every part of it can be found."""

from __future__ import annotations

from historian.patterns import lazy_pattern

MOST = 200
"""Pieces of one text; what is beyond is found by words only."""

_ENDS = lazy_pattern(r"[。！？!?\n]+|[.;；](?=\s)")
_BLANK = lazy_pattern(r"\s")


def pieces(text: str, size: int) -> tuple[str, ...]:
    """Return a text in pieces of at most `size` characters, cut after a sentence or at a blank where there is one.

    Never empty: a text that fits is its own only piece.
    """
    found: list[str] = []
    start = 0
    while len(text) - start > size and len(found) < MOST:
        end = _cut(text, start, start + size)
        found.append(text[start:end])
        start = end
    if start < len(text) and len(found) < MOST:
        found.append(text[start:])
    kept = tuple(piece for piece in found if piece.strip())
    return kept or (text[:size],)


def piece_ids(row: int, count: int) -> tuple[str, ...]:
    """Return the ids of the vectors of a row that has so many pieces: `row`, `row:1`, …"""
    return (str(row), *(f"{row}:{number}" for number in range(1, count)))


def _cut(text: str, start: int, end: int) -> int:
    """Return where to cut before `end`: after the last sentence that ends in the second half, else after a blank."""
    middle = start + (end - start) // 2
    for boundary in (_ENDS, _BLANK):
        cuts = [match.end() for match in boundary.finditer(text, middle, end)]
        if cuts:
            return cuts[-1]
    return end
