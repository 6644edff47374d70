"""What to know before answering a message: profiles, events, statements of the group, memos and pinned notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from historian.clock import Clock
from historian.constraints import is_lasting_constraint
from historian.context_query import ContextQuery, make_query
from historian.context_text import NOTHING, NOTHING_FITTING, fit
from historian.context_views import ContextItem, ContextSection, ContextView
from historian.errors import NotFoundError
from historian.events import EventStore
from historian.group_statements import GroupStatements
from historian.live import LiveOptions
from historian.messages import epoch_ms
from historian.model import EntityType, Message, Scope
from historian.pinned import PinnedStore
from historian.profile_reading import ProfileReader
from historian.readable import MessageFilter
from historian.record import Record
from historian.retrieval import AUTOMATIC_SECONDS, Patience
from historian.sameness import statement_key
from historian.searching import EventQuery, EventSearch
from historian.session import Session
from historian.views import FoundEvent, Memo, VisibleLine
from historian.zones import load_zone

SAME_SITTING = timedelta(hours=1)
"""Where the host does not name the conversation, what was said so long before the last message belongs to it."""
SAME_CONVERSATION = timedelta(hours=24)
LASTING = 0.6
"""How well an allergy, an illness or a diet fits any message, at least."""


@dataclass(frozen=True, slots=True)
class Shelves:
    """Where a context comes from. `memos` gives the newest ones of a scope, newest first."""

    record: Record
    events: EventStore
    search: EventSearch
    profiles: ProfileReader
    pinned: PinnedStore
    statements: GroupStatements
    memos: Callable[[Scope, int], Sequence[Memo]]


class ContextReader:
    """Gathers contexts. Thread-safe."""

    def __init__(self, shelves: Shelves, options: LiveOptions, clock: Clock) -> None:
        self._shelves = shelves
        self._options = options
        self._clock = clock

    def build(self, scope: Scope, session: Session, message: str) -> ContextView:
        """Return what bears on a message, within `context.max_tokens`; without one, on the conversation so far.

        Raises:
            StoreError: something cannot be read now.
        """
        options, patience = self._options.now.context, Patience(AUTOMATIC_SECONDS)
        query = make_query(message, self._turns(scope, session), session)
        events, degraded = self._events(scope, query, patience)
        told = {statement_key(found.event.text) for found in events}
        sections = [
            ContextSection("pinned", tuple(self._notes(scope))),
            ContextSection("profile", tuple(self._profile(scope, "user", query, told, patience))),
            ContextSection("events", tuple(_event_item(found) for found in events)),
            *self._of_group(scope, query, told, options.group_statements_k, patience),
            ContextSection("memos", tuple(self._memos(scope, options.recent_memos_inject_k))),
        ]

        def nothing() -> str:
            return NOTHING if not query.texts or not self._newest(scope, 1) else NOTHING_FITTING

        degraded = (*self._options.switched_off(), *degraded)
        return fit(sections, options.max_tokens, load_zone(session.timezone), degraded, nothing=nothing)

    def _turns(self, scope: Scope, session: Session) -> list[Message]:
        """Return the last turns of the conversation, oldest first."""
        limit = self._options.now.context.recent_turns_k
        if not limit:
            return []
        readable = self._shelves.record.within(frozenset({scope.owner.key}))
        conversation, spell = session.conversation_id, SAME_CONVERSATION
        now = session.at(self._clock.now())
        if conversation is None:
            last = readable.newest(MessageFilter(), limit=1)
            if not last:
                return []
            conversation, spell = last[0].message.conversation_id, SAME_SITTING
        wanted = MessageFilter(since_ms=epoch_ms(now - spell), conversation_id=conversation)
        return [one.message for one in reversed(readable.newest(wanted, limit=limit + 1))]

    def _events(
        self, scope: Scope, query: ContextQuery, patience: Patience
    ) -> tuple[list[FoundEvent], tuple[str, ...]]:
        """Return the events that fit best, each once, and what did not work; without a query the newest ones."""
        top_k = self._options.query.auto_top_k
        if not top_k:
            return [], ()
        if not query.texts:
            return self._newest(scope, top_k), ()
        best: dict[str, FoundEvent] = {}
        degraded: dict[str, None] = {}
        for text in query.texts:
            found = self._shelves.search.search(
                EventQuery(text, scope.reach(), top_k, automatic=True, patience=patience)
            )
            degraded |= dict.fromkeys(found.degraded)
            for one in found.events:
                known = best.get(one.event.event_id)
                if known is None or known.score < one.score:
                    best[one.event.event_id] = one
        ranked = sorted(best.values(), key=lambda one: (-one.score, one.event.event_id))
        return ranked[:top_k], tuple(degraded)

    def _newest(self, scope: Scope, limit: int) -> list[FoundEvent]:
        newest = self._shelves.events.within(scope.reach()).newest(limit)
        return [FoundEvent(stored.event, 0.0, ()) for stored in newest]

    def _notes(self, scope: Scope) -> Iterable[ContextItem]:
        for note in self._shelves.pinned.list(scope.owner):
            yield ContextItem(note.text, "note", note.note_id)

    def _profile(
        self, scope: Scope, kind: EntityType, query: ContextQuery, told: set[str], patience: Patience
    ) -> Iterable[ContextItem]:
        """Yield the lines of the own profile or the group's: those that fit, then those confirmed most, then new ones.

        What health asks for stands before all that does not fit well: no question about a meal names a nut. What an
        event says already is not said again.
        """
        try:
            view = self._shelves.profiles.read(scope, kind, None)
        except NotFoundError:
            return
        fitting = self._shelves.profiles.fitting_lines(scope, kind, view.entity_id, query.main, patience)
        lines = [(at, line) for at, line in enumerate(view.lines) if statement_key(line.text) not in told]
        fit_of = {line.text: _bearing(line.text, fitting.get(line.text, 0.0)) for _, line in lines}
        lines.sort(key=lambda pair: (-fit_of[pair[1].text], -pair[1].confirmed, -pair[0]))
        for _, line in lines:
            yield _line_item(line, f"{view.entity_type}:{view.entity_id}")

    def _of_group(
        self, scope: Scope, query: ContextQuery, told: set[str], limit: int, patience: Patience
    ) -> Iterable[ContextSection]:
        if scope.group_id is None:
            return
        yield ContextSection("group_profile", tuple(self._profile(scope, "group", query, told, patience)))
        statements = self._shelves.statements.strongest(scope.group_id, query.main, limit, patience) if limit else ()
        yield ContextSection(
            "group_memories", tuple(ContextItem(one.text, "memory", one.memory_id, one.at) for one in statements)
        )

    def _memos(self, scope: Scope, limit: int) -> Iterable[ContextItem]:
        for memo in self._shelves.memos(scope, limit) if limit else ():
            yield ContextItem(memo.text, "memo", memo.job_id, memo.at)


def _bearing(line: str, fitting: float) -> float:
    return max(fitting, LASTING) if is_lasting_constraint(line) else fitting


def _event_item(found: FoundEvent) -> ContextItem:
    return ContextItem(found.event.text, "event", found.event.event_id, found.event.timestamp)


def _line_item(line: VisibleLine, entity: str) -> ContextItem:
    if line.event_ids:
        return ContextItem(line.text, "event", line.event_ids[-1])
    return ContextItem(line.text, "profile", entity)
