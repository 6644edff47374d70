"""First content of the pages at so many events, beside an empty page: `python -m benchmarks.web EVENTS ROUNDS`.

Over real HTTP on loopback, from the owner, with a connection for each request, as a browser opens one. *First content*
is when the whole page has come: it is sent in one piece. The *empty page* is the one of a link that is too old: the
same server, layers and template, without anything out of the memory. Rounds of all pages alternate.
"""

from __future__ import annotations

import http.client
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.kit import environment, folder, p50, p95, table, verdict
from benchmarks.search import USER, fill

TARGET_MS = 300.0
PAGES = {
    "empty page": "enter?key=none",
    "timeline": "",
    "events only": "?kind=events",
    "search": "?q=guitar",
    "profile": "profile",
    "groups": "groups",
    "queue": "queue",
    "status": "status",
}
SHIGUAN = (sys.executable, "-c", "import sys; from server.cli import main; sys.exit(main())")


def shiguan(data: Path, *arguments: str) -> str:
    """Run a command on a data folder and return what it printed."""
    command = [*SHIGUAN, arguments[0], "--data-dir", str(data), *arguments[1:]]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout.strip()


def fetched(port: int, path: str, cookie: str = "") -> tuple[float, http.client.HTTPResponse]:
    """Return how many milliseconds a page took, and its answer, which has been read."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    answer = connection.getresponse()
    answer.read()
    took = (time.perf_counter() - began) * 1000
    connection.close()
    return took, answer


def measure(data: Path, rounds: int) -> dict[str, list[float]]:
    """Return the times of each page, after one round that does not count."""
    link = urlsplit(shiguan(data, "ui", "--user", USER))
    port, base = link.port or 0, link.path.removesuffix("/enter")
    _, entered = fetched(port, f"{link.path}?{link.query}")
    cookie = (entered.getheader("set-cookie") or "").partition(";")[0]
    times: dict[str, list[float]] = {name: [] for name in PAGES}
    for number in range(rounds + 1):
        for name, path in PAGES.items():
            took, answer = fetched(port, f"{base}/{path}", cookie)
            if answer.status != (401 if name == "empty page" else 200):
                raise RuntimeError(f"{name}: {answer.status}")
            if number:
                times[name].append(took)
    return times


def main(arguments: list[str]) -> int:
    """Fill a folder, measure, and print a table."""
    events, rounds = (int(arguments[0]), int(arguments[1])) if len(arguments) == 2 else (10_000, 40)
    with folder() as data:
        fill(data, events)
        try:
            times = measure(data, rounds)
        finally:
            shiguan(data, "owner", "stop")
    empty = p50(times["empty page"])
    rows = [
        [name, f"{p50(took):.1f}", f"{p95(took):.1f}", f"{p50(took) / empty:.2f}", verdict(p95(took), TARGET_MS, " ms")]
        for name, took in times.items()
    ]
    heads = ["page", "p50", "p95", "p50 / empty page", "target, p95"]
    table(f"First content at {events} events, {rounds} rounds, in ms", heads, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
