"""What the server takes: memory when idle, the wheel, and what is installed with it. `python -m benchmarks.size`."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import EMPTY, ROOT, Peer, command, folder, shiguan, table
from benchmarks.search import fill, question

SHOWN = 15
SETTLE_SECONDS = 5.0
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_BUILD = "import hatchling.build, sys; print(hatchling.build.build_wheel(sys.argv[1]))"


def memory(events: int, searches: int) -> list[list[str]]:
    """Return the resident memory at several moments."""
    with folder() as data:
        fill(data, events)
        with Peer(command(EMPTY)) as empty, Peer(shiguan(data, "--standalone")) as ours:
            empty.initialize()
            floor = empty.resident()
            ours.initialize(confirm=False)
            seen = [("empty MCPServer", floor), ("initialize answered", ours.resident())]
            ours.ready()
            ours.drained()
            seen.append(("embedder and vectors loaded", ours.resident()))
            for number in range(searches):
                ours.call("search_events", query=question(number))
            time.sleep(SETTLE_SECONDS)  # what is freed is given back a little later
            seen.append((f"idle after {searches} searches", ours.resident()))
    return [[name, f"{value:.0f}", f"{value / floor:.1f}"] for name, value in seen]


def wheel() -> str:
    """Return the size of the wheel, or why it was not built."""
    with folder() as target:
        by_backend = [sys.executable, "-c", _BUILD, str(target)]
        by_pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(target), str(ROOT)]
        for words in (by_backend, by_pip):
            if subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode == 0:
                (built,) = target.glob("*.whl")
                return f"{built.name}: {built.stat().st_size / 1024:.0f} KB"
    return "not built here: hatchling is missing"


def installed() -> dict[str, int]:
    """Return the bytes on disk of every package that shiguan needs at run time, by name."""
    sizes: dict[str, int] = {}
    waiting = ["shiguan"]
    while waiting:
        name = waiting.pop()
        if name in sizes:
            continue
        try:
            found = distribution(name)
        except PackageNotFoundError:  # for another platform or Python
            continue
        sizes[name] = on_disk(found)
        needed = [line for line in found.requires or () if "extra ==" not in line]
        waiting += [match[0].lower().replace("_", "-") for line in needed if (match := _NAME.match(line))]
    del sizes["shiguan"]
    return sizes


def on_disk(package: Distribution) -> int:
    """Return the bytes that the files of a package occupy."""
    total = 0
    for file in package.files or ():
        path = Path(str(file.locate()))
        total += path.stat().st_blocks * 512 if path.is_file() else 0
    return total


def main(arguments: list[str]) -> int:
    """Measure and print; the argument is the number of events."""
    events = int(arguments[0]) if arguments else 10_000
    table(f"Resident memory of the server with {events:,} events, in MB", ["", "MB", "× empty"], memory(events, 30))
    print(f"\nWheel: {wheel()}")
    sizes = sorted(installed().items(), key=lambda one: -one[1])
    rest = sizes[SHOWN:]
    rows = [[name, f"{size / 2**20:.1f}"] for name, size in sizes[:SHOWN]]
    rows.append([f"{len(rest)} others", f"{sum(size for _, size in rest) / 2**20:.1f}"])
    rows.append(["total", f"{sum(size for _, size in sizes) / 2**20:.1f}"])
    table("Installed dependencies on disk, in MB", ["package", "MB"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
