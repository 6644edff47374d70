"""Verifies a memory view: every id is read again in scope, every quotation and statement compared with the record."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo

from historian.conflicts import SEARCHED, ConflictFinder, Contrary, tells_both
from historian.errors import InvalidInputError, NotFoundError
from historian.evidence_reading import ScopedEvidence
from historian.fold import fold
from historian.memory_view import Claim, Conflict, Doubt, Limits, MemoryView, Point, Proof, Quote, Removed
from historian.message_question import MOST_CHARACTERS
from historian.model import Message
from historian.named_days import named_days
from historian.quotations import is_quoted_from, shown
from historian.supporting import unsupported
from historian.voices import Part, parts_of
from historian.zones import parse_instant

UNKNOWN = "There is no such message in this scope."
UNQUOTED = "No message is named that proves it."
ALTERED = "The quotation differs from the record."
UNNAMED = "In a group, name whose words they are."
_SPEAKS_OF_ASKER = re.compile(r"\b(?:user|asker|i|my|you|your)\b|用户|我|你", re.IGNORECASE)
ASSISTANT_SAYS = "assistant suggests recommends advises explains 推荐 建议 解释"
"""What a statement about the words of an assistant may call them."""
FOLLOWING = 3
"""Messages after one that may take it back."""
_SAME_TIME = timedelta(minutes=1)


@dataclass(slots=True)
class _Checked:
    """What was read for one verification."""

    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    quoted: dict[str, str] = field(default_factory=dict[str, str])
    removed: dict[str, str] = field(default_factory=dict[str, str])
    parts: dict[str, tuple[Part, ...]] = field(default_factory=dict[str, tuple[Part, ...]])


class ViewVerifier:
    """Verifies views on behalf of one request. Blocks; raises StoreError when the record cannot be read."""

    def __init__(self, evidence: ScopedEvidence, zone: tzinfo) -> None:
        self._evidence = evidence
        self._zone = zone
        self._asker = evidence.asker_in_group

    def verify(
        self, claim: Claim, *, limits: Limits | None = None, stopped: str = "", also: Sequence[str] = ()
    ) -> MemoryView:
        """Return the claim with what is proven in its points, and all else in `uncertain` and `removed`.

        `also` names messages that are shown for evidence besides.
        """
        checked = self._read(claim, also)
        finder = ConflictFinder(self._others, lambda message: self._parts(message, checked))
        proven: list[Point] = []
        doubts: list[Doubt] = []
        conflicts: list[Conflict] = []
        for point in claim.points:
            kept, conflict = self._judged(point, checked, finder)
            if isinstance(kept, Point):
                proven.append(kept)
            else:
                doubts.append(kept)
            if conflict is not None and conflict not in conflicts:
                conflicts.append(conflict)
        doubts += [_doubt(doubt, checked) for doubt in claim.uncertain]
        of_points = [i for point in proven for i in point.evidence]
        of_doubts = [i for doubt in doubts for i in doubt.evidence]
        named = [i for i in dict.fromkeys((*of_points, *of_doubts, *also)) if i in checked.messages]
        return MemoryView(
            points=tuple(proven),
            evidence=tuple(_proof(checked.messages[i], checked.quoted.get(i, "")) for i in named),
            uncertain=tuple(doubts),
            conflicts=tuple(conflicts),
            removed=tuple(Removed(i, reason) for i, reason in checked.removed.items()),
            limits=limits or Limits(messages_considered=len(checked.messages)),
            steps=claim.steps,
            stopped=stopped,
        )

    def _read(self, claim: Claim, also: Sequence[str]) -> _Checked:
        quotes: dict[str, list[Quote]] = {}
        for quote in claim.quotes:
            quotes.setdefault(quote.message_id, []).append(quote)
        ids = [*quotes, *(i for point in claim.points for i in point.evidence)]
        ids += [i for doubt in claim.uncertain for i in doubt.evidence]
        ids += also
        found: Mapping[str, Sequence[Message]] = self._evidence.messages(ids)
        checked = _Checked()
        for message_id in dict.fromkeys(ids):
            self._check(message_id, found.get(message_id, ()), quotes.get(message_id, []), checked)
        return checked

    def _check(self, message_id: str, found: Sequence[Message], quotes: Sequence[Quote], checked: _Checked) -> None:
        if not found:
            checked.removed[message_id] = UNKNOWN
            return
        reasons: list[str] = []
        for quote in quotes or [Quote(message_id)]:
            fitting = [one for one in found if not self._wrong(quote, one)]
            if len(fitting) == 1 and message_id not in checked.messages:
                checked.messages[message_id] = fitting[0]
                checked.quoted[message_id] = quote.content
            elif not fitting:
                reasons.append(self._wrong(quote, found[0]))
            elif len(fitting) > 1:
                reasons.append("The id names several messages; quote the one that is meant.")
        if reasons:
            checked.removed[message_id] = reasons[0]

    def _wrong(self, quote: Quote, message: Message) -> str:
        """Return in which way a quotation is not of a message, or nothing."""
        if quote.content.strip() and not is_quoted_from(quote.content, message.content):
            return ALTERED
        if quote.role and quote.role != message.role:
            return f"It was said by {message.role}, not by {quote.role}."
        if quote.ts and not self._is_time(quote.ts, message.ts):
            return f"It was said at {message.ts.isoformat(timespec='seconds')}."
        return ""

    def _is_time(self, written: str, ts: datetime) -> bool:
        try:
            at, _ = parse_instant(written, self._zone)
        except InvalidInputError:
            return False
        local = ts.astimezone(self._zone)
        is_day = len(written.strip()) <= len("2026-02-20") and written.strip() in (
            local.date().isoformat(),
            ts.date().isoformat(),
        )
        return is_day or abs(at - ts) < _SAME_TIME

    def _judged(self, point: Point, checked: _Checked, finder: ConflictFinder) -> tuple[Point | Doubt, Conflict | None]:
        held = tuple(i for i in dict.fromkeys(point.evidence) if i in checked.messages)
        if not held:
            reasons = [checked.removed[i] for i in point.evidence if i in checked.removed]
            return Doubt(point.text, reasons[0] if reasons else UNQUOTED), None
        messages = [checked.messages[i] for i in held]
        reason = self._unproven(point.text, messages, checked)
        contrary = finder.find(point.text, messages)
        conflict = _conflict(point.text, contrary, held)
        if not reason and contrary is not None and contrary.later and not _admits(point, contrary):
            last = contrary.opposing[-1]
            when = last.ts.isoformat(timespec="seconds")
            reason = f"Something contrary was said at {when} (message {last.message_id})."
        return (Doubt(point.text, reason, held) if reason else Point(point.section, point.text, held)), conflict

    def _unproven(self, text: str, messages: Sequence[Message], checked: _Checked) -> str:
        """Return why messages do not prove a statement, or nothing."""
        messages = self._of_whom_it_speaks(text, messages)
        if not messages:
            return UNNAMED
        parts = [part for message in messages for part in self._parts(message, checked)]
        names = [name for one in messages for name in (one.sender_name, one.sender_id) if name]
        names += [part.who for part in parts if part.proves(text) and part.who]
        names += [ASSISTANT_SAYS for one in messages if one.role == "assistant"]
        days = [day for one in messages for day in self._days(one)]
        proving = [part.text for part in parts if part.proves(text)]
        others = [part for part in parts if not part.proves(text)]
        reason = unsupported(text, proving, names, days) if proving else others[0].reason if others else UNQUOTED
        if not reason or not others or not proving:
            return reason
        whole = unsupported(text, [part.text for part in parts], names, days)
        return reason if whole else others[0].reason

    def _of_whom_it_speaks(self, text: str, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the messages without those of people whom a statement, which names others, does not name.

        In a group "the user" is who asks, and nobody else's words tell about them.
        """
        named = [one for one in messages if one.role == "user" and _is_named(one, text)]
        if named:
            return [one for one in messages if one.role != "user" or one in named]
        if self._asker is not None and _SPEAKS_OF_ASKER.search(text):
            return [one for one in messages if one.role != "user" or one.sender_id in (self._asker, None)]
        return messages

    def _days(self, message: Message) -> list[date]:
        """Return on which days a message was said, and the days that it names: yesterday, 上周末."""
        said = message.ts.astimezone(self._zone)
        named = [day for day in named_days(message.content[:MOST_CHARACTERS], said) if not day.yearly]
        return [message.ts.date(), said.date(), *(edge for day in named for edge in (day.first, day.last))]

    def _parts(self, message: Message, checked: _Checked) -> tuple[Part, ...]:
        if message.message_id not in checked.parts:
            checked.parts[message.message_id] = parts_of(message, self._following(message))
        return checked.parts[message.message_id]

    def _following(self, message: Message) -> list[Message]:
        try:
            page = self._evidence.neighbors(message.message_id, before=0, after=FOLLOWING)
        except NotFoundError:  # forgotten at this moment
            return []
        return [item.message for item in page.items if not item.anchor]

    def _others(self, topic: str) -> list[Message]:
        page = self._evidence.by_meaning(topic, {"role": "user"}, top_k=SEARCHED)
        return [item.message for item in page.items]


