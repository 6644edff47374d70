"""Has the model phrase again what rules wrote: events stored without a model, or while it was away."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from historian.amendments import Amendments, Restatement
from historian.chat import Chat, troubles_of
from historian.clock import Clock
from historian.events import StoredEvent
from historian.evidence import EvidenceFinder
from historian.indexer import Indexer
from historian.likeness import Likeness
from historian.model import Event, Origin, Scope
from historian.rewording import LineKeeper
from historian.session import Session
from historian.turn import Turn
from historian.work import TurnWork

if TYPE_CHECKING:
    from historian.drafting import Draft
    from historian.scribe import Scribe

BURST = 20
"""Turns that may be phrased again at once before the budget of an hour is spread."""
LOOK_SECONDS = 30.0
"""How often it is looked for something to phrase again when there was nothing."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What became of the events of one turn: how many have a better text now. `last` is the row to go on behind."""

    looked_at: int
    better: int
    last: int
    is_away: bool = False


@dataclass(slots=True)
class Upgrader:
    """Phrases stored events again, in place: text, words, vector and profile lines. Blocks; thread-safe."""

    amendments: Amendments
    evidence: EvidenceFinder
    likeness: Likeness
    keeper: LineKeeper
    indexer: Indexer
    chat: Chat
    scribe: Callable[[], Scribe]
    per_hour: Callable[[], int]
    clock: Clock
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _budget: float = BURST
    _counted_at: float = field(default_factory=time.monotonic)
    _after: int = 0

    def turn(self, *, after: int = 0, everything: bool = False, patiently: bool = False) -> Upgrade | None:
        """Phrase the events of the first turn behind the row `after` again; None where there is nothing to do.

        With `everything` also those that a model phrased already. What the model cannot do better stays as it is.

        Raises:
            StoreError, ConflictError: a store cannot do its work now; it may be repeated.
        """
        with self._lock:
            self.keeper.carry()
            found = self.amendments.next_turn(after=after, everything=everything, patiently=patiently)
            if not found:
                return None
            drafts, is_away = self._drafts(found)
            better = 0 if is_away else sum(self._restate(one, drafts[at]) for at, one in enumerate(found))
            if not is_away:
                self.keeper.carry()
            return Upgrade(len(found), better, found[-1].row, is_away)

    def quietly(self) -> float:
        """Phrase one turn again, if the budget allows and the model answers; return the seconds until the next look.

        Raises:
            StoreError, ConflictError: as `turn`.
        """
        if not self.chat.configured("rewrite"):
            self.keeper.carry()
            return LOOK_SECONDS
        wait = max(self._until_affordable(), self._until_it_answers())
        if wait > 0:
            return min(wait, LOOK_SECONDS)
        done = self.turn(after=self._after, patiently=True)
        if done is None:
            self._after = 0
            return LOOK_SECONDS
        self._after = done.last
        self._budget -= 1
        return LOOK_SECONDS if done.is_away else 0.0

    def _until_affordable(self) -> float:
        per_hour = self.per_hour()
        if per_hour == 0:
            return LOOK_SECONDS
        now = time.monotonic()
        earned = (now - self._counted_at) * per_hour / 3600
        self._budget, self._counted_at = min(BURST, per_hour, self._budget + earned), now
        return 0.0 if self._budget >= 1 else (1 - self._budget) * 3600 / per_hour

    def _until_it_answers(self) -> float:
        now = self.clock.now()
        troubles = troubles_of(self.chat, "rewrite")
        return max(((one.retry_at - now).total_seconds() for one in troubles), default=0.0)

    def _drafts(self, found: Sequence[StoredEvent]) -> tuple[dict[int, Draft], bool]:
        """Return a draft for each event, and whether the model was not there to make them."""
        from historian.drafting import MODEL, Remembered, draft_statements

        events = [one.event for one in found]
        work = work_of(events)
        remembered = Remembered(lambda text: None, lambda name: self.evidence.mentions(work, name))
        drafts = draft_statements(work, self.evidence.of_event(events[0], work), remembered, self.scribe())
        away = {f"{MODEL}outage", f"{MODEL}refused"}
        return dict(drafts), any(away & set(draft.flags) for draft in drafts.values())

    def _restate(self, stored: StoredEvent, draft: Draft) -> bool:
        """Take a draft where a model wrote it and it is no worse, and say whether it was taken."""
        event = stored.event
        if draft.origin is not Origin.MODEL or (event.is_absolute and not draft.is_absolute):
            self.amendments.tried([event])
            return False
        earlier = self.likeness.same_as(event.owner, draft.text, but=[event.event_id])
        same_as = earlier.event.event_id if earlier is not None and earlier.row < stored.row else None
        row = self.amendments.restate(
            event, Restatement(draft.text, draft.flags, draft.is_absolute, draft.origin, same_as)
        )
        if row is not None and same_as is not None:
            self.indexer.discard("events", [row])
        return row is not None


def work_of(events: Sequence[Event]) -> TurnWork:
    """Return the turn that events of one turn came from, as far as they tell."""
    first = events[0]
    groups = frozenset({first.group_id}) if first.group_id is not None else frozenset[str]()
    return TurnWork(
        job_id=first.request_id,
        scope=Scope(first.user_id, first.group_id, groups),
        session=Session(
            timezone=first.timezone,
            sender_id=first.sender_id,
            sender_name=first.sender_name,
            location=first.location,
        ),
        turn=Turn(observations=tuple(event.original for event in events)),
        mark="",
        ended_at=first.timestamp,
        echoes=frozenset(),
    )
