"""Of several who speak, each is told what they said themselves: what Bob says of himself is no fact about Ann."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from historian.identity import Drift
from historian.identity_words import content_of
from historian.patterns import lazy_pattern
from historian.stances import clauses

_TO_ANYBODY = lazy_pattern(r"[?？吗你您]|\b(?i:you|your|yours)\b")
"""A question, or what is said to somebody: an answer may make it a fact about who answers."""
_ALSO = r"\s*(?:and\s+|[和与跟、]\s*)"


@dataclass(frozen=True, slots=True)
class Told:
    """What one speaker said, in the third person. `is_person` is false of an assistant."""

    speaker: str
    text: str
    is_person: bool = True


def misattributed(statement: str, told: Sequence[Told]) -> tuple[Drift, ...]:
    """Return the names to which a statement gives what only somebody else said."""
    speakers = {one.speaker for one in told if one.is_person}
    if len(speakers) < 2:
        return ()
    return tuple(
        Drift("order", f"{name} … {word}")
        for name, clause in _by_subject(statement, speakers)
        for word in _foreign(name, clause, told)[:1]
    )


def _by_subject(statement: str, speakers: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each clause that one of the speakers begins, or the clause before it, with that speaker."""
    names = "|".join(re.escape(name) for name in sorted(speakers, key=len, reverse=True))
    subject: str | None = None
    for clause in clauses(statement):
        for part in re.split(rf"{_ALSO}(?={names})", clause):
            begins = re.match(rf"\s*({names})(?![\w-]*['’]s\b)", part)
            subject = begins[1] if begins else subject
            if subject is not None:
                yield subject, part


def _foreign(name: str, clause: str, told: Sequence[Told]) -> list[str]:
    own = {*content_of(name)}
    others: set[str] = set()
    for one in told:
        is_of = one.speaker == name or name in one.text or not one.is_person or _TO_ANYBODY.search(one.text)
        (own if is_of else others).update(content_of(one.text))
    return [word for word in content_of(clause) if word in others and word not in own]
