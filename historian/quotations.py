"""Comparing a quotation with what it quotes: folded, and in pieces where it says that it is cut."""

from __future__ import annotations

import re

from historian.fold import fold
from historian.identity import negations

SHOWN = 600
"""Characters of a message that are shown for evidence."""
_CUT = re.compile(r"\s*(?:\[\s*(?:…|\.{3,})\s*\]|…+|\.{3,})\s*")
"""Marks of a truncation: … and ... , also in brackets."""
_FRAME = re.compile(r"\A[\s\"'“”‘’「『«]+|[\s\"'“”‘’」』»]+\Z")
_LEAST = 2
"""Characters that a piece between two marks has to have; a shorter one stands in anything."""


def is_quoted_from(quote: str, content: str) -> bool:
    """Say whether `quote` stands in `content`.

    Both are folded first (`fold`: width, case, accents, traditional characters, quotes and blanks), so that typography
    is no difference and any other character is. A quotation with truncation marks stands in it where its pieces do, in
    order and without overlap, and where no mark hides a denial. One that folds to nothing stands nowhere.
    """
    whole = fold(content)
    return _stands(quote, whole) or _stands(_FRAME.sub("", quote), whole)


def _stands(quote: str, whole: str) -> bool:
    if fold(quote) and fold(quote) in whole:
        return True
    pieces = [fold(piece) for piece in _CUT.split(quote)]
    pieces = [piece for piece in pieces if piece]
    if not pieces or (len(pieces) > 1 and min(map(len, pieces)) < _LEAST):
        return False
    at = whole.find(pieces[0]) + len(pieces[0])
    for piece in pieces[1:]:
        found = whole.find(piece, at)
        if found < 0 or negations(whole[at:found]):
            return False
        at = found + len(piece)
    return pieces[0] in whole


def shown(content: str, quote: str = "") -> str:
    """Return what is shown of a message: all of it where it is short, else the verified quotation or its beginning."""
    if len(content) <= SHOWN:
        return content
    if quote and len(quote) <= SHOWN:
        return quote
    return content[:SHOWN].rstrip() + "…"
