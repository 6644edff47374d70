"""The historian: takes jobs from the queue and does them, several people's at once and each one's in order."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from historian.baton import Baton
from historian.bell import Bell
from historian.complaints import Complaints
from historian.errors import (
    ConflictError,
    ModelError,
    NotFoundError,
    RetryableModelError,
    ShiguanError,
    StoreError,
    UnreadyStoreError,
)
from historian.job import Job
from historian.live import LiveOptions
from historian.pipeline import Pipeline
from historian.queue import Queue
from historian.steps import Steps
from historian.store_outage import StoreOutage
from historian.telemetry import DONE, FAILED, RETRIED, JobRun, Telemetry
from historian.upkeep import Upkeep

UNSETTLED_SECONDS = 2.0
"""How long after a failure of the queue itself a job is done again."""
ASIDE_SECONDS = 0.5
"""How long a job waits at most for the foreground to fall quiet, before it begins."""
FINISHING_SECONDS = 5.0
"""How long jobs under way may still take when the historian has to leave; then they are left to the next one."""
UNREADABLE = "the queue cannot be read"
AGAIN = "jobs are tried again"
UNNOTED = "what became of jobs could not be noted"

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Historian:
    """Works in the background of one process. `run` in a task group; it contains every error of a job.

    Each worker is a thread that takes one job after the other by itself: handing each over through the event loop,
    which answers clients and shares the interpreter with all threads, would cost more than many a job.
    """

    queue: Queue
    pipeline: Pipeline
    steps: Steps
    options: LiveOptions
    workers: int
    telemetry: Telemetry
    jobs_bell: Bell
    baton: Baton
    upkeep: Upkeep
    outage: StoreOutage
    complaints: Complaints = field(default_factory=lambda: Complaints(log))
    _shields: list[anyio.CancelScope] = field(default_factory=list[anyio.CancelScope])
    _leaving: threading.Event = field(default_factory=threading.Event)

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Work until cancelled; jobs under way get a few seconds to finish, and are left to the next process then."""
        self._leaving.clear()
        # a thread of their own for each: jobs that wait for a slow model must not take those that answer clients
        threads = anyio.CapacityLimiter(self.workers)
        bells = self.jobs_bell, self.upkeep.vectors_bell
        async with bells[0].listening(), bells[1].listening(), anyio.create_task_group() as tasks:
            self.upkeep.start(tasks)
            task_status.started()
            try:
                await self._take_jobs(tasks, threads)
            finally:
                self.upkeep.pulse.stop()
                await self._finish()

    async def _take_jobs(self, tasks: TaskGroup, threads: anyio.CapacityLimiter) -> None:
        """Put one more worker to work whenever there is a job for it."""
        while True:
            job = None
            if len(self._shields) < self.workers:
                job = await anyio.to_thread.run_sync(self._next)
            if job is not None:
                await tasks.start(self._work, job, threads)
            else:
                await self.jobs_bell.wait(await self._idle_seconds())

    async def _finish(self) -> None:
        """Wait for the jobs under way, but not for ever: what is claimed still, the next process takes up."""
        self._leaving.set()
        with anyio.move_on_after(FINISHING_SECONDS, shield=True):
            while self._shields:
                await self.jobs_bell.wait(FINISHING_SECONDS)
        if self._shields:
            log.warning("%d jobs under way are left to the next start", len(self._shields))
        for shield in self._shields:
            shield.cancel()

    async def _idle_seconds(self) -> float:
        poll = self.options.historian.poll_interval_seconds
        if len(self._shields) >= self.workers or not self.options.enabled:
            return poll
        try:
            due = await anyio.to_thread.run_sync(self.queue.next_due)
        except StoreError:
            return poll
        return poll if due is None else max(0.01, min(poll, due))

    async def _work(self, job: Job, threads: anyio.CapacityLimiter, *, task_status: TaskStatus[None]) -> None:
        shield = anyio.CancelScope(shield=True)
        self._shields.append(shield)
        try:
            with shield:
                task_status.started()
                await anyio.to_thread.run_sync(self._labour, job, abandon_on_cancel=True, limiter=threads)
        finally:
            self._shields.remove(shield)
            self.jobs_bell.ring_here()

    def _labour(self, first: Job) -> None:
        """Do a claimed job, and then whatever may be done next, until there is nothing."""
        job: Job | None = first
        while job is not None:
            self.upkeep.under_way[job.job_id] = job
            try:
                while not self.do(job) and not self._leaving.wait(UNSETTLED_SECONDS):
                    pass
            finally:
                self.baton.lay_down()
                del self.upkeep.under_way[job.job_id]
                self.upkeep.standstill.end()
                self.upkeep.vectors_bell.ring()
            job = self._next()

    def _next(self) -> Job | None:
        """Claim the next job, or return None where there is none, or where it is not the time.

        From then until the job is settled, nothing can have the memory alone.
        """
        self.baton.step_aside(ASIDE_SECONDS)
        self.upkeep.standstill.begin()
        job = None
        try:
            if not self._leaving.is_set() and self.options.enabled:
                job = self.queue.claim()
                self.complaints.over(UNREADABLE)
        except StoreError as error:
            self.complaints.say(UNREADABLE, error)
        finally:
            if job is None:
                self.upkeep.standstill.end()
        return job

    def do(self, job: Job) -> bool:
        """Do one claimed job and settle it in the queue; whatever goes wrong is the job's, never the worker's.

        False says that the queue could not note the outcome, say on a full disk: the job is still claimed here and has
        to be done again, which has no second effect.
        """
        try:
            with self.telemetry.job(job.kind, job.attempts) as run:
                self._attempt(job, run)()
        except (NotFoundError, ConflictError) as error:
            log.warning("job %s is not ours any more: %s", job.job_id, error)
        except StoreError as error:
            self.complaints.say(UNNOTED, error, f"what became of job {job.job_id} could not be noted")
            return False
        return True

    def _attempt(self, job: Job, run: JobRun) -> Callable[[], object]:
        """Do a job and return how to settle it."""

        def step(name: str) -> None:
            self.baton.take()
            self.steps.enter(job.job_id, name)
            run.step(name)

        try:
            with self.pipeline.database.lazily():
                self.pipeline.run(job, step)
        except RetryableModelError as error:
            return partial(self._retry, job, run, str(error), error.retry_after)
        except UnreadyStoreError as error:
            return partial(self._postpone, job, run, str(error))
        except (ModelError, StoreError, ConflictError) as error:
            return partial(self._retry, job, run, str(error), None)
        except ShiguanError as error:
            return partial(self._give_up, job, run, str(error))
        except Exception as error:
            log.exception("job %s failed", job.job_id)
            reason = f"An internal error of kind {type(error).__name__}; see the log."
            return partial(self._retry, job, run, reason, None)
        finally:
            self.steps.leave(job.job_id)  # before anybody can read that it is settled
        return partial(self._done, job, run)

    def _done(self, job: Job, run: JobRun) -> None:
        self.queue.finish(job)
        run.outcome = DONE
        self.outage.over()
        self.complaints.over(AGAIN)
        self.complaints.over(UNNOTED)

    def _postpone(self, job: Job, run: JobRun, reason: str) -> None:
        """Let a job wait for a store that cannot work now, which is no attempt: it is not the job's fault."""
        seconds = self.outage.met(reason)
        if self._leaving.is_set():
            return
        self.queue.postpone(job, seconds, reason)
        run.outcome = RETRIED
        self.complaints.say(AGAIN, reason, f"job {job.job_id} will be tried again")

    def _retry(self, job: Job, run: JobRun, error: str, retry_after: float | None) -> None:
        if self._leaving.is_set():  # the stores may be closed already: nothing is wrong with the job
            return
        again = self.queue.retry(job, error, retry_after=retry_after)
        run.outcome = RETRIED if again else FAILED
        if again:
            self.complaints.say(AGAIN, error, f"job {job.job_id} will be tried again")
        else:
            self._failed(job, error)

    def _give_up(self, job: Job, run: JobRun, error: str) -> None:
        self.queue.park(job, error)
        run.outcome = FAILED
        self._failed(job, error)

    def _failed(self, job: Job, error: str) -> None:
        log.warning("job %s failed: %s", job.job_id, error)
        try:
            self.pipeline.give_up(job, error)
        except StoreError as unwritten:
            log.warning("the ledger cannot be written: %s", unwritten)
