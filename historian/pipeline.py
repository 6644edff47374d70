"""What the historian does with a job: evidence → rewrite → store → merge → settle, each step idempotent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from historian.clock import Clock
from historian.database import Database
from historian.errors import StoreError
from historian.events import EventStore
from historian.evidence import EvidenceFinder
from historian.indexer import Indexer
from historian.intake import message_from
from historian.job import Job
from historian.memos import MemoStore
from historian.merge_waiting import MergeWaiting
from historian.model import Event, Owner
from historian.profile import PRIVATE
from historian.profile_merging import ProfileMerger
from historian.receipts import ReceiptStore
from historian.record import Record
from historian.telemetry import Telemetry
from historian.views import Memo
from historian.work import APPEND, END, TurnWork, acknowledged_at, scope_from
from historian.zones import load_zone

if TYPE_CHECKING:
    from historian.scribe import Scribe

Step = Callable[[str], None]


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
    scribe: Callable[[], Scribe]
    indexer: Indexer
    telemetry: Telemetry
    clock: Clock

    def run(self, job: Job, step: Step) -> None:
        """Do one job; `step` is told which step begins. A crash between any two steps repeats without a second effect.

        Raises:
            ShiguanError: a step failed; the job can be tried again.
        """
        if job.kind == END:
            self._end(job, TurnWork.read(job.job_id, job.payload), step)
        elif job.kind == APPEND:
            self._append(job.payload, step)
        else:
            raise StoreError(f"A job of the unknown kind {job.kind!r} cannot be processed by this version.")

    def give_up(self, job: Job, error: str) -> None:
        """Note in the ledger that a job failed for good, so that closing the same turn again is no repeat of it.

        Raises:
            StoreError: the ledger cannot be written.
        """
        self.receipts.settle(job.job_id, "failed", error=error, attempts=job.attempts, now=self.clock.now())

    def _end(self, job: Job, work: TurnWork, step: Step) -> None:
        owner = work.scope.owner
        step("evidence")
        entry = self.receipts.begin(
            job.job_id, owner, mark=work.mark, request_id=work.request_id, created_at=acknowledged_at(job)
        )
        end_seq = work.session.end_seq if work.session.end_seq is not None else entry.end_seq
        stored = [item.event for item in self.events.of_job(owner, work.request_id, end_seq)]
        is_new = not stored
        if is_new:
            from historian.drafting import (
                Remembered,
                draft_events,
            )  # its patterns take 100 ms, which no client shall wait for

            evidence = self.evidence.find(work)
            step("rewrite")
            stored = draft_events(
                work,
                evidence,
                end_seq,
                Remembered(lambda text: self._same_as(owner, text), lambda name: self.evidence.mentions(work, name)),
                self.scribe(),
            )
        step("store")
        with self.database.write():
            self.events.add(stored)
            self._remember_memo(work, stored)
            entities = self._await_merge(work, stored)
        if is_new:
            self.telemetry.stored(stored)
        self.database.flush()  # a profile never names an event that a power cut takes away
        step("merge")
        for entity in entities:
            self.merger.merge(entity)
        step("settle")
        self.receipts.settle(job.job_id, "done", error=None, attempts=job.attempts, now=self.clock.now())

    def _append(self, payload: dict[str, Any], step: Step) -> None:
        step("record")
        scope = scope_from(payload["scope"])
        message = message_from(payload["message"], load_zone(payload["timezone"]))
        appended = self.record.append(scope.owner, [message])
        self.indexer.discard("messages", appended.left_rows)

    def _same_as(self, owner: Owner, text: str) -> str | None:
        """Return the id of an earlier statement of the same owner that says the same, or None."""
        found = self.events.saying(owner, text)
        return found.event.event_id if found is not None else None

    def _remember_memo(self, work: TurnWork, stored: list[Event]) -> None:
        memo = next((event for event in stored if not event.has_new_info), None)
        if memo is not None:
            kept = Memo(work.turn.memo, work.job_id, work.ended_at, work.session.timezone)
            self.memos.add(memo.owner, f"author:{work.sender_id}", work.request_id, kept)

    def _await_merge(self, work: TurnWork, stored: list[Event]) -> list[Owner]:
        """Let new statements wait for their merge, and return into whose profiles: in one transaction with the events.

        In private the profile is that of the user; in a group those of the speaker and of the group.
        """
        new = [event for event in stored if event.has_new_info and not event.is_echo]
        if not new:
            return []
        group = Owner("group", work.scope.group_id) if work.scope.group_id is not None else None
        person = Owner("user", work.sender_id if group else work.scope.user_id)
        shown_in = PRIVATE if group is None else group.key
        self.waiting.add(person, new, shown_in=shown_in, name=new[0].sender_name, job_id=work.job_id)
        if group is None:
            return [person]
        self.waiting.add(group, new, shown_in=shown_in, name=work.session.group_name, job_id=work.job_id)
        return [person, group]
