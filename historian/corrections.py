"""Observations that word a flagged one anew: an agent was told what needs context, and calls `end` once more."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from historian.correction import Correction
from historian.identity import negations
from historian.identity_numbers import figures
from historian.model import Scope
from historian.session import Session
from historian.turn import Advice, Turn

WITHIN = timedelta(minutes=10)
"""How long after the advice a call counts as following it."""
REMEMBERED = 500
"""Flagged turns remembered, over all users."""


@dataclass(frozen=True, slots=True)
class _Flagged:
    """One observation that the gate found fault with, and what it found."""

    where: tuple[str, str, str | None, str | None]
    at: datetime
    job_id: str
    request_id: str
    index: int
    text: str
    found: tuple[str, ...]


class Corrections:
    """Remembers what was flagged lately, by person and conversation. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flagged: deque[_Flagged] = deque(maxlen=REMEMBERED)

    def note(
        self, scope: Scope, session: Session, turn: Turn, gate: Sequence[Advice], job_id: str, at: datetime
    ) -> None:
        """Remember the flagged observations of a turn that was queued."""
        if not gate:
            return
        found: dict[int, list[str]] = {}
        for advice in gate:
            found.setdefault(advice.index, []).append(advice.found)
        with self._lock:
            for index, words in found.items():
                self._flagged.append(
                    _Flagged(
                        _where(scope, session),
                        at,
                        job_id,
                        session.request_id or job_id,
                        index,
                        turn.observations[index],
                        tuple(words),
                    )
                )

    def of(
        self, scope: Scope, session: Session, turn: Turn, gate: Sequence[Advice], at: datetime
    ) -> tuple[Correction, ...]:
        """Return which flagged observations this turn words anew; each is corrected once."""
        with self._lock:
            where = _where(scope, session)
            candidates = [one for one in self._flagged if one.where == where and at - one.at <= WITHIN]
            found: list[Correction] = []
            for old in reversed(candidates):
                taken = {correction.by for correction in found}
                new = next((i for i in _better(old, turn, gate) if i not in taken), None)
                if new is not None:
                    found.append(Correction(old.job_id, old.request_id, old.index, new))
                    self._flagged.remove(old)
        return tuple(found)


def _better(old: _Flagged, turn: Turn, gate: Sequence[Advice]) -> Iterator[int]:
    """Yield the observations that word an old one anew, with fewer faults."""
    for index, text in enumerate(turn.observations):
        faults = sum(advice.index == index for advice in gate)
        if faults < len(old.found) and words_anew(old.text, old.found, text):
            yield index


def words_anew(old: str, found: Sequence[str], new: str) -> bool:
    """Return whether `new` is `old` with what was found in it made absolute: all its other words, in their order."""
    from historian.identity_words import content_of

    rest = old
    for words in found:
        rest = rest.replace(words, " ")
    kept, written = content_of(rest), content_of(new)
    follows = iter(written)
    if old == new or not kept or not all(word in follows for word in kept):
        return False
    numbers = figures(rest)
    return (
        len(negations(old)) == len(negations(new))
        and numbers.ids <= figures(new).ids
        and numbers.numbers <= figures(new).numbers
        and len(written) <= 3 * len(kept) + 12
    )


def _where(scope: Scope, session: Session) -> tuple[str, str, str | None, str | None]:
    return (scope.owner.key, scope.user_id, session.conversation_id, session.sender_id)
