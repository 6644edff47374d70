"""The queue under any sequence of steps, two processes' worth of them, and crashes."""

from __future__ import annotations

import random
import shutil
import tempfile
from datetime import UTC, datetime

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from historian.clock import FixedClock
from historian.job import Job
from historian.queue import Queue

WHO = st.integers(0, 1)


class QueueMachine(RuleBasedStateMachine):
    """Two queues on one folder against a model of where each job is."""

    def __init__(self) -> None:
        super().__init__()
        self.root = tempfile.mkdtemp()
        self.clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.queues = [self.open(), self.open()]
        self.held: list[dict[str, Job]] = [{}, {}]
        self.state: dict[str, str] = {}
        self.lane: dict[str, str] = {}
        self.not_before: dict[str, float] = {}
        self.finished: set[str] = set()

    def open(self) -> Queue:
        return Queue(self.root, clock=self.clock, max_retries=2, rng=random.Random(1))

    def teardown(self) -> None:
        for queue in self.queues:
            queue.close()
        shutil.rmtree(self.root)

    def earlier(self, job_id: str) -> list[str]:
        """The unfinished jobs before this one in its lane."""
        lane = self.lane[job_id]
        return [
            other
            for other, state in self.state.items()
            if state != "failed" and self.lane[other] == lane and (other < job_id or state == "processing")
        ]

    def runnable(self) -> list[str]:
        now = self.clock.now().timestamp()
        return sorted(
            job_id
            for job_id, state in self.state.items()
            if state == "pending"
            and self.not_before.get(job_id, 0) <= now
            and not [other for other in self.earlier(job_id) if other != job_id]
        )

    @initialize()
    def start(self) -> None:
        self.enqueue(0, "a")

    @rule(who=WHO, lane=st.sampled_from("ab文"))
    def enqueue(self, who: int, lane: str) -> None:
        job = self.queues[who].enqueue("k", lane, {"lane": lane})
        self.state[job.job_id] = "pending"
        self.lane[job.job_id] = lane

    @rule(who=WHO, busy=st.sets(st.sampled_from("ab文"), max_size=1))
    def claim(self, who: int, busy: set[str]) -> None:
        expected = [job_id for job_id in self.runnable() if self.lane[job_id] not in busy]
        job = self.queues[who].claim(busy)
        assert (job.job_id if job else None) == (expected[0] if expected else None)
        if job is not None:
            assert job.job_id not in self.finished
            self.held[who][job.job_id] = job
            self.state[job.job_id] = "processing"

    def any_held(self, who: int) -> Job | None:
        return self.held[who].pop(min(self.held[who])) if self.held[who] else None

    @rule(who=WHO)
    def finish(self, who: int) -> None:
        job = self.any_held(who)
        if job is not None:
            self.queues[who].finish(job)
            del self.state[job.job_id]
            self.finished.add(job.job_id)

    @rule(who=WHO, how=st.sampled_from(["retry", "postpone", "park", "step"]))
    def leave(self, who: int, how: str) -> None:
        job = self.any_held(who)
        if job is None:
            return
        queue = self.queues[who]
        if how == "step":
            self.held[who][job.job_id] = queue.set_step(job, "half")
            return
        back = (
            queue.park(job, "parked")
            if how == "park"
            else queue.retry(job, "failed")
            if how == "retry"
            else queue.postpone(job, 3, "outage")
        )
        self.state[job.job_id] = "failed" if how == "park" or back is None else "pending"
        if self.state[job.job_id] == "pending":
            assert back is not None
            assert back.not_before is not None
            self.not_before[job.job_id] = back.not_before

    @rule(who=WHO)
    def crash(self, who: int) -> None:
        self.queues[who].close()
        self.queues[who] = self.open()
        assert self.queues[who].recover() == sorted(self.held[who])
        for job_id in self.held[who]:
            self.state[job_id] = "pending"
        self.held[who] = {}

    @rule(who=WHO)
    def recover(self, who: int) -> None:
        assert self.queues[who].recover() == []

    @rule(who=WHO)
    def retry_failed(self, who: int) -> None:
        failed = sorted(job_id for job_id, state in self.state.items() if state == "failed")
        assert self.queues[who].retry_failed() == failed
        for job_id in failed:
            self.state[job_id] = "pending"
            self.not_before.pop(job_id, None)

    @rule(seconds=st.sampled_from([0.5, 2.0, 10.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds=seconds)

    @precondition(lambda self: any(state == "pending" for state in self.state.values()))
    @rule(who=WHO)
    def next_due(self, who: int) -> None:
        due = self.queues[who].next_due()
        assert due is None or due >= 0

    @invariant()
    def every_unfinished_job_lies_where_it_should_and_nothing_else_does(self) -> None:
        for state in ("pending", "processing", "failed"):
            expected = sorted(job_id for job_id, where in self.state.items() if where == state)
            assert [job.job_id for job in self.queues[0].jobs(state)] == expected  # type: ignore[arg-type]


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
