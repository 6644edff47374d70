"""What the historian does with a job: evidence → rewrite → store → merge → settle, each step idempotent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from historian.amendments import Amendments
from historian.capturing import CaptureDesk, Capturer, CaptureWork
from historian.clock import Clock
from historian.corrections import words_anew
from historian.database import Database
from historian.errors import ConflictError, InvalidInputError
from historian.events import EventStore
from historian.evidence import EvidenceFinder
from historian.gate import GateKind
from historian.indexer import Indexer
from historian.intake import message_from
from historian.job import Job
from historian.likeness import Likeness
from historian.memos import MemoStore
from historian.merge_waiting import MergeWaiting
from historian.model import Event, Origin, Owner
from historian.profile_merging import ProfileMerger, Settling
from historian.receipts import ReceiptStore
from historian.record import Record
from historian.rewording import LineKeeper, places, targets
from historian.session import Session
from historian.telemetry import Telemetry
from historian.views import CaptureDecision, Memo
from historian.work import APPEND, CAPTURE, END, TurnWork, acknowledged_at, raw_messages, scope_from
from historian.zones import load_zone

if TYPE_CHECKING:
    from historian.scribe import Scribe

Step = Callable[[str], None]

BY_RULES = {
    "model:outage": "Stored in words by rule, since the chat model was away; it is phrased again when it is back.",
    "model:refused": "Stored in words by rule, since the chat model refused or is not set up rightly; see degraded.",
    "model:unusable": "Stored in words by rule, since the chat model gave no usable answer.",
}
DRIFTED = "Stored as it was given and flagged, since the chat model kept saying something else."
FORGOTTEN = "Nothing of this turn is kept, since the messages behind it were forgotten while it was handed in."


@dataclass(slots=True)
class _Entry:
    """The entry of a turn in the ledger: foreseen first, and made together with what is stored then."""

    receipts: ReceiptStore
    work: TurnWork
    created_at: datetime
    end_seq: int = 0
    is_begun: bool = False

    def foresee(self) -> int:
        """Return the `end_seq` of the turn."""
        work = self.work
        self.is_begun, self.end_seq = self.receipts.foresee(
            work.job_id, work.scope.owner, mark=work.mark, request_id=work.request_id, end_seq=work.session.end_seq
        )
        return self.end_seq

    def begin(self) -> None:
        """Make the entry where there is none. Joins a transaction.

        Raises:
            ConflictError: the `end_seq` was taken meanwhile, which one turn of a person at a time does not do.
        """
        if self.is_begun:
            return
        work = self.work
        made = self.receipts.begin(
            work.job_id,
            work.scope.owner,
            mark=work.mark,
            request_id=work.request_id,
            created_at=self.created_at,
            end_seq=work.session.end_seq,
        )
        if made.end_seq != self.end_seq:
            raise ConflictError("Another process closed a turn of this request meanwhile; it is tried again.")
        self.is_begun = True


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stores that a job passes through. Thread-safe. `scribe` makes who asks the model, when a job needs it."""

    database: Database
    record: Record
    events: EventStore
    memos: MemoStore
    receipts: ReceiptStore
    waiting: MergeWaiting
    merger: ProfileMerger
    evidence: EvidenceFinder
    likeness: Likeness
    amendments: Amendments
    keeper: LineKeeper
    scribe: Callable[[], Scribe]
    capturer: Capturer
    capture_desk: CaptureDesk
    indexer: Indexer
    telemetry: Telemetry
    clock: Clock

    def run(self, job: Job, step: Step) -> None:
        """Do one job; `step` is told which step begins. A crash between any two steps repeats without a second effect.

        Raises:
            InvalidInputError: this version does not know this kind of job; trying again does not help.
            ShiguanError: a step failed; the job can be tried again.
        """
        if job.kind == END:
            self._end(job, TurnWork.read(job.job_id, job.payload), step)
        elif job.kind == APPEND:
            self._append(job.payload, step)
        elif job.kind == CAPTURE:
            self._capture(job, CaptureWork.read(job.job_id, job.payload), step)
        else:
            raise InvalidInputError(f"A job of the unknown kind {job.kind!r} cannot be processed by this version.")

    def give_up(self, job: Job, error: str) -> None:
        """Note in the ledger that a job failed for good, so that closing the same turn again is no repeat of it.

        Raises:
            StoreError: the ledger cannot be written.
        """
        self.receipts.settle(job.job_id, "failed", error=error, attempts=job.attempts, now=self.clock.now())

    def _end(self, job: Job, work: TurnWork, step: Step) -> None:
        owner = work.scope.owner
        step("evidence")
        entry = _Entry(self.receipts, work, acknowledged_at(job))
        with self.database.snapshot():
            end_seq = entry.foresee()
            stored = [item.event for item in self.events.of_job(owner, work.request_id, end_seq)]
            is_new = not stored
            is_forgotten = is_new and self.evidence.is_forgotten(work)
        if is_forgotten:
            entry.begin()
            self.receipts.settle(job.job_id, "done", error=FORGOTTEN, attempts=job.attempts, now=self.clock.now())
            return
        if is_new:
            from historian.drafting import Remembered, draft_events  # with its rules, for which no client shall wait

            evidence = self.evidence.find(work, entry.begin)
            into = places(work.scope.group_id, work.sender_id, work.scope.user_id)
            entry.begin()
            step("rewrite")
            stored = draft_events(
                work,
                evidence,
                end_seq,
                Remembered(
                    cache(partial(self._same_as, owner)),
                    lambda name: self.evidence.mentions(work, name),
                    cache(partial(self.keeper.stands, owner, into)),
                ),
                self.scribe(),
            )
        step("store")
        with self.database.write():
            self.events.add(stored)
            self._remember_memo(work, stored)
            gone = self._supersede(work, stored)
            entities = self._await_merge(work, stored)
        self.indexer.discard("events", gone)
        self._carry_on(job, stored, entities, step, is_new=is_new, is_lagging=bool(work.corrects))

    def _capture(self, job: Job, work: CaptureWork, step: Step) -> None:
        owner = work.scope.owner
        step("consider")
        entry = self.receipts.begin(
            job.job_id, owner, mark=work.mark, request_id=work.request_id, created_at=acknowledged_at(job)
        )
        stored = [item.event for item in self.events.of_job(owner, work.request_id, 0)]
        is_new = not stored
        decision = entry.decision or CaptureDecision.known(stored)
        if is_new:
            decision, stored = self.capturer.capture(work, lambda text: self._same_as(owner, text))
        step("store")
        with self.database.write():
            self.events.add(stored)
            self.receipts.decide(job.job_id, decision)
            entities = self._await_merge(work, stored)
        self._carry_on(job, stored, entities, step, is_new=is_new, is_lagging=False)

    def _carry_on(
        self, job: Job, stored: list[Event], entities: list[Owner], step: Step, *, is_new: bool, is_lagging: bool
    ) -> None:
        """Carry stored events into the profiles and settle the job."""
        if is_new:
            self.telemetry.stored(stored)
        self.database.flush()  # a profile never names an event that a power cut takes away
        step("merge")
        if is_lagging:
            self.keeper.carry()
        settling = Settling(partial(self._settle, job, _by_rules(stored)))
        for entity in entities:
            self.merger.merge(entity, settling if entity == entities[-1] else None)
        step("settle")
        if not settling.is_done:
            settling.action()

    def _settle(self, job: Job, error: str | None) -> None:
        self.receipts.settle(job.job_id, "done", error=error, attempts=job.attempts, now=self.clock.now())

    def _append(self, payload: dict[str, Any], step: Step) -> None:
        step("record")
        scope = scope_from(payload["scope"])
        zone = load_zone(payload["timezone"])
        messages = [message_from(raw, zone) for raw in raw_messages(payload)]
        appended = self.record.append(scope.owner, messages)
        self.indexer.discard("messages", appended.left_rows)
        if payload.get("consider"):
            session = Session(timezone=payload["timezone"], sender_name=payload.get("name"))
            self.capture_desk.hand_in(scope, session, messages)

    def _same_as(self, owner: Owner, text: str) -> str | None:
        """Return the id of an earlier statement of the same owner that says the same, or None."""
        found = self.likeness.same_as(owner, text)
        return found.event.event_id if found is not None else None

    def _supersede(self, work: TurnWork, stored: list[Event]) -> list[int]:
        """Let flagged events that this turn words anew stand as receipts of the new ones; return their rows."""
        new = {event.index: event for event in stored if event.has_new_info and not event.is_echo}
        rows: list[int] = []
        for correction in work.corrects:
            event = new.get(correction.by)
            entry = self.receipts.get(correction.job_id, work.scope.owner)
            if event is None or entry is None:
                continue
            old_id = f"{correction.request_id}:{entry.end_seq}:{correction.index}"
            if not self._is_worded_anew(event, self.events.named(event.owner, old_id)):
                continue
            row = self.amendments.supersede(event.owner, old_id, event.same_as or event.event_id)
            rows += [] if row is None else [row]
        return rows

    @staticmethod
    def _is_worded_anew(event: Event, old: Event | None) -> bool:
        """Say whether an event only makes absolute what is left to resolve in an old one; else it is another fact."""
        if old is None or old.is_absolute:
            return False
        found = [words for kind, _, words in (flag.partition(":") for flag in old.flags) if kind in tuple(GateKind)]
        return any(words_anew(old.text, found, new) for new in (event.text, event.original))

    def _remember_memo(self, work: TurnWork, stored: list[Event]) -> None:
        memo = next((event for event in stored if not event.has_new_info), None)
        if memo is not None:
            kept = Memo(work.turn.memo, work.job_id, work.ended_at, work.session.timezone)
            self.memos.add(memo.owner, f"author:{work.sender_id}", work.request_id, kept)

    def _await_merge(self, work: TurnWork | CaptureWork, stored: list[Event]) -> list[Owner]:
        """Let new statements wait for their merge, in one transaction with them, and return into whose profiles."""
        into: dict[tuple[Owner, str], list[Event]] = {}
        for event in stored:
            if event.has_new_info and not event.is_echo:
                for target in targets(event):
                    into.setdefault(target, []).append(event)
        for (entity, shown_in), events in into.items():
            name = work.session.group_name if entity.kind == "group" else _own_name(entity, events)
            self.waiting.add(entity, events, shown_in=shown_in, name=name, job_id=work.job_id)
        return list(dict.fromkeys(entity for entity, _ in into))


def _own_name(entity: Owner, events: Sequence[Event]) -> str | None:
    """Return the name of a person where they said it themselves; another speaker's name is not theirs."""
    return next((event.sender_name for event in events if event.sender_id in (None, entity.id)), None)


def _by_rules(stored: list[Event]) -> str | None:
    """Return why a model that is set did not phrase these events, as a sentence, or None."""
    why = next((flag for event in stored for flag in event.flags if flag in BY_RULES), None)
    drifted = any(event.origin is Origin.DEGRADED for event in stored)
    return BY_RULES[why] if why is not None else DRIFTED if drifted else None
