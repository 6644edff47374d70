"""What was so and is no more: a rewrite must not tell it as if it were so still (lived in Oslo, lives in Oslo)."""

from __future__ import annotations

import re

from historian.patterns import lazy_pattern, words
from historian.tense import IRREGULAR
from historian.wording import lemma

_WORD = lazy_pattern(r"[a-z]+(?:['’][a-z]+)?")
_POLITE = frozenset(words("wanted hoped planned wished thought wondered needed meant"))
"""Pasts in which people speak of the present: I wanted to ask."""
_STILL = frozenset(words("am is are be been being have has having get gets getting")) | {"i'm", "you're", "we're"}
"""Before a participle: what is done, or has been, may hold now."""
_ALIKE = frozenset(words("put set cut cost hit hurt let quit read shut"))
"""Pasts that look like the present."""
_PAST = frozenset(IRREGULAR) - _ALIKE
_RETOLD = lazy_pattern(r"\b(?:did|didn['’]t|used to|would)\b", re.IGNORECASE)


def told_as_present(observation: str, rewrite: str) -> str | None:
    """Return a verb of the past that `rewrite` has in the present only, or None."""
    if _RETOLD.search(rewrite):
        return None
    written = _verbs(rewrite, participles=True)
    for verb, forms in _verbs(observation, participles=False).items():
        others = written.get(verb, [])
        is_over = all(past and form not in _POLITE for form, past in forms)
        if is_over and others and not any(past for _, past in others):
            return forms[0][0]
    return None


def _verbs(text: str, *, participles: bool) -> dict[str, list[tuple[str, bool]]]:
    """Return the forms of each word that may be a verb, and whether each is one of the past.

    With `participles` those of "has lived" and "is done" count as such.
    """
    found: dict[str, list[tuple[str, bool]]] = {}
    before = ""
    for match in _WORD.finditer(text.lower()):
        word = match[0].replace("’", "'")
        base = lemma(word)
        is_past = word in _PAST or (word.endswith("ed") and len(word) > 3 and base != word)
        if not participles and (before in _STILL or before.endswith(("'ve", "'s"))):
            is_past = False
        if not word.endswith("ing"):
            found.setdefault(base, []).append((word, is_past))
        before = word
    return found
