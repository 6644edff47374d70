"""Conversations without an `end`: which exchanges are considered, and what becomes of what is worth remembering."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from historian.errors import InvalidInputError
from historian.model import Event, Message, Owner, Scope
from historian.queue import Queue
from historian.receipts import ReceiptStore
from historian.record import Record
from historian.session import Session
from historian.views import CaptureDecision
from historian.work import CAPTURE, scope_from, scope_payload
from historian.zones import zone_of

if TYPE_CHECKING:
    from historian.considering import Considerer, Decision, Finding, Line
    from historian.rewrite import RewriteContext

CONTEXT = 6
"""Earlier messages that help to understand an exchange."""
CONTEXT_FOR = timedelta(minutes=30)
MOST_MESSAGES = 40
"""Messages considered at a time; more are considered in several exchanges."""

GONE = "The messages are no longer in the record."


@dataclass(frozen=True, slots=True)
class CaptureWork:
    """One exchange to be considered: messages of one conversation, all of them in the record."""

    job_id: str
    scope: Scope
    session: Session
    conversation_id: str
    message_ids: tuple[str, ...]
    mark: str

    @property
    def request_id(self) -> str:
        """Made of the messages, so that the same exchange is never remembered twice."""
        return f"capture:{self.mark[:32]}"

    @classmethod
    def read(cls, job_id: str, payload: Mapping[str, Any]) -> CaptureWork:
        """Return the work that a job of kind `capture` describes.

        Raises:
            InvalidInputError: it describes none; trying again would not help.
        """
        try:
            return cls(
                job_id=job_id,
                scope=scope_from(payload["scope"]),
                session=Session(**payload["session"]),
                conversation_id=str(payload["conversation_id"]),
                message_ids=tuple(payload["message_ids"]),
                mark=str(payload["fingerprint"]),
            )
        except (KeyError, TypeError, ValueError):
            raise InvalidInputError("The payload of the job is not an exchange; discard the job.") from None


@dataclass(frozen=True, slots=True)
class CaptureDesk:
    """Where recorded messages are handed in to be considered. Thread-safe."""

    queue: Queue
    receipts: ReceiptStore
    wake: Callable[[], None]

    def hand_in(self, scope: Scope, session: Session, messages: Sequence[Message]) -> list[str]:
        """Queue the exchanges among recorded messages, and return their job ids; one that was handed in stays one job.

        Exchanges in which no person speaks are left out.

        Raises:
            StoreError: a job cannot be written.
        """
        return [job_id for job_id, _ in self.entered(scope, session, messages)]

    def entered(self, scope: Scope, session: Session, messages: Sequence[Message]) -> list[tuple[str, bool]]:
        """Do as `hand_in`, and say of each job whether it is new."""
        conversations: dict[str, list[Message]] = {}
        for message in messages:
            conversations.setdefault(message.conversation_id, []).append(message)
        jobs: list[tuple[str, bool]] = []
        for conversation_id, said in conversations.items():
            said.sort(key=lambda message: message.ts)
            for start in range(0, len(said), MOST_MESSAGES):
                part = said[start : start + MOST_MESSAGES]
                if any(message.role == "user" for message in part):
                    jobs.append(self._hand_in(scope, session, conversation_id, part))
        if jobs:
            self.wake()
        return jobs

    def _hand_in(
        self, scope: Scope, session: Session, conversation_id: str, messages: Sequence[Message]
    ) -> tuple[str, bool]:
        ids = [message.message_id for message in messages]
        mark = mark_of(scope.owner, conversation_id, ids)
        known = self.receipts.by_fingerprint(scope.owner, mark)
        if known is not None:
            return known.job_id, False
        for _, job in self.queue.unfinished(scope.owner.key):
            if job.kind == CAPTURE and job.payload.get("fingerprint") == mark:
                return job.job_id, False
        payload: dict[str, object] = {
            "scope": scope_payload(scope),
            "session": session.as_payload(),
            "conversation_id": conversation_id,
            "message_ids": ids,
            "fingerprint": mark,
        }
        return self.queue.enqueue(CAPTURE, scope.owner.key, payload).job_id, True


def mark_of(owner: Owner, conversation_id: str, message_ids: Sequence[str]) -> str:
    """Return what makes two exchanges the same: whose they are, and their messages."""
    document = json.dumps([owner.key, conversation_id, *message_ids])
    return hashlib.sha256(document.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Capturer:
    """Has exchanges considered and makes events of what is found. Blocks; thread-safe."""

    record: Record
    considerer: Callable[[], Considerer]

    def capture(self, work: CaptureWork, same_as: Callable[[str], str | None]) -> tuple[CaptureDecision, list[Event]]:
        """Return what was decided about an exchange, and the events that it makes.

        Raises:
            StoreError: the messages cannot be read.
        """
        lines = self._lines(work)
        if not lines:
            return CaptureDecision(should_remember=False, reason=GONE, by="rules"), []
        decision = self.considerer().consider(lines, _context(work, lines))
        events: list[Event] = []
        for index, finding in enumerate(decision.found):
            earlier = same_as(finding.statement) or next(
                (one.event_id for one in events if one.text == finding.statement), None
            )
            events.append(_event(work, index, finding, earlier))
        return decided(decision, events), events

    def _lines(self, work: CaptureWork) -> list[Line]:
        from historian.considering import line_of

        readable = self.record.within(frozenset({work.scope.owner.key}))
        found = (_in_its_zone(one.message, work) for one in readable.get(work.message_ids))
        said = sorted(found, key=lambda message: message.ts)
        if not said:
            return []
        first = said[0].ts
        before = readable.recent(work.conversation_id, limit=CONTEXT, before=first)
        new = {message.message_id for message in said}
        earlier = [
            _in_its_zone(one.message, work)
            for one in before
            if first - one.message.ts <= CONTEXT_FOR and one.message.message_id not in new
        ]
        context = _context_at(work, said[-1].ts)
        return [
            *(line_of(message, _speaker(message, work), context, is_new=False) for message in earlier),
            *(line_of(message, _speaker(message, work), context, is_new=True) for message in said),
        ]


def _in_its_zone(message: Message, work: CaptureWork) -> Message:
    """Return a message with its time in the zone of its speaker, whose calendar `tomorrow` follows."""
    own = message.sender_id in (None, work.scope.user_id)
    zone = zone_of(work.session.timezone if own else None, message.ts, message.zone_known, work.session.timezone)
    return replace(message, ts=message.ts.astimezone(zone))


def _speaker(message: Message, work: CaptureWork) -> str:
    if message.role != "user":
        return message.sender_name or work.session.agent_name or message.sender_id or message.role
    own = message.sender_id in (None, work.scope.user_id)
    name = message.sender_name or (work.session.sender_name if own else None)
    return name or message.sender_id or work.scope.user_id


def _context(work: CaptureWork, lines: Sequence[Line]) -> RewriteContext:
    spoken = [line for line in lines if line.is_new and line.message.role == "user"]
    last = spoken[-1] if spoken else lines[-1]
    return replace(_context_at(work, last.message.ts), speaker_name=last.speaker)


def _context_at(work: CaptureWork, said_at: datetime) -> RewriteContext:
    from historian.rewrite import RewriteContext

    return RewriteContext(
        said_at=said_at,
        agent_name=work.session.agent_name,
        group_name=work.session.group_name,
        location=work.session.location,
    )


def _event(work: CaptureWork, index: int, finding: Finding, same_as: str | None) -> Event:
    spoken = [line for line in finding.cited if line.message.role == "user"] or [*finding.cited]
    last = spoken[-1]
    return Event(
        event_id=f"{work.request_id}:0:{index}",
        owner=work.scope.owner,
        request_id=work.request_id,
        end_seq=0,
        index=index,
        text=finding.statement,
        original=finding.original,
        timestamp=last.message.ts,
        timezone=work.session.timezone,
        user_id=work.scope.user_id,
        group_id=work.scope.group_id,
        sender_id=last.message.sender_id or work.scope.user_id,
        sender_name=last.speaker,
        location=work.session.location,
        request_type="group" if work.scope.group_id else "private",
        message_ids=tuple(line.message.message_id for line in finding.cited),
        is_absolute=finding.is_absolute,
        flags=finding.flags,
        origin=finding.origin,
        same_as=same_as,
    )


def decided(decision: Decision, events: Sequence[Event]) -> CaptureDecision:
    """Return a decision as it stands in the receipt of its job."""
    return CaptureDecision(bool(events), decision.reason, decision.by, tuple(event.event_id for event in events))
