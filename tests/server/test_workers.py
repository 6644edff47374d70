"""Several workers: different people at once, one person in order, nobody starved, and a clean end whatever hangs."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from historian.baton import Baton
from historian.clock import FixedClock
from historian.errors import StoreError
from historian.foreground import Foreground
from historian.job import Job
from historian.model import Scope
from historian.pipeline import Pipeline, Step
from historian.queue import Queue
from historian.session import Session
from historian.steps import Steps
from historian.worker import FINISHING_SECONDS
from tests.kit.home import Home, home

PATIENCE = 60


class Held(Pipeline):
    """The real pipeline, whose jobs wait at the door until they are let in, and are written down at both ends."""

    entered: list[tuple[str, str]]
    left: list[str]
    door: threading.Event
    changed: threading.Condition

    @classmethod
    def of(cls, real: Pipeline) -> Held:
        made = cls(**{name: getattr(real, name) for name in Pipeline.__dataclass_fields__})
        object.__setattr__(made, "entered", [])
        object.__setattr__(made, "left", [])
        object.__setattr__(made, "door", threading.Event())
        object.__setattr__(made, "changed", threading.Condition())
        return made

    def run(self, job: Job, step: Step) -> None:
        with self.changed:
            self.entered.append((job.lane, job.job_id))
            self.changed.notify_all()
        assert self.door.wait(PATIENCE)
        try:
            super().run(job, step)
        finally:
            with self.changed:
                self.left.append(job.job_id)
                self.changed.notify_all()

    def inside(self) -> int:
        return len(self.entered) - len(self.left)

    async def has_inside(self, count: int, seconds: float = PATIENCE) -> bool:
        """Wait until so many jobs are at the door, or so long; return whether they are."""

        def wait() -> bool:
            with self.changed:
                return self.changed.wait_for(lambda: self.inside() >= count, seconds)

        return await anyio.to_thread.run_sync(wait)


def close(house: Home, user: str, *observations: str, memo: str = "") -> str:
    """Close a turn of somebody, and return the job."""
    memory = house.household.memory.of(Scope(user, None, frozenset()), Session(timezone="Asia/Shanghai"))
    job_id = memory.end(memo=memo, observations=observations, force=True).job_id
    assert job_id is not None
    return job_id


@asynccontextmanager
async def held(folder: Path, workers: int) -> AsyncGenerator[tuple[Home, Held]]:
    (folder / "shiguan.toml").write_text(f"[historian]\nworkers = {workers}\n", "utf-8")
    async with home(folder, run=False) as house:
        pipeline = Held.of(house.household.historian.pipeline)
        house.household.historian.pipeline = pipeline
        try:
            async with anyio.create_task_group() as tasks:
                await tasks.start(house.household.historian.run)
                yield house, pipeline
                tasks.cancel_scope.cancel()
        finally:
            pipeline.door.set()


async def test_people_are_served_at_once_up_to_the_number_of_workers(tmp_path: Path) -> None:
    async with held(tmp_path, 3) as (house, pipeline):
        jobs = [await anyio.to_thread.run_sync(close, house, name, f"Parcel {name} 到了。") for name in "abcde"]
        assert await pipeline.has_inside(3)
        assert not await pipeline.has_inside(4, 0.5)
        assert pipeline.inside() == 3
        pipeline.door.set()
        async with house.client("e") as last:
            await last.settled(jobs[-1])
        with anyio.fail_after(PATIENCE):
            while house.household.queue.stats().processing:  # noqa: ASYNC110
                await anyio.sleep(0.02)
        assert sorted(pipeline.left) == sorted(jobs)


async def test_the_turns_of_one_person_are_done_in_order_and_one_at_a_time(tmp_path: Path) -> None:
    async with held(tmp_path, 4) as (house, pipeline), house.client() as alice, house.client("bob") as bob:
        mine = [(await alice.call("end", observations=[f"Parcel {n} 到了。"]))["job_id"] for n in range(6)]
        theirs = (await bob.call("end", observations=["Bo 住在杭州。"]))["job_id"]
        assert await pipeline.has_inside(2)
        assert not await pipeline.has_inside(3, 0.5)
        assert {job for _, job in pipeline.entered} == {mine[0], theirs}
        pipeline.door.set()
        await alice.settled(mine[-1])
        assert [job for lane, job in pipeline.entered if lane == "user:alice"] == mine
        assert [job for job in pipeline.left if job in mine] == mine


async def test_calls_are_answered_while_more_jobs_hang_than_threads_are_kept_for_calls(tmp_path: Path) -> None:
    """P32: a model that sleeps for minutes takes a thread for each worker, and none from `end`."""
    async with held(tmp_path, 48) as (house, pipeline):
        for number in range(48):
            await anyio.to_thread.run_sync(close, house, f"u{number}", "Bo 住在杭州。")
        assert await pipeline.has_inside(48)
        took: list[float] = []
        async with house.client() as alice:
            for number in range(40):
                begun = time.perf_counter()
                await alice.call("end", observations=[f"Parcel {number} 到了。"])
                took.append(time.perf_counter() - begun)
            status = await alice.call("memory_status")
        assert status["pending"] == 40
        assert statistics.median(took) < 1, took
        assert pipeline.inside() == 48


async def test_a_job_that_hangs_does_not_hold_up_the_end_and_is_done_by_the_next_process(tmp_path: Path) -> None:
    async with held(tmp_path, 2) as (house, pipeline):
        async with house.client() as alice:
            job_id = (await alice.call("end", observations=["Bo 住在杭州。"]))["job_id"]
        assert await pipeline.has_inside(1)
        begun = time.monotonic()
    assert FINISHING_SECONDS - 0.5 < time.monotonic() - begun < FINISHING_SECONDS * 4
    async with home(tmp_path) as later, later.client() as alice:
        job = await alice.settled(job_id)
        assert job["attempts"] == 0, "being left is no failure of the job"
        with pipeline.changed:  # the thread that was left behind finds its stores closed, and harms nothing
            assert pipeline.changed.wait_for(lambda: pipeline.inside() == 0, PATIENCE)
        assert await alice.texts("Bo") == ["Bo 住在杭州。"]
        stats = later.household.queue.stats()
        assert (stats.pending, stats.processing, stats.failed) == (0, 0, 0)


async def test_jobs_under_way_are_finished_when_they_can_be_within_the_time_to_leave(tmp_path: Path) -> None:
    async with held(tmp_path, 2) as (house, pipeline):
        async with house.client() as alice:
            await alice.call("end", observations=["Bo 住在杭州。"])
        assert await pipeline.has_inside(1)
        threading.Timer(0.3, pipeline.door.set).start()
        begun = time.monotonic()
    assert time.monotonic() - begun < FINISHING_SECONDS
    assert len(pipeline.left) == 1
    with pytest.raises(FileNotFoundError):
        (next((tmp_path / "queues" / "processing").glob("*.json"), tmp_path / "none")).read_bytes()


async def test_eight_workers_over_twenty_people_leave_everything_exactly_once(tmp_path: Path) -> None:
    """P12, P26: events and lines of profiles, none lost and none doubled."""
    (tmp_path / "shiguan.toml").write_text("[historian]\nworkers = 8\n", "utf-8")
    async with home(tmp_path, run=False) as house:
        for number in range(80):
            close(house, f"u{number % 20}", f"Parcel K{number} 到了。")
    async with home(tmp_path) as house:
        for number in range(20):
            async with house.client(f"u{number}") as client:
                await client.drained()
                text = (await client.call("get_profile"))["text"]
                assert all(text.count(f"K{n} ") == 1 for n in range(number, 80, 20)), text
        with house.household.database.read() as connection:
            texts = [row[0] for row in connection.execute("SELECT text FROM events")]
        assert sorted(texts) == sorted(f"Parcel K{n} 到了。" for n in range(80))


@pytest.mark.anyio
async def test_a_job_of_a_kind_that_this_version_does_not_know_fails_at_once(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house:
        queue = house.household.queue
        queue.enqueue("novel", "user:alice", {})
        job = queue.claim()
        assert job is not None
        assert house.household.historian.do(job)
        assert (queue.stats().pending, queue.stats().processing) == (0, 0)
        [failed] = queue.jobs("failed")
        assert "unknown kind 'novel'" in str(failed.reason)


class Faulty(Pipeline):
    """The real pipeline, in which every job meets an error of a store that is about what the job holds."""

    def run(self, job: Job, step: Step) -> None:
        raise StoreError(f"What {job.job_id} holds cannot be written.")


def waiting(status: Mapping[str, Any]) -> str:
    """Return what a status says of jobs that wait for a store."""
    return "".join(one for one in status["degraded"] if "jobs wait for a store" in one)


async def test_a_store_that_cannot_work_costs_no_job_an_attempt_however_long_that_lasts(tmp_path: Path) -> None:
    """P9, P15, P27: the database has no room for a while; the jobs wait, longer each time, and are done then."""
    clock = FixedClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    async with home(tmp_path, clock=clock, run=False) as house, house.client() as alice:
        queue, worker, database = house.household.queue, house.household.historian, house.household.database
        job_id = close(house, "alice", *(f"小明喜欢第 {number} 种茶。" + "x" * 900 for number in range(30)))
        with database.write() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()
        waits: list[float | None] = []
        for _ in range(8):
            job = queue.claim()
            assert job is not None
            assert worker.do(job)
            waits.append(queue.next_due())
            clock.advance(seconds=31)
        assert (waits[0], waits[-1]) == (1.0, 30.0)
        status = await alice.call("memory_status", job_id=job_id)
        assert (status["pending"], status["failed"], status["job"]["state"]) == (1, 0, "pending")
        assert "The disk is full" in waiting(status)
        with database.write() as connection:
            connection.execute("PRAGMA max_page_count = 1000000").fetchone()
        job = queue.claim()
        assert job is not None
        assert job.attempts == 0
        assert worker.do(job)
        status = await alice.call("memory_status", job_id=job_id)
        assert status["job"]["state"] == "done"
        assert not waiting(status)


async def test_an_error_of_a_store_that_is_about_the_job_itself_counts(tmp_path: Path) -> None:
    clock = FixedClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    async with home(tmp_path, clock=clock, run=False) as house, house.client() as alice:
        real, queue = house.household.historian.pipeline, house.household.queue
        house.household.historian.pipeline = Faulty(
            **{name: getattr(real, name) for name in Pipeline.__dataclass_fields__}
        )
        close(house, "alice", "小明喜欢茶。")
        while (job := queue.claim()) is not None:
            assert house.household.historian.do(job)
            clock.advance(seconds=3600)
        status = await alice.call("memory_status")
        assert (status["pending"], status["failed"], waiting(status)) == (0, 1, "")


class Crowded(Foreground):
    """Somebody always waits for an answer; counts how often a worker looked."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0

    def is_busy(self) -> bool:
        self.looks += 1
        return True


