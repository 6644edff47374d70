"""The durable queue: one file per job, moved between folders by atomic renames. Standard library only.

Every change but `enqueue` happens under one lock that the kernel releases when its holder dies, and each single step of
a change leaves exactly one runnable copy of the job. So whoever gets the lock may repair what a dead process left.
"""

from __future__ import annotations

import os
from contextlib import suppress

from historian.durable import REAL_DISK, Disk
from historian.errors import StoreError
from historian.job import STATES, Job, PoisonError, is_job_id
from historian.journal import Journal
from historian.liveness import Claimer
from historian.mutex import Mutex
from historian.queue_additions import Additions
from historian.queue_claims import Claims
from historian.queue_failed import FailedJobs
from historian.queue_files import QueueFiles
from historian.queue_revising import foresee, originals, purge, revise
from historian.queue_view import QueueView
from historian.retries import RetryPolicy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from os import PathLike
    from random import Random
    from typing import ClassVar

    from historian.clock import Clock
    from historian.job import State

__all__ = ["Job", "Queue", "QueueStats"]


class QueueStats:
    """How much lies where, and how long the oldest pending job has waited, in seconds (0 when none does)."""

    __slots__ = ("failed", "oldest_pending_age", "pending", "processing")

    def __init__(self, pending: int, processing: int, failed: int, oldest_pending_age: float) -> None:
        self.pending = pending
        self.processing = processing
        self.failed = failed
        self.oldest_pending_age = oldest_pending_age


