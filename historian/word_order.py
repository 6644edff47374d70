"""The order of words, as far as it says who does what to whom: 小明欠李雷 is not 李雷欠小明."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from historian.fold import CJK, fold
from historian.patterns import words
from historian.wording import canonical, is_light, lemma

_STEP = re.compile(
    r"\d{4}-\d\d-\d\d|(?<!\d)\d{1,2}:\d\d(?!\d)|"
    f"[A-Za-z]+[-_]?[0-9][A-Za-z0-9_.-]*|[{CJK}]|(?:(?![{CJK}])[^\\W\\d_])+"
)
_RELATIONS = frozenset(words("from to than over 比 从 到 给 对"))
"""Words without a meaning of their own, on both sides of which nothing may change places."""

_REVERSED = 3
"""So many words in exactly the opposite order have been exchanged; a phrase that only moved leaves its own in order."""


def exchanged(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Return words that stand the other way round in `after`, or nothing. What stands twice in one is left out."""
    once = {word for word, count in Counter(before).items() if count == 1}
    once &= {word for word, count in Counter(after).items() if count == 1}
    stood = {word: at for at, word in enumerate(before) if word in once}
    found = _falling([(stood[word], word) for word in after if word in once])
    return found if len(found) >= _REVERSED else ()


def _falling(placed: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Return the words of the longest run, with gaps, whose places fall."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, (place, _) in enumerate(placed):
        length = bisect_left(tails, -place)
        before.append(ends[length - 1] if length else -1)
        tails[length:] = [-place, *tails[length + 1 :]]
        ends[length:] = [at, *ends[length + 1 :]]
    found: list[str] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        found.append(placed[at][1])
        at = before[at]
    return tuple(reversed(found))


def steps(text: str) -> list[str]:
    """Return what stands in a text in an order that matters: content words, ids, days, hours, relations."""
    tokens = (lemma(match[0]) for match in _STEP.finditer(canonical(fold(text))))
    return [token for token in tokens if token in _RELATIONS or not is_light(token)]


def is_name(text: str) -> bool:
    """Tell whether a given word may be looked for as a name."""
    return len(text) > 1 and not any(character.isdigit() for character in text) and not is_light(lemma(text.lower()))


def places(text: str, names: set[str]) -> list[str]:
    """Return the names in the order in which they occur first; of two that begin together the longer one."""
    found: dict[int, str] = {}
    for name in names:
        at = text.find(name)
        if at >= 0 and len(name) > len(found.get(at, "")):
            found[at] = name
    return [found[at] for at in sorted(found)]
