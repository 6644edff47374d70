"""The historian: takes jobs from the queue and does them, keeps the vectors up, and looks after what others left."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from historian.bell import Bell
from historian.biographer import Biographer
from historian.complaints import Complaints
from historian.errors import (
    ConflictError,
    ModelError,
    NotFoundError,
    RetryableModelError,
    ShiguanError,
    StoreError,
)
from historian.foreground import Foreground
from historian.indexer import Indexer
from historian.job import Job
from historian.live import LiveOptions
from historian.pipeline import Pipeline
from historian.profile_merging import ProfileMerger
from historian.pulse import Pulse
from historian.queue import Queue
from historian.returned import ReturnedTexts
from historian.steps import Steps
from historian.telemetry import DONE, FAILED, RETRIED, JobRun, Telemetry
from historian.troubles import Troubles
from historian.upgrading import Upgrader

MAINTENANCE_SECONDS = 15.0
HEARTBEAT_SECONDS = 5.0
HAND_EDITS_EVERY = 4
VECTORS_SECONDS = 5.0
"""How long texts may wait for their vector when nothing rings: after a failure, or while the embedder loads."""
MERGES_SECONDS = 1.0
"""How often it is looked for merges whose time has come, after an outage of the model."""
GATHERING_SECONDS = 0.5
"""How long, at least, vectors let jobs go first: a vector for one text costs nearly what a batch of them does."""
UPGRADES_SECONDS = 2.0
"""How long what rules wrote waits while there are jobs, before it is phrased again."""
UNSETTLED_SECONDS = 2.0
"""How long after a failure of the queue itself a job is done again."""
ASIDE_SECONDS = 0.5
"""How long a job waits at most for the foreground to fall quiet."""
ASIDE_POLL_SECONDS = 0.01
FINISHING_SECONDS = 5.0
"""How long jobs under way may still take when the historian has to leave; then they are left to the next one."""
SWEEP_EVERY = 240
"""Rounds of maintenance between two sweeps of old failures: about an hour."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Historian:
    """Works in the background of one process. `run` in a task group; it contains every error of a job."""

    queue: Queue
    pipeline: Pipeline
    indexer: Indexer
    biographer: Biographer
    merger: ProfileMerger
    upgrader: Upgrader
    returned: ReturnedTexts
    steps: Steps
    options: LiveOptions
    workers: int
    telemetry: Telemetry
    pulse: Pulse
    troubles: Troubles
    jobs_bell: Bell
    vectors_bell: Bell
    foreground: Foreground
    _busy: dict[str, Job] = field(default_factory=dict[str, Job])
    _shields: dict[str, anyio.CancelScope] = field(default_factory=dict[str, anyio.CancelScope])
    _leaving: bool = False

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Work until cancelled; jobs under way get a few seconds to finish, and are left to the next process then."""
        self._leaving = False
        # a thread of their own for each: jobs that wait for a slow model must not take those that answer clients
        threads = anyio.CapacityLimiter(self.workers)
        async with self.jobs_bell.listening(), self.vectors_bell.listening(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._maintain)
            tasks.start_soon(self._beat)
            tasks.start_soon(self._keep_vectors)
            tasks.start_soon(self._keep_profiles)
            tasks.start_soon(self._phrase_again)
            self.pulse.beat()
            task_status.started()
            try:
                await self._take_jobs(tasks, threads)
            finally:
                self.pulse.stop()
                await self._finish()

    async def _take_jobs(self, tasks: TaskGroup, threads: anyio.CapacityLimiter) -> None:
        while True:
            await self._step_aside()
            job = await self._claim()
            if job is not None:
                await tasks.start(self._work, job, threads)
            else:
                await self.jobs_bell.wait(await self._idle_seconds())

    async def _finish(self) -> None:
        """Wait for the jobs under way, but not for ever: what is claimed still, the next process takes up."""
        self._leaving = True
        with anyio.move_on_after(FINISHING_SECONDS, shield=True):
            while self._busy:
                await self.jobs_bell.wait(FINISHING_SECONDS)
        for shield in self._shields.values():
            shield.cancel()
        if self._busy:
            log.warning("%d jobs under way are left to the next start", len(self._busy))

    async def _step_aside(self) -> None:
        """Let those who wait for an answer go first: rules and `end` share one interpreter."""
        with anyio.move_on_after(ASIDE_SECONDS):
            while self.foreground.is_busy():  # noqa: ASYNC110 - quiet is the absence of an event
                await anyio.sleep(ASIDE_POLL_SECONDS)

    async def _idle_seconds(self) -> float:
        poll = self.options.historian.poll_interval_seconds
        if len(self._busy) >= self.workers or not self.options.enabled:
            return poll
        try:
            due = await anyio.to_thread.run_sync(self.queue.next_due)
        except StoreError:
            return poll
        return poll if due is None else max(0.01, min(poll, due))

    async def _claim(self) -> Job | None:
        if len(self._busy) >= self.workers or not self.options.enabled:
            return None
        try:
            return await anyio.to_thread.run_sync(self.queue.claim, [job.lane for job in self._busy.values()])
        except StoreError as error:
            log.warning("the queue cannot be read: %s", error)
            return None

    async def _work(self, job: Job, threads: anyio.CapacityLimiter, *, task_status: TaskStatus[None]) -> None:
        self._busy[job.job_id] = job
        task_status.started()

        async def do() -> bool:
            return await anyio.to_thread.run_sync(self.do, job, abandon_on_cancel=True, limiter=threads)

        try:
            with anyio.CancelScope(shield=True) as self._shields[job.job_id]:
                while not await do():  # noqa: ASYNC110 - only another try shows that the disk has room again
                    await anyio.sleep(UNSETTLED_SECONDS)
        finally:
            del self._busy[job.job_id], self._shields[job.job_id]
            self.jobs_bell.ring_here()
            self.vectors_bell.ring_here()

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
            log.warning("what became of job %s could not be noted: %s", job.job_id, error)
            return False
        finally:
            self.steps.leave(job.job_id)
        return True

    def _attempt(self, job: Job, run: JobRun) -> Callable[[], object]:
        """Do a job and return how to settle it."""

        def step(name: str) -> None:
            self.steps.enter(job.job_id, name)
            run.step(name)

        try:
            with self.pipeline.database.lazily():
                self.pipeline.run(job, step)
        except RetryableModelError as error:
            return partial(self._retry, job, run, str(error), error.retry_after)
        except (ModelError, StoreError, ConflictError) as error:
            return partial(self._retry, job, run, str(error), None)
        except ShiguanError as error:
            return partial(self._give_up, job, run, str(error))
        except Exception as error:
            log.exception("job %s failed", job.job_id)
            reason = f"An internal error of kind {type(error).__name__}; see the log."
            return partial(self._retry, job, run, reason, None)
        return partial(self._done, job, run)

    def _done(self, job: Job, run: JobRun) -> None:
        self.queue.finish(job)
        run.outcome = DONE

    def _retry(self, job: Job, run: JobRun, error: str, retry_after: float | None) -> None:
        if self._leaving:  # the stores may be closed already: nothing is wrong with the job
            return
        again = self.queue.retry(job, error, retry_after=retry_after)
        run.outcome = RETRIED if again else FAILED
        if again:
            log.warning("job %s will be tried again: %s", job.job_id, error)
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

    def look_after(self, rounds: int) -> None:
        """Bring back the jobs of dead processes, sweep old failures, and take in profiles that were edited by hand."""
        self.queue.recover()
        self.returned.flush()
        if rounds % HAND_EDITS_EVERY == 0:
            self.biographer.notice_hand_edits()
        if rounds % SWEEP_EVERY == 0:
            self.queue.sweep()

    async def _maintain(self) -> None:
        rounds = 0
        while True:
            try:
                await anyio.to_thread.run_sync(self.look_after, rounds)
            except ShiguanError as error:
                log.warning("maintenance: %s", error)
            self.jobs_bell.ring_here()
            self.vectors_bell.ring_here()
            rounds += 1
            await anyio.sleep(MAINTENANCE_SECONDS)

    async def _beat(self) -> None:
        """Say that the historian lives, and of each job under way that it is still being worked on."""
        while True:
            await anyio.sleep(HEARTBEAT_SECONDS)
            self.pulse.beat()
            self.troubles.look()
            for job in [*self._busy.values()]:
                with suppress(ShiguanError):
                    await anyio.to_thread.run_sync(self.queue.heartbeat, job)

    async def _keep_vectors(self) -> None:
        """Give every text its vector, and try again later what fails, also the loading of the embedder itself."""
        begun, complaints = anyio.current_time(), Complaints(log)
        while True:
            started = anyio.current_time()
            try:
                if started - begun >= VECTORS_SECONDS:  # not while a first client waits to be greeted
                    await anyio.to_thread.run_sync(self.indexer.wake)
                await anyio.to_thread.run_sync(self.indexer.reconcile)
                done = await anyio.to_thread.run_sync(self.indexer.run_batch)
                complaints.over("vectors wait")
            except ShiguanError as error:
                complaints.say("vectors wait", error)
                done = 0
            if not done:
                await self.vectors_bell.wait(VECTORS_SECONDS)
            if self._busy:
                await anyio.sleep(max(GATHERING_SECONDS, anyio.current_time() - started))

    async def _keep_profiles(self) -> None:
        """Merge what had to wait for the model, on a thread of its own: a slow model must not hold up what answers."""
        thread = anyio.CapacityLimiter(1)
        while True:
            seconds = MERGES_SECONDS
            try:
                if self.options.enabled:
                    await anyio.to_thread.run_sync(self.merger.merge_due, abandon_on_cancel=True, limiter=thread)
            except ShiguanError as error:
                log.warning("merges wait: %s", error)
                seconds = MAINTENANCE_SECONDS
            await anyio.sleep(seconds)

    async def _phrase_again(self) -> None:
        """Let the model phrase what rules wrote, one turn at a time, while nobody waits for a job."""
        thread = anyio.CapacityLimiter(1)
        await anyio.sleep(UPGRADES_SECONDS)
        while True:
            seconds = UPGRADES_SECONDS
            try:
                if self.options.enabled and not self._busy and not await anyio.to_thread.run_sync(self.queue.waiting):
                    seconds = await anyio.to_thread.run_sync(
                        self.upgrader.quietly, abandon_on_cancel=True, limiter=thread
                    )
            except ShiguanError as error:
                log.warning("what rules wrote is not phrased again now: %s", error)
                seconds = MAINTENANCE_SECONDS
            await anyio.sleep(seconds)
