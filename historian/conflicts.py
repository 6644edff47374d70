"""Looks for what the same person said to the contrary of a statement, earlier or later, and says what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from historian.memory_view import Resolution
from historian.model import Message
from historian.stances import Stance, clauses, is_denied, stances, topic_words
from historian.voices import Part

SEARCHED = 20
"""Messages that a search for the contrary looks at."""

Search = Callable[[str], Sequence[Message]]
Parts = Callable[[Message], Sequence[Part]]


@dataclass(frozen=True, slots=True)
class Contrary:
    """Messages for a statement and against it, and what follows. `later`: one against it is newer than all for it."""

    resolution: Resolution
    supporting: tuple[Message, ...]
    opposing: tuple[Message, ...]
    later: bool


@dataclass(frozen=True, slots=True)
class ConflictFinder:
    """`search` finds messages of users by meaning, `parts` tells whose words stand in one."""

    search: Search
    parts: Parts

    def find(self, statement: str, evidence: Sequence[Message]) -> Contrary | None:
        """Return what speaks against a statement, in its evidence or elsewhere in scope, or None where nothing does."""
        held = tuple(stances(statement))
        if not held:
            return None
        topic = topic_words(statement)
        found = {one.message_id: one for one in (*(self.search(topic) if topic else ()), *evidence)}
        supporting = [one for one in evidence if any(own.agrees(stance) for own in self._own(one) for stance in held)]
        opposing = [
            (one, stance, own)
            for one in found.values()
            for own in self._own(one)
            for stance in held
            if own.opposes(stance) and _may_contradict(one, evidence) and not self._is_aside(one, own, held)
        ]
        if not opposing:
            return None
        opposed = _in_time(one for one, _, _ in opposing)
        elsewhere = all(own.is_elsewhere(stance) for _, stance, own in opposing)
        newest = max((one.ts for one in supporting or evidence), default=None)
        later = not elsewhere and (newest is None or opposed[-1].ts >= newest)
        is_open = later and newest is not None and opposed[-1].ts == newest
        resolution: Resolution = "context" if elsewhere else "open" if is_open or not supporting else "changed"
        return Contrary(resolution, _in_time(supporting), opposed, later)

    def _is_aside(self, message: Message, opposing: Stance, held: Sequence[Stance]) -> bool:
        """Say whether another clause of a message bears a statement out, and this one speaks of another thing."""
        bearing = [
            own
            for own in self._own(message)
            if own.denied != opposing.denied and any(own.agrees(stance) for stance in held)
        ]
        return bool(bearing) and not any(opposing.takes_back(own) for own in bearing)

    def _own(self, message: Message) -> list[Stance]:
        own = [part.text for part in self.parts(message) if part.kind == "own"]
        return [stance for text in own for stance in stances(text)]


def _may_contradict(message: Message, evidence: Sequence[Message]) -> bool:
    """Only who said a thing can take it back; against the words of an assistant anybody's own words count."""
    senders = {one.sender_id for one in evidence if one.role == "user"}
    return not senders or message.sender_id in {*senders, None} or None in senders


def _in_time(messages: Iterable[Message]) -> tuple[Message, ...]:
    return tuple(sorted({one.message_id: one for one in messages}.values(), key=lambda one: (one.ts, one.message_id)))


def tells_both(statement: str) -> bool:
    """Say whether a statement itself has a clause that denies and one that does not: it tells of the change."""
    return len({is_denied(clause) for clause in clauses(statement)}) == 2
