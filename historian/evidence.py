"""The messages behind a turn: named by the agent, found in the record, or recorded now from what the turn brought."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from historian.fold import fold, terms
from historian.model import Event, Message, Owner
from historian.options import HistorianOptions
from historian.record import Record
from historian.text import clip
from historian.work import TurnWork
from historian.zones import load_zone, zone_of

UNSAID_WINDOW = timedelta(minutes=30)
"""A turn that names no message may rest on one of the record that was said this short a time before."""
SAME_TURN = timedelta(minutes=10)
"""Two `end` calls with one source message this close together speak of the same turn; later it was said again."""
NAMES_LOOKED_AT = 50
"""Newest messages in which the speaker's name is looked for when the turn itself does not tell it."""
SHOWN = 12
"""Messages behind a turn, the last ones, of which a model reads the beginnings."""
UNKNOWN_CONVERSATION = "end"
"""The conversation of a stand-in where the host does not say which one it is."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a turn's observations rest on. `said_at` is in the speaker's zone; `sources` are texts, oldest first.

    `recent` are earlier texts. For a model there are `excerpt` and `lines`, the same texts clipped, the latter with who
    said each.
    """

    message_ids: tuple[str, ...]
    sources: tuple[str, ...]
    recent: tuple[str, ...]
    said_at: datetime
    sender_name: str | None
    excerpt: str = ""
    lines: tuple[str, ...] = ()