class Queue:
    """One process's hold on the queue in the folder `root`. Thread-safe; any number of processes may share the folder.

    Jobs of one lane run in the order of their ids, one at a time. A job is run at least once; after `finish` has
    returned it is never run again. All methods raise StoreError when the disk is full, read-only or gone.
    """

    _open: ClassVar[set[str]] = set()

    def __init__(
        self,
        root: PathLike[str] | str,
        *,
        clock: Clock,
        max_retries: int = 3,
        failed_max_age_days: float = 30,
        failed_max_files: int = 500,
        base_delay: float = 2.0,
        rng: Random | None = None,
        disk: Disk = REAL_DISK,
    ) -> None:
        """Open the queue in `root`, whose folders are made where missing. `base_delay` is in seconds."""
        self._clock = clock
        self._retries = RetryPolicy(max_retries, base_delay, rng)
        self._files = QueueFiles(os.fspath(root), disk)
        self._mutex = Mutex(f"{self._files.root}{os.sep}.lock")
        self._journal = Journal(f"{self._files.root}{os.sep}.journal")
        self._view = QueueView(self._files, self._journal, clock)
        self._failed = FailedJobs(
            self._files, self._mutex, clock, max_age_days=failed_max_age_days, max_files=failed_max_files
        )
        self._me = Claimer.here(os.urandom(8).hex())
        self._additions = Additions(self._files, self._mutex, self._journal, self._view, clock)
        self._claims = Claims(self._files, self._mutex, self._journal, self._view, clock, self._me)
        self._open.add(self._me.instance)

    def close(self) -> None:
        """Stop. What is still claimed here counts as abandoned from now on, and `recover` brings it back."""
        self._open.discard(self._me.instance)
        self._additions.close()
        self._mutex.close()
        self._journal.close()

    # ---- producing

    def enqueue(self, kind: str, lane: str, payload: dict[str, object], *, job_id: str | None = None) -> Job:
        """Add a job and return it once it would survive a crash.

        With `job_id` the call may be repeated: while a job of that id is in the queue, that job is returned.

        Raises:
            InvalidInputError: no kind or lane, a payload that is not a JSON object, or an impossible job id.
        """
        self._require_open()
        return self._additions.one(kind, lane, payload, job_id)

    def enqueue_all(self, kind: str, wanted: Sequence[tuple[str, dict[str, object]]]) -> list[Job | StoreError]:
        """Add a job for each lane and payload, and return them once all would survive a crash.

        In place of one that the disk refused stands why; it does not stop the others.

        Raises:
            InvalidInputError: no kind or lane, or a payload that is not a JSON object; nothing was added.
        """
        self._require_open()
        return self._additions.all(kind, wanted)

    def _require_open(self) -> None:
        if self._me.instance not in self._open:
            raise StoreError("The queue is closed; open it again to use it.")

    # ---- consuming

    def claim(self, busy_lanes: Collection[str] = ()) -> Job | None:
        """Return the first job that may run now, which is then the caller's, or None.

        A job may run when its time has come, its lane is not in `busy_lanes`, and no earlier job of its lane is
        pending or being processed, by whomever.
        """
        with self._mutex as lock_file:
            self._view.catch_up(lock_file)
            job = self._claim_known(busy_lanes)
            if job is None and self._view.scan_if_changed():
                job = self._claim_known(busy_lanes)
            return job

    def _claim_known(self, busy_lanes: Collection[str]) -> Job | None:
        while (job_id := self._view.lanes.next(self._now(), busy_lanes)) is not None:
            job = self._take(job_id)
            if job is not None:
                return job
        return None

    def _take(self, job_id: str) -> Job | None:
        """Claim this job if the file agrees with what the view says of it, else correct the view."""
        view = self._view
        if self._files.exists("processing", job_id):
            self._files.remove("pending", job_id)
            view.look_at(job_id)
            return None
        job = view.load("pending", job_id)
        if job is None or view.lanes.pending[job_id] != (job.lane, job.not_before):
            view.look_at(job_id)
            return None
        self._claims.take(job)
        return job

    def heartbeat(self, job: Job) -> None:
        """Say that the job is still being worked on. Matters only to processes that cannot look this one up.

        Raises:
            NotFoundError, ConflictError: the job is not, or no longer, claimed here.
        """
        self._claims.heartbeat(job.job_id)

    def set_step(self, job: Job, step: str) -> Job:
        """Remember durably how far the job has come, and return it; a later claim finds `step` again.

        Raises:
            NotFoundError, ConflictError: the job is not, or no longer, claimed here.
        """
        return self._claims.rewrite(self._claims.current(job.job_id).but(step=step))

    def finish(self, job: Job) -> None:
        """Remove the job; after return it will never run again, whatever crashes.

        Raises:
            NotFoundError, ConflictError: the job is not, or no longer, claimed here.
        """
        self._claims.remove(job.job_id)

    def retry(self, job: Job, error: str, *, retry_after: float | None = None) -> Job | None:
        """Put a failed attempt back with exponential back-off, or into failed/ and return None when it was the last.

        The wait is at least `retry_after` seconds where that is given; the first one is otherwise at most 5 seconds.

        Raises:
            NotFoundError, ConflictError: the job is not, or no longer, claimed here.
        """
        current = self._claims.current(job.job_id)
        attempts = current.attempts + 1
        if attempts > self._retries.max_retries:
            self._claims.leave(current.with_error(error).but(attempts=attempts), "failed", reason=error)
            return None
        not_before = self._now() + self._retries.delay(attempts, retry_after)
        return self._claims.leave(current.with_error(error).but(attempts=attempts, not_before=not_before), "pending")

    def postpone(self, job: Job, seconds: float, reason: str) -> Job:
        """Put the job back for so many seconds without counting an attempt: nothing is wrong with the job itself.

        Raises:
            NotFoundError, ConflictError: the job is not, or no longer, claimed here.
        """
        wait = self._retries.bounded(seconds)
        return self._claims.leave(
            self._claims.current(job.job_id).with_error(reason).but(not_before=self._now() + wait), "pending"
        )

    def park(self, job: Job, reason: str) -> Job:
        """Move the job to failed/ at once: trying again would not help.

        Raises:
            NotFoundError, ConflictError: the job is not, or no longer, claimed here.
        """
        return self._claims.leave(self._claims.current(job.job_id).with_error(reason), "failed", reason=reason)

    # ---- looking after

    def recover(self) -> list[str]:
        """Bring back jobs whose claimer is dead, and return their ids. May be called at any time, by anybody.

        A job claimed by a living process, or by a queue of this process that is still open, is left alone.
        """
        with self._mutex as lock_file:
            self._view.catch_up(lock_file)
            self._view.scan()
            back = [job_id for job_id in self._files.names("processing") if self._is_abandoned(job_id)]
            for job_id in back:
                self._files.move("processing", "pending", job_id)
                self._files.remove("processing", job_id)
                self._journal.append(job_id)
                self._view.lanes.drop(job_id)
                self._view.look_at(job_id)
            for job_id in set(self._files.names("processing", ".claim")).difference(self._files.names("processing")):
                self._files.remove("processing", job_id)
        if back:
            self._files.sync("pending", "processing")
        return back

    def _is_abandoned(self, job_id: str) -> bool:
        claim = self._files.read_claim(job_id)
        if claim is None:
            return True
        claimer, heartbeat = claim
        if claimer.same_process(self._me):
            return claimer.instance not in self._open
        return not claimer.is_alive(self._me, self._now() - heartbeat)

    def retry_failed(self, job_id: str | None = None) -> list[str]:
        """Give one failed job, or all, a fresh count and make them pending; return the ids.

        Raises:
            NotFoundError: no such failed job.
            InvalidInputError: that file never was a readable job.
        """
        revived = self._failed.retry(job_id)
        for job in revived:
            self._view.arrived(job)
            self._journal.append(job.job_id)
        return [job.job_id for job in revived]

    def discard(self, job_id: str | None = None) -> list[str]:
        """Remove one failed job, or all failed jobs; return the ids.

        Raises:
            NotFoundError: no such failed job.
        """
        return self._failed.discard(job_id)

    def revise(self, change: Callable[[Job], Job | None]) -> tuple[int, int]:
        """Replace each job that waits or has failed by what `change` makes of it; None removes it.

        Return how many were removed and how many changed. A job that is being worked on is left alone.
        """
        with self._mutex:
            removed, changed = revise(self._files, self._view, change)
            for job_id in removed:
                self._journal.append(job_id)
        return len(removed), changed

    def purge(self, means: Callable[[bytes], bool]) -> int:
        """Remove kept files that were no jobs where `means` says so of their bytes; return how many."""
        with self._mutex:
            return len(purge(self._files, means))

    def foresee(self, change: Callable[[Job], Job | None], means: Callable[[bytes], bool]) -> tuple[int, int, int]:
        """Return how many jobs `revise` would remove and change, and how many files `purge` would remove."""
        with self._mutex:
            return *foresee(self._files, self._view, change), len(originals(self._files, means))

    def sweep(self) -> int:
        """Keep failed/ within its age and number, remove leftovers of crashes; return how many files went."""
        return self._failed.sweep()

    # ---- looking

    def jobs(self, state: State) -> list[Job]:
        """Return the jobs of one state in the order of their ids."""
        found: list[Job] = []
        for job_id in self._files.names(state):
            try:
                job = self._files.load(state, job_id)
            except PoisonError:
                with self._mutex:
                    job = self._view.load(state, job_id)
            if job is not None:
                found.append(job)
        return found

    def unfinished(self, lane: str) -> list[tuple[State, Job]]:
        """Return the jobs of one lane that are pending or being processed, in the order of their ids.

        Costs what the lane holds, not what the queue does.
        """
        return self._read(self._unfinished_ids(lane))

    def outline(self, lane: str, most: int) -> tuple[list[tuple[State, Job]], int]:
        """Return what `unfinished` does, and how many were left out: of a long lane only the first job and the newest
        ones are read, `most` in all.
        """
        ids = self._unfinished_ids(lane)
        chosen = ids if len(ids) <= most else [ids[0], *ids[len(ids) - most + 1 :]]
        return self._read(chosen), len(ids) - len(chosen)

    def _unfinished_ids(self, lane: str) -> list[str]:
        with self._mutex as lock_file:
            self._view.catch_up(lock_file)
            return self._view.lanes.of(lane)

    def _read(self, ids: Sequence[str]) -> list[tuple[State, Job]]:
        return [found for job_id in ids if (found := self._unfinished(job_id)) is not None]

    def _unfinished(self, job_id: str) -> tuple[State, Job] | None:
        """Look without the lock: a job may move meanwhile, and one that is not readable is not there yet."""
        states: tuple[State, ...] = ("pending", "processing", "pending")
        for state in states:
            with suppress(PoisonError):
                job = self._files.load(state, job_id)
                if job is not None:
                    return state, job
        return None

    def waiting(self) -> int:
        """Return how many jobs are pending, as far as this process knows: cheap, and a moment old at most."""
        with self._mutex as lock_file:
            self._view.catch_up(lock_file)
            return len(self._view.lanes.pending)

    def get(self, job_id: str) -> tuple[State, Job] | None:
        """Return the state and the job of that id, or None."""
        with self._mutex:
            return self._view.find(job_id) if is_job_id(job_id) else None

    def stats(self) -> QueueStats:
        """Return how many jobs lie where and how long the oldest pending one has waited."""
        names = {state: self._files.names(state) for state in STATES}
        age = 0.0
        for job_id in names["pending"][:1]:
            now = self._clock.now()
            try:
                job = self._files.load("pending", job_id)
                age = max(0.0, (now - now.fromisoformat(job.created_at)).total_seconds()) if job else 0.0
            except (PoisonError, ValueError, TypeError):
                continue
        return QueueStats(len(names["pending"]), len(names["processing"]), len(names["failed"]), age)

    def next_due(self) -> float | None:
        """Return the seconds until the next job that waits for its time may run, or None when none waits."""
        with self._mutex as lock_file:
            self._view.catch_up(lock_file)
            due = self._view.lanes.next_due()
        return None if due is None else max(0.0, due - self._now())

    def _now(self) -> float:
        return self._clock.now().timestamp()
