"""What `end` costs over real stdio, durable, beside an echo on the same transport and a bare durable write.

`python -m benchmarks.end [ROUNDS]`. Rounds of all three alternate, so that a busy machine burdens them alike.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import ECHO, Peer, bare_write, command, folder, p50, p95, shiguan, table, timed, verdict

CALLERS = 64
MEMO = "Answered where Lin moves and what the flat costs."
FACTS = (
    "Lin Xiao moves to Hangzhou on 2026-11-{day:02} with {number} boxes.",
    "林晓 2026年11月{day}日 租下第 {number} 号公寓，每月 4200 元。",
)


@dataclass
class Taken:
    """Milliseconds of each call."""

    echo: list[float] = field(default_factory=list[float])
    bare: list[float] = field(default_factory=list[float])
    end: list[float] = field(default_factory=list[float])


class Turns:
    """Makes `end` calls of which no two are alike."""

    def __init__(self) -> None:
        self.number = 0

    def next(self, tool: str) -> tuple[str, dict[str, object]]:
        """Return a call of `tool`."""
        self.number += 1
        facts = [fact.format(day=self.number % 28 + 1, number=self.number) for fact in FACTS]
        return tool, {"memo": f"{MEMO} {self.number}", "observations": facts}


def at_once(action: Callable[[], float], callers: int) -> list[float]:
    """Return what `callers` threads measure that begin together."""
    taken: list[float] = []
    barrier = threading.Barrier(callers)

    def run() -> None:
        barrier.wait()
        taken.append(action())

    threads = [threading.Thread(target=run) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


@dataclass
class Bench:
    """Our server, the echo, and a folder for bare writes."""

    ours: Peer
    echo: Peer
    disk: Path
    turns: Turns = field(default_factory=Turns)


def measure(bench: Bench, callers: int, rounds: int, *, busy: bool = False) -> Taken:
    """Return the times of `rounds` rounds; unless `busy`, each begins when the historian has nothing to do."""
    taken, ours, echo, turns = Taken(), bench.ours, bench.echo, bench.turns
    write = bare_write(bench.disk, b"x" * 900)
    for _ in range(rounds):
        taken.echo += echo.burst([turns.next("echo") for _ in range(callers)])
        taken.bare += [timed(write)] if callers == 1 else at_once(lambda: timed(write), callers)
        taken.end += ours.burst([turns.next("end") for _ in range(callers)])
        if not busy:
            ours.drained()
    ours.drained()
    return taken


def rows(label: str, taken: Taken, target: Callable[[float, float, str], str]) -> list[list[str]]:
    """Return the lines of the table for one number of callers."""
    lines: list[list[str]] = []
    for name, of in (("p50", p50), ("p95", p95)):
        echo, bare, end = of(taken.echo), of(taken.bare), of(taken.end)
        more = end - echo
        figures = [f"{value:.2f}" for value in (echo, bare, end, more)]
        lines.append(
            [f"{label}, {name}", *figures, f"{end / echo:.2f}", f"{more / bare:.2f}", target(more, bare, name)]
        )
    return lines


def one_target(more: float, bare: float, name: str) -> str:
    """Judge a single caller."""
    return verdict(more / bare, 2, " × bare") if name == "p50" else ""


def many_target(more: float, _: float, name: str) -> str:
    """Judge 64 callers."""
    return verdict(more, 30, " ms") if name == "p95" else ""


def main(arguments: list[str]) -> int:
    """Measure and print; the argument is the number of rounds with one caller."""
    rounds = int(arguments[0]) if arguments else 60
    with folder() as data, folder() as disk, Peer(shiguan(data, "--standalone")) as ours, Peer(command(ECHO)) as echo:
        ours.initialize()
        echo.initialize()
        ours.ready()
        bench = Bench(ours, echo, disk)
        measure(bench, 8, 3)
        single = measure(bench, 1, rounds)
        behind = measure(bench, 1, rounds, busy=True)
        many = measure(bench, CALLERS, max(3, rounds // 12))
    table(
        "`end` over stdio, in ms; `end − echo` is what durability, checks and the gate cost",
        ["callers", "echo", "bare write", "end", "end − echo", "end / echo", "(end − echo) / bare", "target"],
        [
            *rows("1", single, one_target),
            *rows("1, without a pause", behind, lambda *_: ""),
            *rows(str(CALLERS), many, many_target),
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
