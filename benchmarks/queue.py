"""What a durable job costs beside a bare durable write, and how fast a backlog drains: `python -m benchmarks.queue`."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from historian.clock import SystemClock
from historian.queue import Queue

DOCUMENT = b"x" * 400


def bare_write(folder: Path) -> Callable[[], object]:
    """Return a function that writes, flushes, renames and flushes the folder: nothing else."""

    def write() -> None:
        name = os.urandom(16).hex()
        temporary = folder / f".{name}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(descriptor, DOCUMENT)
        os.fsync(descriptor)
        os.close(descriptor)
        temporary.replace(folder / name)
        opened = os.open(folder, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)

    return write


def timed(action: Callable[[], object], threads: int, each: int) -> list[float]:
    """Return the sorted milliseconds of every call."""
    taken: list[float] = []
    barrier = threading.Barrier(threads)

    def run() -> None:
        barrier.wait()
        for _ in range(each):
            begin = time.perf_counter()
            action()
            taken.append((time.perf_counter() - begin) * 1000)

    workers = [threading.Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sorted(taken)


def compare(root: Path, threads: int, each: int) -> None:
    """Print enqueue beside the bare write; rounds alternate so that a busy machine burdens both alike."""
    bare_folder = root / f"bare{threads}"
    bare_folder.mkdir()
    queue = Queue(root / f"queue{threads}", clock=SystemClock())
    payload: dict[str, object] = {"conversation": "c" * 100, "text": "记" * 20}
    bare: list[float] = []
    ours: list[float] = []
    for _ in range(5):
        bare += timed(bare_write(bare_folder), threads, each)
        ours += timed(lambda: queue.enqueue("write", "user:1", payload), threads, each)
    queue.close()
    for label, share in (("p50", 0.50), ("p95", 0.95)):
        floor, cost = (sorted(values)[int(len(values) * share)] for values in (bare, ours))
        print(f"{threads:>2} threads {label}: bare {floor:7.3f} ms  enqueue {cost:7.3f} ms  ratio {cost / floor:5.2f}")


def drain(root: Path, count: int) -> None:
    """Print how fast `count` jobs are claimed and finished, first half and second half apart."""
    queue = Queue(root / "drain", clock=SystemClock())
    workers = [
        threading.Thread(target=lambda: [queue.enqueue("k", f"u{i % 50}", {"n": i}) for i in range(count // 16)])
        for _ in range(16)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    queue.close()
    queue = Queue(root / "drain", clock=SystemClock())
    begin = time.perf_counter()
    marks: list[float] = []
    while (job := queue.claim()) is not None:
        queue.finish(job)
        marks.append(time.perf_counter() - begin)
    half = len(marks) // 2
    print(f"drain of {len(marks)} jobs: {len(marks) / marks[-1]:.0f} jobs/s; first claim and finish {marks[0]:.2f} s,")
    print(f"  first half {half / (marks[half - 1] - marks[0]):.0f}/s, second {half / (marks[-1] - marks[half]):.0f}/s")
    queue.close()


def main() -> None:
    """Run all; the first argument is the number of jobs to drain."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        root = Path(folder)
        compare(root, 1, 60)
        compare(root, 64, 4)
        drain(root, count)


if __name__ == "__main__":
    main()
