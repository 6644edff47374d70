"""What the shared owner costs: start-up beside an empty MCP server, calls beside `--standalone`, and memory.

`python -m benchmarks.owner [ROUNDS]`. Rounds of all of them alternate, so that a busy machine burdens them alike.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import EMPTY, SERVER, Peer, command, environment, folder, p50, shiguan, table, timed, verdict

CALLS = 40
FACTS = 60
QUERY = "Who moved to Hangzhou with boxes?"


def stop_owner(data: Path) -> None:
    """End the owner of a folder."""
    called = [*SERVER[:-1], "owner", "stop", "--data-dir", str(data)]
    subprocess.run(called, env=environment(), capture_output=True, timeout=60, check=True)


def spawn(called: Sequence[str]) -> float:
    """Return the milliseconds from the start of a process until it answered `initialize`."""
    with Peer(called) as peer:
        return peer.initialize() * 1000


def cold(root: Path, number: int) -> float:
    """Return the same for a client that has to start the owner first."""
    data = root / f"cold{number}"
    took = spawn(shiguan(data))
    stop_owner(data)
    return took


def start_up(root: Path, rounds: int) -> None:
    """Compare four ways to a first answer."""
    warm_data = root / "warm"
    spawn(shiguan(warm_data))
    taken: dict[str, list[float]] = {"empty": [], "warm": [], "cold": [], "alone": []}
    for number in range(rounds):
        taken["empty"].append(spawn(command(EMPTY)))
        taken["warm"].append(spawn(shiguan(warm_data)))
        taken["cold"].append(cold(root, number))
        taken["alone"].append(spawn(shiguan(root / f"alone{number}", "--standalone")))
    stop_owner(warm_data)
    empty = p50(taken["empty"])
    names = {
        "empty": ("empty MCPServer", None),
        "warm": ("client of a warm owner", 0.2),
        "cold": ("client that starts the owner", 1.5),
        "alone": ("--standalone", None),
    }
    rows = [
        (name, f"{p50(taken[key]):.0f} ms", f"{p50(taken[key]) / empty:.2f}", verdict(p50(taken[key]) / empty, limit))
        if limit is not None
        else (name, f"{p50(taken[key]):.0f} ms", f"{p50(taken[key]) / empty:.2f}", "")
        for key, (name, limit) in names.items()
    ]
    table(f"From spawn to `initialize` answered, median of {rounds}", ("process", "time", "ratio", "target"), rows)


def fill(peer: Peer) -> None:
    """Store some facts and wait until they are found by meaning."""
    peer.initialize()
    for number in range(FACTS):
        fact = f"Lin Xiao moves box {number} to Hangzhou on 2026-11-{number % 28 + 1:02}."
        peer.call("end", observations=[fact], force=True)
    peer.ready()
    peer.drained()


def calls(root: Path, rounds: int) -> None:
    """Compare one call at a time through the owner and in one process, and weigh the clients."""
    data = root / "through"
    with Peer(shiguan(data)) as through, Peer(shiguan(root / "single", "--standalone")) as alone:
        fill(through)
        fill(alone)
        rows = []
        for tool, arguments in (("memory_status", {}), ("search_events", {"query": QUERY})):
            taken: tuple[list[float], list[float]] = ([], [])
            for _ in range(rounds):
                for peer, into in zip((through, alone), taken, strict=True):
                    into += [timed(lambda p=peer, t=tool, a=arguments: p.call(t, **a)) for _ in range(CALLS)]
            ratio = p50(taken[0]) / p50(taken[1])
            rows.append(
                (tool, f"{p50(taken[0]):.2f} ms", f"{p50(taken[1]):.2f} ms", f"{ratio:.2f}", verdict(ratio, 1.5))
            )
        heads = ("call, p50", "through the owner", "standalone", "ratio", "target")
        table(f"One call at a time, {rounds} × {CALLS} alternating", heads, rows)
        with Peer(shiguan(data)) as further:
            further.initialize()
            further.call("search_events", query=QUERY)
            weights = [
                ("a further client", f"{further.resident():.1f} MB", verdict(further.resident(), 20, " MB")),
                ("the client that started the owner", f"{through.resident():.1f} MB", ""),
                ("a standalone server", f"{alone.resident():.0f} MB", ""),
            ]
        table("Resident memory", ("process", "RSS", "target"), weights)
    stop_owner(data)


def main(rounds: int = 7) -> None:
    """Print all tables."""
    with folder() as root:
        start_up(root, rounds)
        calls(root, rounds)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