def _is_named(message: Message, text: str) -> bool:
    folded = fold(text)
    return any(fold(name) in folded for name in (message.sender_name, message.sender_id) if name and len(name) > 1)


def _admits(point: Point, contrary: Contrary) -> bool:
    """Say whether a point tells of the change itself and names what was said to the contrary."""
    return tells_both(point.text) and contrary.opposing[-1].message_id in point.evidence


def _conflict(about: str, contrary: Contrary | None, evidence: Sequence[str]) -> Conflict | None:
    """Return both sides; words that a statement was wrongly drawn from are no side of a conflict with themselves."""
    if contrary is None or (not contrary.supporting and all(one.message_id in evidence for one in contrary.opposing)):
        return None
    found = {one.message_id: one for one in (*contrary.supporting, *contrary.opposing)}
    sides = sorted(found.values(), key=lambda one: (one.ts, one.message_id))
    return Conflict(about, contrary.resolution, tuple(_proof(one) for one in sides))


def _doubt(doubt: Doubt, checked: _Checked) -> Doubt:
    held = tuple(i for i in dict.fromkeys(doubt.evidence) if i in checked.messages)
    return Doubt(doubt.text, doubt.reason or "It was handed in as uncertain.", held)


def _proof(message: Message, quote: str = "") -> Proof:
    return Proof(
        message.message_id,
        message.ts,
        message.role,
        shown(message.content, quote),
        message.sender_id,
        message.sender_name,
        message.conversation_id,
    )
