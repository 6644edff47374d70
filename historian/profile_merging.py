"""Brings waiting statements into profiles: with the model where there is one, by rules otherwise, never losing one."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from historian.biographer import Biographer
from historian.clock import Clock
from historian.complaints import Complaints
from historian.errors import ModelError, NotConfiguredError, RetryableModelError
from historian.injection import looks_like_instruction
from historian.merge import Merge, Statement
from historian.merge_apply import carry_out
from historian.merge_model import MergeModel
from historian.merge_page import page_of
from historian.merge_plan import Plan, verbatim
from historian.merge_problems import GIVES_ORDERS
from historian.merge_reviews import MergeReviews
from historian.merge_waiting import MergeWaiting, Trouble
from historian.model import Owner
from historian.profile_drops import ProfileDrops
from historian.retries import RetryPolicy
from historian.sameness import Sameness

BATCH = 64
"""Statements that are taken out of the waiting ones at once."""
MAX_REVIEWS = 20
"""Merges of one entity that are held at a time; beyond that, suspicious ones are done by rules."""
BY_RULES = "a profile is merged by rules"
TOO_MANY = "too many merges are held for review"

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Settling:
    """What is stored last for a job; `is_done` says that it was stored together with the merge."""

    action: Callable[[], object]
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class _Batch:
    """Waiting statements of one entity, what is wrong with its merges, and what to settle when they are merged."""

    entity: Owner
    statements: Sequence[Statement]
    trouble: Trouble | None
    settling: Settling | None

    @contextmanager
    def settled(self, merged: Sequence[Statement]) -> Generator[Callable[[], object] | None]:
        """Lend what is to be stored together with the merge of these statements, and note that it is."""
        if self.settling is None or len(merged) < len(self.statements):
            yield None
            return
        yield self.settling.action
        self.settling.is_done = True


@dataclass(slots=True)
class ProfileMerger:
    """Merges one entity's statements in their order, one merge at a time. Thread-safe.

    Readers and hand edits never wait for a merge: the model is asked without any lock of the profile, and what it says
    is carried out on the profile as it stands then.
    """

    biographer: Biographer
    waiting: MergeWaiting
    reviews: MergeReviews
    drops: ProfileDrops
    model: MergeModel
    retries: RetryPolicy
    clock: Clock
    complaints: Complaints = field(default_factory=lambda: Complaints(log))
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _turns: defaultdict[Owner, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    def merge(self, entity: Owner, settling: Settling | None = None) -> None:
        """Merge what waits for this entity. Where the model is away, it stays waiting, for a bounded time.

        Where all is merged into the profile at once, what `settling` stores is stored together with that.

        Raises:
            StoreError: a file or the database cannot be written; everything stays waiting.
            ConflictError: somebody edits the file again and again.
        """
        with self._turn(entity):
            is_all = False
            while not is_all:
                with self.waiting.snapshot():
                    batch, is_all = self.waiting.batch(entity, BATCH)
                    trouble = self.waiting.trouble(entity) if batch and self.model.configured else None
                waiting = _Batch(entity, batch, trouble, settling if is_all else None)
                done = self._merge_some(waiting) if batch else 0
                if not done:
                    return
                is_all = is_all and done == len(batch)  # what came meanwhile is merged by those who brought it

    def merge_due(self) -> int:
        """Merge what waits and whose time has come, for everybody; return how many entities. Raises as above."""
        due = self.waiting.due()
        for entity in due:
            self.merge(entity)
        return len(due)

    def state(self) -> tuple[str, ...]:
        """Return what does not work as it should, in sentences."""
        troubles = self.waiting.troubles() if self.model.configured else []
        by_rules = [one for one in troubles if one.by_rules]
        waits = [one for one in troubles if not one.by_rules and self.waiting.next(one.entity, 1)]
        found = [(waits, "profiles wait for their merge")] if waits else []
        found += [(by_rules, "profiles were merged by rules")] if by_rules else []
        return tuple(f"{what}: {len(which)} of them, since {_clause(which[-1].reason)}" for which, what in found)

    def _merge_some(self, waiting: _Batch) -> int:
        """Merge some of the statements, and return how many; none where they have to wait."""
        entity, batch = waiting.entity, waiting.statements
        orders = [one for one in batch if looks_like_instruction(one.text)]
        if orders:
            self._hold(waiting, orders, verbatim(orders[0].shown_in, orders), (GIVES_ORDERS,))
            return len(orders)
        if not self.model.configured:
            self._by_rules(waiting, batch)
            self.waiting.clear_trouble(entity)
            return len(batch)
        return self._with_model(waiting)

    def _with_model(self, waiting: _Batch) -> int:
        entity, batch, trouble = waiting.entity, waiting.statements, waiting.trouble
        attempts = trouble.attempts if trouble is not None and not trouble.by_rules else 0
        if trouble is not None and attempts and self.clock.now() < trouble.not_before:
            return 0
        profile, _ = self.biographer.read(entity)
        seen = [one for one in batch if profile is not None and one.event_id in profile.events]
        if seen:
            self.waiting.done(entity, seen)
            return len(seen)
        page = page_of(profile, entity, batch, self.clock.now())
        try:
            proposal = self.model.propose(page)
        except RetryableModelError as error:
            if attempts < self.retries.max_retries:
                wait = timedelta(seconds=self.retries.delay(attempts + 1, error.retry_after))
                self.waiting.postpone(entity, attempts=attempts + 1, reason=str(error), until=self.clock.now() + wait)
                return 0
            self._fall_back(waiting, page.statements, str(error))
        except (ModelError, NotConfiguredError) as error:
            self._fall_back(waiting, page.statements, str(error))
        else:
            self.complaints.over(BY_RULES)
            if proposal.suspicions:
                self._hold(waiting, page.statements, proposal.plan, proposal.suspicions)
            else:
                self._carry_out(waiting, page.statements, proposal.plan)
            if trouble is not None or proposal.suspicions:  # holding too many is a trouble of its own
                self.waiting.clear_trouble(entity)
        return len(page.statements)

    def _carry_out(self, waiting: _Batch, statements: Sequence[Statement], plan: Plan) -> None:
        make = partial(
            carry_out,
            plan=plan,
            statements=statements,
            entity=waiting.entity,
            max_lines=self.biographer.max_lines,
            same=Sameness(),
        )
        with waiting.settled(statements) as settle:
            noting = _Noting(self.drops, self.waiting, waiting.entity, statements, settle)
            self.biographer.change(waiting.entity, make, noting)

    def _fall_back(self, waiting: _Batch, statements: Sequence[Statement], reason: str) -> None:
        """Merge by rules what the model cannot, and say so."""
        self.complaints.say(BY_RULES, reason)
        self.waiting.note_rules(waiting.entity, reason)
        self._by_rules(waiting, statements)

    def _by_rules(self, waiting: _Batch, statements: Sequence[Statement]) -> None:
        with waiting.settled(statements) as settle:
            noting = _Noting(self.drops, self.waiting, waiting.entity, statements, settle)
            self.biographer.merge(waiting.entity, statements, noting)

    def _hold(self, waiting: _Batch, statements: Sequence[Statement], plan: Plan, reasons: Sequence[str]) -> None:
        """Keep a merge for a person; the profile stays as it is, and other statements are merged as ever."""
        entity = waiting.entity
        if len(self.reviews.list(entity)) >= MAX_REVIEWS:
            self._fall_back(waiting, statements, TOO_MANY)
            return
        log.warning("a merge is held for review; `shiguan profile review list` says why")  # reasons quote what is said
        with self.reviews.transaction():
            self.waiting.hold(entity, statements, self.reviews.add(entity, reasons, plan))

    def _turn(self, entity: Owner) -> threading.Lock:
        with self._guard:
            return self._turns[entity]


@dataclass(frozen=True, slots=True)
class _Noting:
    """Notes in the database, together with the search rows, that statements are merged."""

    drops: ProfileDrops
    waiting: MergeWaiting
    entity: Owner
    statements: Sequence[Statement]
    settle: Callable[[], object] | None

    def __call__(self, digest: str, merge: Merge) -> None:
        self.drops.add(self.entity, digest, merge.dropped)
        self.waiting.done(self.entity, self.statements)
        if self.settle is not None:
            self.settle()


def _clause(sentence: str) -> str:
    """Return a sentence as the end of another one."""
    return sentence[:1].lower() + sentence[1:].removesuffix(".")
