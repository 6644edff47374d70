"""Real processes, killed at random instants: no acknowledged job is lost, none runs again after it was finished."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from historian.clock import SystemClock
from historian.queue import Queue

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")]

# A line in the ledger is one write to a file opened for appending, so it is whole or absent.
CHILD = """
import os, sys
from historian.clock import SystemClock
from historian.queue import Queue

role, root, ledger, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
out = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
say = lambda *words: os.write(out, (" ".join(words) + "\\n").encode())
queue = Queue(root, clock=SystemClock(), base_delay=0.0)
print("ready", flush=True)
if role == "produce":
    for number in range(count):
        say("acknowledged", queue.enqueue("k", f"lane{number % 5}", {"n": number}).job_id)
else:
    number = 0
    while True:
        job = queue.claim()
        if job is None:
            queue.recover()
            if role == "drain" and queue.stats().pending + queue.stats().processing == 0:
                break
            continue
        number += 1
        say("start", job.job_id, job.lane)
        if number % 7 == 0 and job.attempts == 0:
            queue.retry(job, "try again")
            continue
        queue.set_step(job, "half")
        queue.finish(job)
        say("finished", job.job_id)
"""


def start(role: str, root: Path, ledger: Path, count: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", CHILD, role, str(root), str(ledger), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def lines(*ledgers: Path) -> list[list[str]]:
    return [line.split() for ledger in ledgers if ledger.exists() for line in ledger.read_text("ascii").splitlines()]


def kill(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=10)


def test_kill_nine_at_any_instant_loses_no_acknowledged_job_and_none_runs_after_its_finish(tmp_path: Path) -> None:
    """P30: producers and consumers die at random; what is left drains after a restart."""
    root = tmp_path / "queues"
    dice = random.Random(20260301)
    made = [tmp_path / f"made{number}" for number in range(6)]
    done = [tmp_path / f"done{number}" for number in range(6)]
    for made_here, done_here in zip(made[::2], done[::2], strict=True):
        more = [made[made.index(made_here) + 1], done[done.index(done_here) + 1]]
        children = [
            start("produce", root, made_here, 150),
            start("produce", root, more[0], 150),
            start("consume", root, done_here),
            start("consume", root, more[1]),
        ]
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
        for child in dice.sample(children, len(children)):
            # the random instant is the point of this test; nothing is waited for
            time.sleep(dice.uniform(0.02, 0.25))
            kill(child)
    acknowledged = {line[1] for line in lines(*made) if line[0] == "acknowledged"}
    finished = [line[1] for line in lines(*done) if line[0] == "finished"]
    assert len(acknowledged) > 20
    assert len(finished) == len(set(finished)), "a finished job ran again"

    queue = Queue(root, clock=SystemClock(), base_delay=0.0)
    queue.recover()
    assert queue.stats().processing == 0
    rest: list[str] = []
    while (job := queue.claim()) is not None:
        rest.append(job.job_id)
        queue.finish(job)
    assert not set(rest) & set(finished), "a finished job came back"
    assert queue.jobs("failed") == []
    # a consumer killed between `finish` and its line in the ledger has finished a job that only `start` tells of
    started = {line[1] for line in lines(*done) if line[0] == "start"}
    lost = acknowledged - set(finished) - set(rest) - started
    assert not lost
    unsaid = acknowledged - set(finished) - set(rest)
    assert len(unsaid) <= len(done), "at most one such job per killed consumer"
    queue.close()


def test_two_living_processes_never_work_on_the_same_job_or_lane_at_once(tmp_path: Path) -> None:
    root, ledger = tmp_path / "queues", tmp_path / "ledger"
    queue = Queue(root, clock=SystemClock())
    ids = {queue.enqueue("k", f"lane{number % 3}", {}).job_id for number in range(120)}
    children = [start("drain", root, ledger) for _ in range(2)]
    for child in children:
        child.communicate(timeout=60)
        assert child.returncode == 0
    history = lines(ledger)
    finished = [line[1] for line in history if line[0] == "finished"]
    assert sorted(finished) == sorted(ids)
    per_lane: dict[str, list[str]] = {}
    for line in history:
        if line[0] == "start":
            per_lane.setdefault(line[2], []).append(line[1])
    for starts in per_lane.values():
        assert starts == sorted(starts), "a lane ran out of order"
    assert queue.stats().processing == 0
    queue.close()