class EvidenceFinder:
    """Finds or makes the evidence of turns. Idempotent: the same turn again gives the same message ids."""

    def __init__(self, record: Record, options: Callable[[], HistorianOptions]) -> None:
        self._record = record
        self._options = options

    def find(self, work: TurnWork, also: Callable[[], object] | None = None) -> Evidence:
        """Return the evidence of `work`, recording its source message where the turn is not in the record yet.

        Where it does, what `also` stores is stored together with that message; elsewhere `also` is not called.
        """
        return self._made(work, self._named(work) or self._source(work, also) or self._unsaid(work))

    def of_event(self, event: Event, work: TurnWork) -> Evidence:
        """Return the evidence of an event that is stored; `work` is the turn that it came from, as far as known."""
        found = self._record.within(work.scope.reach()).get(event.message_ids)
        return replace(self._made(work, [stored.message for stored in found]), said_at=event.timestamp)

    def _made(self, work: TurnWork, messages: Sequence[Message]) -> Evidence:
        last = max(messages, key=lambda message: message.ts, default=None)
        ids = tuple(message.message_id for message in messages)
        recent = self._recent(work, ids)
        options = self._options()
        shown = [clip(message.content, options.source_message_max_len) for message in messages[-SHOWN:]]
        spoken = ((who, clip(text, options.recent_message_line_max_len)) for who, text in recent)
        return Evidence(
            message_ids=ids,
            sources=tuple(message.content for message in messages),
            recent=tuple(text for _, text in recent),
            said_at=_local(last, work),
            sender_name=work.session.sender_name or self._name(work, messages),
            excerpt="\n".join(shown),
            lines=tuple(f"{who}: {text}" if who else text for who, text in spoken),
        )

    def is_forgotten(self, work: TurnWork) -> bool:
        """Say whether the turn names messages and each of them was forgotten, as while the turn was handed in."""
        named, scope = work.turn.message_ids, work.scope
        if not named or self._named(work):
            return False
        owners = {scope.owner, Owner("user", scope.user_id), *(Owner("group", one) for one in scope.readable_groups)}
        return self._record.forgotten(owners, named) == frozenset(named)

    def mentions(self, work: TurnWork, name: str) -> bool:
        """Say whether the record of this owner has the name anywhere: then nobody invented that person."""
        wanted = '"' + name.replace('"', " ") + '"'
        return bool(self._record.within(frozenset({work.scope.owner.key})).lexical(wanted, limit=1).items)

    def _name(self, work: TurnWork, messages: Sequence[Message]) -> str | None:
        """Return the name under which the speaker was recorded last: in the evidence, else a little earlier."""
        earlier = self._record.within(frozenset({work.scope.owner.key})).list(limit=NAMES_LOOKED_AT)
        spoken = [*messages, *(stored.message for stored in earlier)]
        return next((m.sender_name for m in spoken if m.sender_name and m.sender_id == work.sender_id), None) or next(
            (m.sender_name for m in messages if m.sender_name and m.role == "user"), None
        )

    def _named(self, work: TurnWork) -> list[Message]:
        found = self._record.within(work.scope.reach()).get(work.turn.message_ids)
        return [stored.message for stored in found]

    def _source(self, work: TurnWork, also: Callable[[], object] | None) -> list[Message]:
        text = work.turn.source_message
        if text is None:
            return []
        owner = work.scope.owner
        readable = self._record.within(frozenset({owner.key}))
        cut = self._options().source_message_max_len
        known = self._record.find_same(owner, text, "user", work.session.conversation_id, work.ended_at, cut)
        found = [stored.message for stored in readable.get([known])] if known is not None else []
        if found and (found[0].meta.get("via") != "end" or work.ended_at - found[0].ts < SAME_TURN):
            return found[:1]
        made = _stand_in(work, f"end:{work.job_id}", text, cut)
        if self._record.append(owner, [made], also=also).inserted:
            return [made]
        return [stored.message for stored in readable.get([made.message_id])]

    def _unsaid(self, work: TurnWork) -> list[Message]:
        """Messages of the last half hour that share words with the observations: the host records, the model forgot."""
        since = int((work.ended_at - UNSAID_WINDOW).timestamp() * 1000)
        until = int(work.ended_at.timestamp() * 1000) + 1
        recent = self._record.within(frozenset({work.scope.owner.key})).list(
            since_ms=since, until_ms=until, role="user", conversation_id=work.session.conversation_id, limit=20
        )
        words = set[str]().union(*(_words(text) for text in work.turn.observations))
        return [stored.message for stored in reversed(recent) if len(words & _words(stored.message.content)) >= 2]

    def _recent(self, work: TurnWork, evidence: Sequence[str]) -> tuple[tuple[str | None, str], ...]:
        """Return who said what before, oldest first."""
        if work.turn.recent_messages:
            return tuple((m.sender_name or m.sender_id or m.role, m.content) for m in work.turn.recent_messages)
        limit = self._options().recent_messages_inject_k
        if limit == 0:
            return ()
        found = self._record.within(frozenset({work.scope.owner.key})).list(
            until_ms=int(work.ended_at.timestamp() * 1000) + 1,
            conversation_id=work.session.conversation_id,
            limit=limit,
        )
        earlier = [stored.message for stored in reversed(found) if stored.message.message_id not in evidence]
        return tuple((m.sender_name or m.sender_id or m.role, m.content) for m in earlier)


def _stand_in(work: TurnWork, message_id: str, text: str, cut: int) -> Message:
    meta: dict[str, object] = {"via": "end"}
    if len(text) >= cut:
        meta["cut"] = cut
    if work.session.conversation_id is None:
        meta["conversation"] = "unknown"
    return Message(
        message_id=message_id,
        conversation_id=work.session.conversation_id or UNKNOWN_CONVERSATION,
        role="user",
        content=text,
        ts=work.ended_at.astimezone(load_zone(work.session.timezone)),
        sender_id=work.sender_id,
        sender_name=work.session.sender_name,
        meta=meta,
    )


def _local(last: Message | None, work: TurnWork) -> datetime:
    """The instant the turn was said, in the zone of its speaker: the session's is the known zone of its own user."""
    zone: tzinfo = load_zone(work.session.timezone)
    if last is None:
        return work.ended_at.astimezone(zone)
    own = last.sender_id in (None, work.scope.user_id)
    known = work.session.timezone if own else None
    return last.ts.astimezone(zone_of(known, last.ts, last.zone_known, work.session.timezone))


def _words(text: str) -> set[str]:
    """Terms that say something: single CJK characters and letters do not."""
    return {term for term in terms(fold(text)) if len(term) > 1}
