"""What an import costs: messages a second beside bare inserts into SQLite, and the memory of both processes.

`python -m benchmarks.importing [MESSAGES]`. Reading alone (`--dry-run`), reading and storing, and storing once more
what is known already; the baseline is one table without any index, filled in transactions of the same size.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import SERVER, environment, folder, table
from server.owner.address import read_holder
from tests.kit.exporting import telegram, whatsapp

BATCH = 500
MAKERS: dict[str, tuple[str, Callable[[Path, int], Path]]] = {
    "Telegram JSON": ("result.json", telegram),
    "WhatsApp text": ("chat.txt", whatsapp),
}


def bare(root: Path, count: int) -> float:
    """Return the seconds that as many inserts take without a memory."""
    begun = time.perf_counter()
    with closing(sqlite3.connect(root / "bare.sqlite3", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE messages (id TEXT, content TEXT, ts TEXT)")
        for start in range(0, count, BATCH):
            connection.execute("BEGIN")
            rows = ((str(n), f"planted a quince tree in Lund {n}", "2020-09-13") for n in range(start, start + BATCH))
            connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")
    return time.perf_counter() - begun


def imported(data: Path, source: Path, *flags: str) -> tuple[float, float]:
    """Import; return the seconds, and the most memory the command held, in MB."""
    called = [*SERVER[:-1], "import", "--data-dir", str(data), "--user", "bench", str(source), *flags]
    measured = (
        "import json, resource, subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True, check=True);"
        " print(json.dumps(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))"
    )
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", measured, *called], env=environment(), capture_output=True, text=True, check=True
    )
    return time.perf_counter() - begun, float(json.loads(done.stdout))


def peak(pid: int) -> float:
    """Return the most memory a process ever held, in MB."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def stop_owner(data: Path) -> None:
    called = [*SERVER[:-1], "owner", "stop", "--data-dir", str(data)]
    subprocess.run(called, env=environment(), capture_output=True, timeout=120, check=True)


def measure(name: str, root: Path, count: int) -> list[tuple[str, ...]]:
    """Return the rows for one format."""
    file, make = MAKERS[name]
    source = make(root / file, count)
    data = root / name.split(maxsplit=1)[0]
    inserts = bare(root, count)
    (root / "bare.sqlite3").unlink()
    rows: list[tuple[str, ...]] = []
    steps = (("read and checked only", ("--dry-run",)), ("imported", ()), ("imported again", ()))
    for step, flags in steps:
        seconds, held = imported(data, source, *flags)
        holder = read_holder(data).get("pid") if data.exists() else None
        owner = f"{peak(int(holder)):.0f} MB" if holder and Path(f"/proc/{holder}").exists() else ""
        rate, ratio = f"{count / seconds:,.0f}/s", f"{seconds / inserts:.1f}"
        rows.append((f"{name}: {step}", rate, ratio, f"{held:.0f} MB", owner))
    stop_owner(data)
    return rows


def main(count: int) -> None:
    """Measure and print."""
    with folder() as root:
        rows = [row for name in MAKERS for row in measure(name, root, count)]
    headings = ("what", "messages", "time beside bare inserts", "command at most", "owner at most")
    table(f"{count:,} messages, half of them Chinese", headings, rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
