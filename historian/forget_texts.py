"""What of a text comes from something that is to be forgotten, when it rests on other things too."""

from __future__ import annotations

import re
from collections.abc import Iterable

from historian.fold import fold, terms
from historian.patterns import lazy_pattern

_SENTENCE = lazy_pattern(r"[^。！？!?；;\n]*?(?:[。！？!?；;\n]+|\.(?=\s|\Z)|\Z)", re.DOTALL)
_SHORTEST = 4
"""Characters of a Western word that tells anything; Chinese pairs of characters and numbers always do."""


def told(text: str) -> frozenset[str]:
    """Return the terms of a text that tell something."""
    return frozenset(term for term in terms(fold(text)) if _tells(term))


def only_there(gone: Iterable[str], kept: Iterable[str]) -> frozenset[str]:
    """Return the terms that are in `gone` texts and in none of the `kept` ones."""
    of_gone = frozenset[str]().union(*map(told, gone))
    return of_gone.difference(*map(told, kept))


def without(text: str, foreign: frozenset[str]) -> str:
    """Return a text without the sentences that have one of these terms; empty where none is left."""
    if not foreign & told(text):
        return text
    sentences = [found[0] for found in _SENTENCE.finditer(text) if found[0]]
    return "".join(one for one in sentences if not foreign & told(one)).strip()


def _tells(term: str) -> bool:
    if len(term) < 2:
        return False
    return len(term) >= _SHORTEST or not term.isascii() or any(character.isdigit() for character in term)
