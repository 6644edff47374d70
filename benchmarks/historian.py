"""What the historian costs beside the model it asks: `python -m benchmarks.historian [SCALE]`.

A real server works off a backlog of many people with a scripted model; then the same number of the same calls is made
with the `openai` package alone, by as many threads. SCALE (1) multiplies the numbers of jobs. Besides, `end` of another
person is timed while the historian works and while it does not.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import PATIENCE, Peer, environment, folder, p50, p95, shiguan, table, timed
from benchmarks.model import Model, model
from historian.clock import SystemClock
from historian.model import Scope
from historian.queue import Queue
from historian.session import Session
from historian.turn import Turn, fingerprint
from historian.work import END, job_payload

PEOPLE = 100
LOOK_SECONDS = 0.005
JOBS = {(0, 1): 150, (0, 8): 300, (50, 1): 150, (50, 8): 600, (500, 1): 30, (500, 8): 200}
"""Jobs for each latency in ms and number of workers."""
TARGETS = {50: 70, 500: 95}
"""Percent of the bare throughput, for each latency."""
OFF = "enabled = false\n"


@dataclass(frozen=True)
class Taken:
    """What one run took: seconds, jobs, and calls to the model; and seconds of processor time, of both sides."""

    seconds: float
    jobs: int
    calls: int
    bare: float
    computed: float
    bare_computed: float


def fact(number: int) -> str:
    """Return a fact of its own that stands without context; Chinese and English in turns."""
    if number % 2:
        return f"林晓 2026-11-{number % 28 + 1:02} 把 {number} 号包裹寄到杭州。"
    return f"Lin Xiao sends parcel {number} to Hangzhou on 2026-11-{number % 28 + 1:02}."


def fill(data: Path, first: int, count: int) -> None:
    """Close turns of many people on a folder that a server has open, as the queue lets any process do."""
    queue = Queue(data / "queues", clock=SystemClock())
    session = Session(timezone="Asia/Shanghai", sender_name="Lin Xiao")
    for number in range(first, first + count):
        scope = Scope(f"u{number % PEOPLE}", None, frozenset())
        turn = Turn(memo=f"Noted parcel {number}.", observations=(fact(number),), source_message=fact(number))
        mark = fingerprint(scope, session, turn)
        queue.enqueue(END, scope.owner.key, job_payload(scope, session, turn, mark, SystemClock().now()))
    queue.close()


def waiting(data: Path) -> int:
    """Return how many jobs are not done; looks at names only."""
    names = [name for state in ("pending", "processing") for name in os.listdir(data / "queues" / state)]  # noqa: PTH208
    return len({name for name in names if name.endswith(".json")})


def switch(data: Path, *, on: bool) -> None:
    """Let the server work, or not."""
    (data / "shiguan.toml").write_text("" if on else OFF, encoding="utf-8")


def drain(data: Path) -> float:
    """Switch on, wait until all is done, and return the moment."""
    switch(data, on=True)
    deadline = time.monotonic() + PATIENCE * 4
    while waiting(data):
        if time.monotonic() > deadline:
            raise TimeoutError("the queue does not drain")
        time.sleep(LOOK_SECONDS)
    return time.time()


def server(data: Path, chat: Model, workers: int) -> Peer:
    """Start a server that asks the model."""
    env = environment(
        SHIGUAN_CHAT__BASE_URL=chat.base_url,
        SHIGUAN_CHAT__MODEL="scripted",
        SHIGUAN_CHAT__API_KEY="none",
        SHIGUAN_HISTORIAN__WORKERS=str(workers),
    )
    return Peer(shiguan(data, "--standalone"), env=env)


def prepared(data: Path, peer: Peer) -> None:
    """Have everything loaded that a running server has loaded."""
    peer.initialize()
    peer.call("end", memo="", observations=["Lin Xiao keeps bees."])
    peer.drained()
    peer.ready()
    switch(data, on=False)
    while "switched off" not in str(peer.call("memory_status")["degraded"]):
        time.sleep(0.1)


def measure(latency: float, workers: int, count: int) -> Taken:
    """Return what a backlog takes, beside the calls alone."""
    with folder() as data, model(latency) as chat:
        with server(data, chat, workers) as peer:
            prepared(data, peer)
            fill(data, 1, count)
            chat.told()
            computed = peer.computed()
            ended = drain(data)
            computed = peer.computed() - computed
            told = chat.told()
            failed = len([*(data / "queues" / "failed").glob("*.json")])
        if failed or told["count"] < count:
            raise RuntimeError(f"{failed} jobs failed, and {told['count']} calls were made for {count} jobs")
        before = time.process_time()
        bare = chat.bare([told["body"]], told["count"], workers)
        bare_computed = time.process_time() - before
    return Taken(ended - told["first"], count, told["count"], bare, computed, bare_computed)


def row(latency: int, workers: int, taken: Taken) -> list[str]:
    """Return one line of the table. Overhead is what a worker does between two calls of the model."""
    ideal = taken.calls * latency / 1000 / workers
    overhead = (taken.seconds - taken.bare) * workers / taken.jobs * 1000
    share = 100 * taken.bare / taken.seconds
    target = TARGETS.get(latency)
    judged = "" if target is None else f"{'met' if share >= target else 'MISSED'} (≥ {target} %)"
    figures = [
        f"{taken.calls / taken.jobs:.2f}",
        f"{taken.jobs / taken.seconds:.1f}",
        f"{taken.jobs / taken.bare:.1f}",
        f"{taken.jobs / ideal:.1f}" if ideal else "",
        f"{overhead:.1f}",
        f"{share:.0f} %",
        f"{taken.computed / taken.jobs * 1000:.1f}",
        f"{taken.bare_computed / taken.jobs * 1000:.1f}",
    ]
    return [f"{latency} ms, {workers}", *figures, judged]


def ends(peer: Peer, name: str, count: int, pause: float) -> list[float]:
    """Return how long each of some `end` calls takes, in ms, of somebody who waits between them."""
    taken: list[float] = []
    for number in range(count):
        fact = f"Mei Lin plants tree {name}{number} in Suzhou on 2026-03-12."
        taken.append(timed(lambda: peer.call("end", memo=f"Noted {name}{number}.", observations=[fact])))  # noqa: B023
        time.sleep(pause)
    return taken


def foreground(latency: float, workers: int, count: int) -> list[str]:
    """Return what `end` takes while the historian works, and while it does nothing."""
    with folder() as data, model(latency) as chat, server(data, chat, workers) as peer:
        prepared(data, peer)
        switch(data, on=True)
        while "switched off" in str(peer.call("memory_status")["degraded"]):
            time.sleep(0.1)
        ends(peer, "w", 20, 0.1)
        peer.drained()
        quiet: list[float] = []
        busy: list[float] = []
        for part in range(3):
            quiet += ends(peer, f"q{part}-", 20, 0.1)
            peer.drained()
            fill(data, 1 + part * count, count)
            while not waiting(data):
                time.sleep(LOOK_SECONDS)
            own = 0  # the turns of one person are worked off one after another, slower than they come
            while waiting(data) > workers + own:
                busy += ends(peer, f"b{part}-{own}-", 1, 0.1)
                own += 1
            peer.drained()
    ratio = p50(busy) / p50(quiet)
    judged = f"{'met' if ratio <= 1.5 else 'MISSED'} (≤ 1.5 ×)"
    figures = [f"{value:.2f}" for value in (p50(quiet), p50(busy), ratio, p95(quiet), p95(busy))]
    return [f"{latency:g} ms, {workers}", str(len(busy)), *figures, judged]


def main(arguments: list[str]) -> int:
    """Measure and print."""
    scale = float(arguments[0]) if arguments else 1.0
    runs = [(key, measure(*key, max(20, int(count * scale)))) for key, count in JOBS.items()]
    table(
        f"Jobs a second of {PEOPLE} people, beside the calls to the model alone",
        [
            "latency, workers",
            "calls/job",
            "jobs/s",
            "calls alone",
            "ideal",
            "overhead, ms",
            "share",
            "CPU, ms/job",
            "CPU alone",
            "target",
        ],
        [row(*key, taken) for key, taken in runs],
    )
    table(
        "`end` over stdio of somebody else, in ms",
        ["latency, workers", "calls", "quiet p50", "busy p50", "ratio", "quiet p95", "busy p95", "target"],
        [foreground(50, 8, int(300 * scale)), foreground(500, 8, int(100 * scale))],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