class Noting(Steps):
    """Notes how often a worker had looked whether somebody waits, when each step began."""

    def __init__(self, crowded: Crowded) -> None:
        super().__init__()
        self._crowded = crowded
        self.looked: dict[str, int] = {}

    def enter(self, job_id: str, step: str) -> None:
        self.looked[step] = self._crowded.looks
        super().enter(job_id, step)


async def test_a_job_steps_aside_before_each_of_its_steps_and_is_done_all_the_same(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        worker, queue, crowded = house.household.historian, house.household.queue, Crowded()
        job_id = close(house, "alice", "小明喜欢茶。")
        worker.baton = Baton(crowded)
        job = queue.claim()
        assert job is not None
        worker.steps = noting = Noting(crowded)
        assert worker.do(job)
        assert [*noting.looked] == ["evidence", "rewrite", "store", "merge", "settle"]
        assert all(later > earlier for earlier, later in pairwise([0, *noting.looked.values()]))
        assert (await alice.call("memory_status", job_id=job_id))["job"]["state"] == "done"


class Leaving(Steps):
    """Notes where a job stood in the queue when its last step was left."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self._queue = queue
        self.states: list[str] = []

    def leave(self, job_id: str) -> None:
        found = self._queue.get(job_id)
        assert found is not None
        self.states.append(found[0])
        super().leave(job_id)


async def test_a_job_whose_outcome_can_be_read_is_at_no_step_any_more(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house:
        worker, queue = house.household.historian, house.household.queue
        close(house, "alice", "小明喜欢茶。")
        if (tmp_path / "profiles").exists():
            (tmp_path / "profiles").rename(tmp_path / "elsewhere")
        (tmp_path / "profiles").write_text("in the way", "utf-8")
        close(house, "bob", "Bo 住在杭州。")
        worker.steps = leaving = Leaving(queue)
        for _ in range(2):
            job = queue.claim()
            assert job is not None
            assert worker.do(job)
        assert leaving.states == ["processing", "processing"]
