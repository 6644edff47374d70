"""Closing a turn: `end` checks, writes one file durably, and answers. Everything slow happens behind it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from historian.clock import Clock
from historian.corrections import Corrections
from historian.errors import ShiguanError
from historian.gate import inspect
from historian.job import Job
from historian.model import Owner, Scope
from historian.queue import Queue
from historian.receipts import ReceiptRow, ReceiptStore
from historian.returned import ReturnedTexts
from historian.session import Session
from historian.turn import Advice, Receipt, Turn, fingerprint
from historian.work import END, acknowledged_at, job_payload

REPEAT_SECONDS = 600.0
"""Without a request id from the host, identical content in one scope within this time is a repeat (DESIGN §6)."""


KEPT_SECONDS = 86_400.0
"""How long a job is remembered here; the ledger remembers finished ones for good."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A turn to close. `make` checks and returns it, where it is closed, with what the receipt has to note."""

    scope: Scope
    session: Session
    make: Callable[[], tuple[Turn, str]]


@dataclass(slots=True)
class _Reservation:
    """The first caller with some content writes; callers with the same content wait for its outcome."""

    settled: threading.Event = field(default_factory=threading.Event)
    job_id: str | None = None
    at: datetime | None = None


@dataclass(slots=True)
class _Case:
    """One closing under way. `writes` says that its job is to be written here, not by another call that came first."""

    closing: Closing
    turn: Turn
    receipt: Receipt
    mark: str
    reservation: _Reservation
    writes: bool
    is_repeat: bool = False
    error: ShiguanError | None = None


