"""What the benchmarks share: MCP servers as processes, a client that costs next to nothing, and tables of ratios."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 300.0
"""Seconds after which a process that does not answer is given up."""

EMPTY = 'from mcp.server.mcpserver import MCPServer\n\nMCPServer("empty").run("stdio")\n'
"""The least that the SDK can do: a server without anything."""
ECHO = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("echo")


@server.tool()
def echo(memo: str, observations: list[str]) -> str:
    return memo


server.run("stdio")
"""
"""A tool that takes what `end` takes and gives it back: a plain function, so that the SDK calls it in a thread too."""

SERVER = (sys.executable, "-c", "import sys; from server.cli import main; sys.exit(main())", "serve")
"""What the console script `shiguan serve` does."""


def command(program: str) -> list[str]:
    """Return the command that runs a program text, as a console script is run."""
    return [sys.executable, "-c", program]


def environment(**more: str) -> dict[str, str]:
    """Return an environment without settings of ours, but with `more`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SHIGUAN_")}
    return kept | {"PYTHONPATH": str(ROOT), "SHIGUAN_TIMEZONE": "Asia/Shanghai"} | more


@contextmanager
def folder() -> Generator[Path]:
    """Lend an empty folder."""
    with tempfile.TemporaryDirectory(prefix="shiguan-bench-", ignore_cleanup_errors=True) as path:
        yield Path(path)


class Peer:
    """An MCP server as a process, and its client. The client only timestamps lines: it parses them when asked.

    Use it as a context manager. `started` is the moment before the process was made.
    """

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env) if env is not None else environment(),
            cwd=cwd,
        )
        self.lines: list[tuple[float, bytes]] = []
        self.errors = b""
        self._number = 0
        self._changed = threading.Condition()
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join()

    def initialize(self, *, confirm: bool = True) -> float:
        """Open the connection; return the seconds from the start of the process to the answer."""
        client = {"name": "benchmark", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self._send([self._request("initialize", params)])
        (arrived, _) = self._wait(1)[0]
        if confirm:
            self._send([b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'])
        return arrived - self.started

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed and return its structured content."""
        self.burst([(tool, arguments)])
        return answer(self.lines[-1][1])

    def burst(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[float]:
        """Send calls at once and return how long after that each answer came, in ms, in the order of the answers."""
        data = [self._request("tools/call", {"name": tool, "arguments": arguments}) for tool, arguments in calls]
        before = len(self.lines)
        begin = time.perf_counter()
        self._send(data)
        return [(arrived - begin) * 1000 for arrived, _ in self._wait(before + len(calls))[before:]]

    def drained(self) -> None:
        """Wait until the memory has nothing to do; for our own server."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            status = self.call("memory_status")
            if not status["pending"] and not status["processing"] and not status["unembedded"]:
                return
            time.sleep(0.05)
        raise TimeoutError("the queue does not drain")

    def ready(self) -> None:
        """Wait until the search by meaning works; for our own server."""
        deadline = time.monotonic() + PATIENCE
        while self.call("search_events", query="warm")["degraded"]:
            if time.monotonic() > deadline:
                raise TimeoutError("the search by meaning does not come up")
            time.sleep(0.1)

    def resident(self) -> float:
        """Return its resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def computed(self) -> float:
        """Return the seconds that its threads have computed."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _request(self, method: str, params: Mapping[str, Any]) -> bytes:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        return json.dumps(message, ensure_ascii=False).encode() + b"\n"

    def _send(self, lines: Sequence[bytes]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(lines))
        self.process.stdin.flush()

    def _wait(self, count: int) -> list[tuple[float, bytes]]:
        with self._changed:
            come = self._changed.wait_for(lambda: len(self.lines) >= count or self.process.poll() is not None, PATIENCE)
        if not come or len(self.lines) < count:
            raise TimeoutError(f"no answer: {self.errors[-2000:].decode('utf-8', 'replace')}")
        return self.lines

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            arrived = time.perf_counter()
            if b'"id"' in line:  # not a notification
                with self._changed:
                    self.lines.append((arrived, line))
                    self._changed.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors += line
        with self._changed:
            self._changed.notify_all()


def answer(line: bytes) -> dict[str, Any]:
    """Return the structured content of an answer that is no refusal."""
    message = json.loads(line)
    result = message.get("result")
    if result is None or result.get("isError"):
        raise RuntimeError(line[:500].decode())
    structured: dict[str, Any] = result["structuredContent"]
    return structured


def shiguan(data: Path, *flags: str) -> list[str]:
    """Return the command of our server on a data folder."""
    return [*SERVER, "--data-dir", str(data), "--user", "bench", *flags]


def bare_write(target: Path, document: bytes) -> Callable[[], None]:
    """Return a function that writes a new file, flushes it, renames it and flushes the folder: nothing else."""

    def write() -> None:
        name = os.urandom(16).hex()
        temporary = target / f".{name}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(descriptor, document)
        os.fsync(descriptor)
        os.close(descriptor)
        temporary.replace(target / name)
        opened = os.open(target, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)

    return write


def timed(action: Callable[[], object]) -> float:
    """Return how long an action took, in ms."""
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1000


def share(values: Iterable[float], part: float) -> float:
    """Return the value that `part` (0..1) of all values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def p50(values: Iterable[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def p95(values: Iterable[float]) -> float:
    """Return the value that 95 of 100 do not exceed."""
    return share(values, 0.95)


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    print(f"\n{title}\n")
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    for row in (heads, ["-" * width for width in widths], *rows):
        cells = [row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, len(row)))]
        print(f"| {' | '.join(cells)} |")
    sys.stdout.flush()


def verdict(value: float, limit: float, unit: str = "") -> str:
    """Return whether a value is within its limit, in words."""
    return f"{'met' if value <= limit else 'MISSED'} (≤ {limit:g}{unit})"
