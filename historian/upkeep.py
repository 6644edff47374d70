"""What the historian looks after besides jobs: vectors, profiles, what rules wrote, and what others left behind."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from historian.bell import Bell
from historian.biographer import Biographer
from historian.complaints import Complaints
from historian.errors import ShiguanError
from historian.evolve_schedule import EvolveSchedule
from historian.indexer import Indexer
from historian.job import Job
from historian.live import LiveOptions
from historian.profile_merging import ProfileMerger
from historian.pulse import Pulse
from historian.queue import Queue
from historian.returned import ReturnedTexts
from historian.standstill import Standstill
from historian.troubles import Troubles
from historian.upgrading import Upgrader

MAINTENANCE_SECONDS = 15.0
HEARTBEAT_SECONDS = 5.0
HAND_EDITS_EVERY = 4
VECTORS_SECONDS = 5.0
"""How long texts may wait for their vector when nothing rings: after a failure, or while the embedder loads."""
MERGES_SECONDS = 1.0
"""How often it is looked for merges whose time has come, after an outage of the model."""
GATHERING_SECONDS = 2.0
"""How long, at least, vectors let jobs go first: a vector for one text costs nearly what a batch of them does."""
UPGRADES_SECONDS = 2.0
"""How long what rules wrote waits while there are jobs, before it is phrased again."""
EVOLVING_SECONDS = 30.0
"""How often it is looked for groups whose time to evolve has come."""
SWEEP_EVERY = 240
"""Rounds of maintenance between two sweeps of old failures: about an hour."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Upkeep:
    """Runs beside the jobs, of which those under way stand in `under_way`; contains every error of its own."""

    queue: Queue
    indexer: Indexer
    biographer: Biographer
    merger: ProfileMerger
    upgrader: Upgrader
    returned: ReturnedTexts
    options: LiveOptions
    pulse: Pulse
    troubles: Troubles
    jobs_bell: Bell
    vectors_bell: Bell
    standstill: Standstill
    finish_forgetting: Callable[[], None]
    evolve_schedule: EvolveSchedule
    under_way: dict[str, Job] = field(default_factory=dict[str, Job])
    evolving_seconds: float = EVOLVING_SECONDS

    def start(self, tasks: TaskGroup) -> None:
        """Begin, in tasks of this group."""
        for task in (
            self._maintain,
            self._beat,
            self._keep_vectors,
            self._keep_profiles,
            self._phrase_again,
            self._let_groups_evolve,
        ):
            tasks.start_soon(task)
        self.pulse.beat()

    def look_after(self, rounds: int) -> None:
        """Bring back the jobs of dead processes, sweep old failures and traces, and take in profiles edited by hand."""
        self.queue.recover()
        self.returned.flush()
        if rounds % HAND_EDITS_EVERY == 0:
            self.biographer.notice_hand_edits()
        if rounds % SWEEP_EVERY == 0:
            self.queue.sweep()
            self.finish_forgetting()

    async def _maintain(self) -> None:
        rounds, complaints = 0, Complaints(log)
        while True:
            try:
                await anyio.to_thread.run_sync(self.look_after, rounds)
                complaints.over("maintenance")
            except ShiguanError as error:
                complaints.say("maintenance", error)
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
            for job in [*self.under_way.values()]:
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
            if self.under_way:
                await anyio.sleep(max(GATHERING_SECONDS, anyio.current_time() - started))

    def _merge_due(self) -> int:
        with self.standstill.working():
            return self.merger.merge_due()

    def _upgrade(self) -> float:
        with self.standstill.working():
            return self.upgrader.quietly()

    async def _keep_profiles(self) -> None:
        """Merge what had to wait for the model, on a thread of its own: a slow model must not hold up what answers."""
        thread, complaints = anyio.CapacityLimiter(1), Complaints(log)
        while True:
            seconds = MERGES_SECONDS
            try:
                if self.options.enabled:
                    await anyio.to_thread.run_sync(self._merge_due, abandon_on_cancel=True, limiter=thread)
                complaints.over("merges wait")
            except ShiguanError as error:
                complaints.say("merges wait", error)
                seconds = MAINTENANCE_SECONDS
            await anyio.sleep(seconds)

    async def _phrase_again(self) -> None:
        """Let the model phrase what rules wrote, one turn at a time, while nobody waits for a job."""
        thread, complaints = anyio.CapacityLimiter(1), Complaints(log)
        what = "what rules wrote is not phrased again now"
        await anyio.sleep(UPGRADES_SECONDS)
        while True:
            seconds = UPGRADES_SECONDS
            try:
                if (
                    self.options.enabled
                    and not self.under_way
                    and not await anyio.to_thread.run_sync(self.queue.waiting)
                ):
                    seconds = await anyio.to_thread.run_sync(self._upgrade, abandon_on_cancel=True, limiter=thread)
                complaints.over(what)
            except ShiguanError as error:
                complaints.say(what, error)
                seconds = MAINTENANCE_SECONDS
            await anyio.sleep(seconds)

    async def _let_groups_evolve(self) -> None:
        """Let groups evolve that are due, one after the other, on a thread of its own."""
        thread = anyio.CapacityLimiter(1)
        while True:
            await anyio.sleep(self.evolving_seconds)
            try:
                while await anyio.to_thread.run_sync(self.evolve_schedule.run, abandon_on_cancel=True, limiter=thread):
                    pass
            except ShiguanError as error:
                log.warning("groups do not evolve now: %s", error)