class TurnCloser:
    """Turns `end` calls into durable jobs and receipts. Thread-safe."""

    def __init__(
        self, queue: Queue, receipts: ReceiptStore, returned: ReturnedTexts, corrections: Corrections, clock: Clock
    ) -> None:
        self._queue = queue
        self._receipts = receipts
        self._returned = returned
        self._corrections = corrections
        self._clock = clock
        self._lock = threading.Lock()
        self._recent: OrderedDict[str, _Reservation] = OrderedDict()

    def close(self, closings: Sequence[Closing]) -> list[Receipt | ShiguanError]:
        """Queue each turn unless it is empty or a repeat, and return the receipts; the jobs are written together.

        In place of a receipt stands an InvalidInputError or NotFoundError of `make`, or the StoreError that kept a job
        from being written; then nothing is acknowledged.
        """
        cases: list[_Case | Receipt | ShiguanError] = []
        try:
            cases.extend(self._open(closing) for closing in closings)
            self._write([case for case in cases if isinstance(case, _Case) and case.writes])
        finally:
            self._settle([case for case in cases if isinstance(case, _Case) and case.writes])
        return [self._outcome(case) if isinstance(case, _Case) else case for case in cases]

    def _open(self, closing: Closing) -> _Case | Receipt | ShiguanError:
        try:
            turn, note = closing.make()
            receipt = Receipt(job_id=None, queued=False, duplicate=False, gate=advise(turn), note=note)
            if turn.is_empty:
                return receipt
            mark = fingerprint(closing.scope, closing.session, turn)
            return _Case(closing, turn, receipt, mark, *self._reserve(mark, closing.session))
        except ShiguanError as error:
            return error

    def _write(self, cases: Sequence[_Case]) -> None:
        now = self._clock.now()
        new = [case for case in cases if not self._is_known(case, now)]
        if not new:
            return
        wanted = [(case.closing.scope.owner.key, self._payload(case, now)) for case in new]
        jobs: Sequence[Job | ShiguanError]
        try:
            jobs = self._queue.enqueue_all(END, wanted)
        except ShiguanError as error:
            jobs = [error] * len(new)
        for case, job in zip(new, jobs, strict=True):
            if isinstance(job, Job):
                case.reservation.job_id, case.reservation.at = job.job_id, now
                closing = case.closing
                self._corrections.note(closing.scope, closing.session, case.turn, case.receipt.gate, job.job_id, now)
            else:
                case.error = job

    def _is_known(self, case: _Case, now: datetime) -> bool:
        """Say whether there is nothing to write: an earlier process did, or it cannot be told."""
        try:
            earlier = self._earlier(case.closing.scope.owner, case.mark, case.closing.session, now)
        except ShiguanError as error:
            case.error = error
            return True
        if earlier is None:
            return False
        case.reservation.job_id, case.reservation.at, case.is_repeat = earlier.job_id, earlier.created_at, True
        return True

    def _payload(self, case: _Case, now: datetime) -> dict[str, Any]:
        scope, session, turn, gate = case.closing.scope, case.closing.session, case.turn, case.receipt.gate
        echoes = [index for index, text in enumerate(turn.observations) if self._returned.knows(scope, text)]
        corrects = self._corrections.of(scope, session, turn, gate, now)
        return job_payload(scope, session, turn, case.mark, now) | {
            "echoes": echoes,
            "corrects": [one.as_payload() for one in corrects],
        }

    def _settle(self, cases: Sequence[_Case]) -> None:
        """Let those go on who wait for these; where nothing came of one, the next caller begins anew."""
        for case in cases:
            if case.reservation.job_id is None:
                self._forget(case.mark)
            case.reservation.settled.set()

    def _outcome(self, case: _Case) -> Receipt | ShiguanError:
        if case.error is not None:
            return case.error
        case.reservation.settled.wait()
        if case.reservation.job_id is None:
            return self.close([case.closing])[0]
        is_repeat = case.is_repeat or not case.writes
        return replace(case.receipt, job_id=case.reservation.job_id, queued=True, duplicate=is_repeat)

    def _reserve(self, mark: str, session: Session) -> tuple[_Reservation, bool]:
        with self._lock:
            self._drop_old()
            known = self._recent.get(mark)
            if known is not None and not self._is_stale(known, session):
                return known, False
            made = self._recent[mark] = _Reservation()
            self._recent.move_to_end(mark)
            return made, True

    def _is_stale(self, known: _Reservation, session: Session) -> bool:
        """A failed job, and without a request id one of long ago, does not make a new call a repeat."""
        if known.at is None or known.job_id is None:
            return False
        if session.request_id is None and self._seconds_since(known.at) >= REPEAT_SECONDS:
            return True
        return self._is_gone(known.job_id)

    def _is_gone(self, job_id: str) -> bool:
        """Say whether nothing came or is left of a job: it failed, or what came of it was forgotten."""
        return self._has_failed(job_id) or self._receipts.left_nothing(job_id)

    def _has_failed(self, job_id: str) -> bool:
        job = self._queue.get(job_id)
        return job is not None and job[0] == "failed"

    def _drop_old(self) -> None:
        while self._recent:
            mark, oldest = next(iter(self._recent.items()))
            if oldest.at is None or self._seconds_since(oldest.at) < KEPT_SECONDS:
                return
            del self._recent[mark]

    def _seconds_since(self, at: datetime) -> float:
        return (self._clock.now() - at).total_seconds()

    def _forget(self, mark: str) -> None:
        with self._lock:
            self._recent.pop(mark, None)

    def _earlier(self, owner: Owner, mark: str, session: Session, now: datetime) -> ReceiptRow | None:
        """Return the job that the same content made before this process knew of it."""
        found = self._receipts.by_fingerprint(owner, mark)
        if found is None or self._is_gone(found.job_id):
            return None
        is_recent = (now - found.created_at).total_seconds() < REPEAT_SECONDS
        return found if session.request_id is not None or is_recent else None

    def note_returned(self, scope: Scope, texts: Iterable[str]) -> None:
        """Remember what was just given to this user, so that an agent that hands it back brings no news."""
        self._returned.note(scope, texts)

    def adopt(self, jobs: Iterable[Job]) -> None:
        """Remember the unfinished jobs of an earlier process, so that a repeated call is still known for one."""
        with self._lock:
            for job in jobs:
                mark = job.payload.get("fingerprint")
                if job.kind == END and isinstance(mark, str):
                    reservation = _Reservation(job_id=job.job_id, at=acknowledged_at(job))
                    reservation.settled.set()
                    self._recent[mark] = reservation


def advise(turn: Turn) -> tuple[Advice, ...]:
    """Return what the gate finds in the observations; with `force`, nothing."""
    if turn.force:
        return ()
    return tuple(
        Advice(index=index, kind=str(finding.kind), found=finding.found, hint=finding.hint)
        for index, text in enumerate(turn.observations)
        for finding in inspect(text)
    )
