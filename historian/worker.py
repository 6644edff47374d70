"""The historian: takes jobs from the queue and does them, keeps the vectors up, and looks after what others left."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus

from historian.bell import Bell
from historian.biographer import Biographer
from historian.errors import ModelError, RetryableModelError, ShiguanError, StoreError
from historian.indexer import Indexer
from historian.job import Job
from historian.options import HistorianOptions
from historian.pipeline import Pipeline
from historian.queue import Queue
from historian.steps import Steps

MAINTENANCE_SECONDS = 15.0
HEARTBEAT_SECONDS = 5.0
HAND_EDITS_EVERY = 4
VECTORS_SECONDS = 5.0
"""How long texts may wait for their vector when nothing rings: after a failure, or while the embedder loads."""
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
    steps: Steps
    options: HistorianOptions
    jobs_bell: Bell
    vectors_bell: Bell
    _busy: dict[str, Job] = field(default_factory=dict[str, Job])

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Work until cancelled; a job under way is finished first by its thread."""
        async with self.jobs_bell.listening(), self.vectors_bell.listening(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._maintain)
            tasks.start_soon(self._beat)
            tasks.start_soon(self._keep_vectors)
            task_status.started()
            while True:
                job = await self._claim()
                if job is not None:
                    await tasks.start(self._work, job)
                else:
                    await self.jobs_bell.wait(await self._idle_seconds())

    async def _idle_seconds(self) -> float:
        poll = self.options.poll_interval_seconds
        if len(self._busy) >= self.options.workers:
            return poll
        due = await anyio.to_thread.run_sync(self.queue.next_due)
        return poll if due is None else max(0.01, min(poll, due))

    async def _claim(self) -> Job | None:
        if len(self._busy) >= self.options.workers:
            return None
        try:
            return await anyio.to_thread.run_sync(self.queue.claim, [job.lane for job in self._busy.values()])
        except StoreError as error:
            log.warning("the queue cannot be read: %s", error)
            return None

    async def _work(self, job: Job, *, task_status: TaskStatus[None]) -> None:
        self._busy[job.job_id] = job
        task_status.started()
        try:
            await anyio.to_thread.run_sync(self.do, job)
        finally:
            del self._busy[job.job_id]
            self.jobs_bell.ring_here()
            self.vectors_bell.ring_here()

    def do(self, job: Job) -> None:
        """Do one claimed job and settle it in the queue; whatever goes wrong is the job's, never the worker's."""
        try:
            self.pipeline.run(job, lambda step: self.steps.enter(job.job_id, step))
            self.queue.finish(job)
        except RetryableModelError as error:
            self._retry(job, str(error), error.retry_after)
        except (ModelError, StoreError) as error:
            self._retry(job, str(error), None)
        except ShiguanError as error:
            self._give_up(job, str(error))
        except Exception as error:
            log.exception("job %s failed", job.job_id)
            self._retry(job, f"An internal error of kind {type(error).__name__}; see the log.", None)
        finally:
            self.steps.leave(job.job_id)

    def _retry(self, job: Job, error: str, retry_after: float | None) -> None:
        again = self.queue.retry(job, error, retry_after=retry_after)
        log.warning("job %s %s: %s", job.job_id, "will be tried again" if again else "failed", error)

    def _give_up(self, job: Job, error: str) -> None:
        self.queue.park(job, error)
        log.warning("job %s failed: %s", job.job_id, error)

    def look_after(self, rounds: int) -> None:
        """Bring back the jobs of dead processes, sweep old failures, and take in profiles that were edited by hand."""
        self.queue.recover()
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
        """Say of each job under way that it is still being worked on."""
        while True:
            await anyio.sleep(HEARTBEAT_SECONDS)
            for job in [*self._busy.values()]:
                with suppress(ShiguanError):
                    await anyio.to_thread.run_sync(self.queue.heartbeat, job)

    async def _keep_vectors(self) -> None:
        """Give every text its vector, and try again later what fails, also the loading of the embedder itself."""
        while True:
            try:
                done = await anyio.to_thread.run_sync(self.indexer.run_batch)
            except (ModelError, StoreError) as error:
                log.warning("vectors wait: %s", error)
                done = 0
            if not done:
                await self.vectors_bell.wait(VECTORS_SECONDS)
