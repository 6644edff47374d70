"""How much of what one text says stands in another, by the words that carry meaning: no measure of sense."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from historian.fold import MAX_TERM_LENGTH, fold, runs
from historian.stems import STOP_CHARACTERS, STOP_WORDS, stem


@lru_cache(maxsize=4096)
def content(text: str) -> frozenset[str]:
    """Return the stems of the words in `text`, and its CJK characters one by one, without those that say little."""
    found: set[str] = set()
    for run, is_cjk in runs(fold(text)):
        if is_cjk:
            found.update(run)
        elif run not in STOP_WORDS:
            found.add(stem(run[:MAX_TERM_LENGTH]))
    return frozenset(found - STOP_CHARACTERS)


def share(part: str, whole: Iterable[str], *, names: Collection[str] = ()) -> float:
    """Return how much of the content of `part` stands in any of the texts of `whole`, 0..1; 1 where it has none.

    The `names` count for nothing: every line of a profile has the name of the one it is about.
    """
    common = frozenset[str]().union(*(content(name) for name in names))
    wanted = content(part) - common
    if not wanted:
        return 1.0
    return len(wanted.intersection(*[frozenset[str]().union(*(content(text) for text in whole))])) / len(wanted)


def has_no_content(text: str) -> bool:
    """Tell whether a text has nothing to be like another by: signs and pictures alone, one letter or digit, or 的."""
    characters = [(character, is_cjk) for run, is_cjk in runs(fold(text)) for character in run]
    return not characters or (len(characters) == 1 and (not characters[0][1] or characters[0][0] in STOP_CHARACTERS))
