"""From a statement to its receipts: the messages an event rests on, and the profile lines that rest on it."""

from __future__ import annotations

from historian.errors import NotFoundError
from historian.events import EventStore, ReadableEvents, StoredEvent
from historian.evidence_views import EventChain, EvidenceItem, RestingLine
from historian.excerpts import read_excerpts
from historian.model import EntityType, Event, Scope
from historian.profile_reading import ProfileReader
from historian.record import Record

_NOT_THERE = "There is no event with this id in this scope; take one from search_events or get_profile."


class ChainReader:
    """Follows events to their messages and profile lines, within a scope. Thread-safe."""

    def __init__(self, record: Record, events: EventStore, profiles: ProfileReader) -> None:
        self._record = record
        self._events = events
        self._profiles = profiles

    def read(self, scope: Scope, event_id: str) -> EventChain:
        """Return an event of the asker or of a group of the asker with its chain.

        Raises:
            NotFoundError: there is no such event in scope.
        """
        reach = scope.whole_reach
        readable = self._events.within(reach)
        found = readable.get(event_id)
        if found is None:
            raise NotFoundError(_NOT_THERE)
        event = found.event
        messages = self._messages(readable, found, scope)
        shown = {item.message.message_id for item in messages}
        same_as = readable.get(event.same_as) if event.same_as is not None else None
        return EventChain(
            event=event,
            messages=messages,
            missing=tuple(known for known in event.message_ids if known not in shown),
            lines=self._lines(scope, event),
            same_as=same_as.event if same_as else None,
        )

    def _messages(self, readable: ReadableEvents, found: StoredEvent, scope: Scope) -> tuple[EvidenceItem, ...]:
        rows = readable.message_rows(found.row)
        excerpts = read_excerpts(self._record.within(scope.whole_reach), rows)
        return tuple(EvidenceItem.of(excerpts[row], ("evidence",)) for row in rows if row in excerpts)

    def _lines(self, scope: Scope, event: Event) -> tuple[RestingLine, ...]:
        people = dict.fromkeys(one for one in (event.user_id, event.sender_id) if one is not None)
        entities: list[tuple[EntityType, str]] = [("user", person) for person in people]
        if event.group_id is not None:
            entities.append(("group", event.group_id))
        lines: list[RestingLine] = []
        for kind, identifier in entities:
            try:
                view = self._profiles.read(scope, kind, identifier)
            except NotFoundError:
                continue
            lines += [
                RestingLine(kind, identifier, line.text) for line in view.lines if event.event_id in line.event_ids
            ]
        return tuple(lines)
