"""A real `shiguan` process, spoken to over its real stdin and stdout as a host does, with every raw line kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.kit.nest import Hatched, Nest
from tests.kit.pauses import pauses

CEILING = 120.0
"""Seconds after which a wait is a failure; far more than any wait needs, also on a busy machine."""
SHIMS = Path(__file__).parent / "shims"
SHIGUAN = str(Path(sys.executable).with_name("shiguan"))
ROOT = Path(__file__).parents[2]
LEGACY = "2025-11-25"
MODERN = "2026-07-28"


class RpcError(Exception):
    """The server answered a request with a protocol error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message")))
        self.code = error.get("code")
        self.sentence = str(error.get("message"))


class ServerGone(Exception):  # noqa: N818 - a fact, not a fault
    """The process ended, or closed stdout, before it answered."""


def environment(*shims: str, **more: str) -> dict[str, str]:
    """Return a child's environment: little of ours, the named shims and this checkout on its path, and `more`."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    paths = os.pathsep.join([*(str(SHIMS / shim) for shim in shims), str(ROOT)])
    return kept | {"PYTHONPATH": paths} | more


def run(
    *arguments: str,
    stdin: str | bytes = b"",
    env: Mapping[str, str] | None = None,
    code: int | None = 0,
    seconds: float = CEILING,
) -> subprocess.CompletedProcess[bytes]:
    """Run a `shiguan` command to its end, within so many seconds; with `code`, that must be its exit code."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [SHIGUAN, *arguments], input=given, capture_output=True, env=env or environment(), timeout=seconds, check=False
    )
    assert code is None or done.returncode == code, (done.returncode, done.stderr.decode())
    return done


class Stdio:
    """One `shiguan serve` on `folder`, all in that process; `command` may start it otherwise, `nest` fork it.

    A thread reads stdout, another one stderr; waits are woken by them. Use it as a context manager: it kills on exit.
    """

    mode: tuple[str, ...] = ("--standalone",)

    def __init__(
        self,
        folder: Path,
        *flags: str,
        shims: Sequence[str] = ("fast",),
        env: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        nest: Nest | None = None,
    ) -> None:
        self.folder = folder
        self.started = time.monotonic()
        serve = ["serve", *self.mode, "--data-dir", str(folder), *flags]
        own = environment(*shims, **(env or {}))
        self.process: subprocess.Popen[bytes] | Hatched
        if nest is not None:
            self.process = nest.start([*(command or ()), *serve], own)
        else:
            called = [*(command or [SHIGUAN]), *serve]
            self.process = subprocess.Popen(called, stdin=-1, stdout=-1, stderr=-1, env=own, bufsize=0)
        self.lines: list[bytes] = []
        self.log: list[str] = []
        self.called: set[str] = set()
        self._answers: dict[Any, dict[str, Any]] = {}
        self._next = 0
        self._open = 2
        self._modern = False
        self._changed = threading.Condition()
        for target in (self._read_stdout, self._read_stderr):
            threading.Thread(target=target, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    @property
    def stderr(self) -> str:
        """All that stood on stderr so far."""
        return "".join(self.log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    # ---- the wire

    def send_raw(self, data: bytes) -> None:
        """Write bytes to the process's stdin. Raises ServerGone."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
        except OSError:
            raise ServerGone(self.stderr[-2000:]) from None

    def send(self, method: str, params: Mapping[str, Any] | None = None, *, ascii_only: bool = False) -> int:
        """Send a request and return its id, to be waited for. Raises ServerGone."""
        with self._changed:
            self._next += 1
            number = self._next
        given = dict(params or {})
        if self._modern:
            given["_meta"] = _META
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": given}, ascii_only=ascii_only)
        return number

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification. Raises ServerGone."""
        self._send({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})

    def answer(self, number: int, seconds: float = CEILING) -> dict[str, Any]:
        """Wait for the answer to a request and return its result. Raises RpcError, ServerGone."""
        with self._changed:
            answered = self._changed.wait_for(lambda: number in self._answers or self._open < 2, seconds)
            message = self._answers.pop(number, None)
        if message is None and answered:
            self.wait_exit()
            raise ServerGone(self.stderr[-2000:])
        assert message is not None, f"no answer within {seconds} s\n{self.stderr[-2000:]}"
        if "error" in message:
            raise RpcError(message["error"])
        result: dict[str, Any] = message["result"]
        return result

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        seconds: float = CEILING,
        ascii_only: bool = False,
    ) -> dict[str, Any]:
        """Send a request and return its result. Raises RpcError, ServerGone."""
        return self.answer(self.send(method, params, ascii_only=ascii_only), seconds)

    # ---- MCP

    def initialize(self, *, seconds: float = CEILING) -> Self:
        """Open the connection as a host of 2025 does."""
        client = {"name": "stdio-kit", "version": "1"}
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
        answer = self.request("initialize", params, seconds=seconds)
        assert answer["protocolVersion"] == LEGACY
        self.notify("notifications/initialized")
        return self

    def discover(self) -> dict[str, Any]:
        """Open the connection as a host of 2026 does: no handshake, every request says what it needs."""
        self._modern = True
        return self.request("server/discover")

    def send_call(self, tool: str, /, **arguments: Any) -> int:
        """Call a tool without waiting and return the request's id."""
        self.called.add(tool)
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed and return its structured content."""
        return content(self.answer(self.send_call(tool, **arguments)))

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool that must refuse and return its sentence."""
        result = self.answer(self.send_call(tool, **arguments))
        assert result.get("isError"), result
        return prose(result)

    def settled(self, job_id: str, state: str = "done") -> dict[str, Any]:
        """Wait until a job has reached `state`."""
        deadline = time.monotonic() + CEILING
        for pause in pauses():
            job: dict[str, Any] = self.call("memory_status", job_id=job_id)["job"]
            if job["state"] == state:
                return job
            assert time.monotonic() < deadline, (job, self.stderr[-2000:])
            time.sleep(pause)  # a job's end can only be asked for
        raise AssertionError

    def drained(self) -> dict[str, Any]:
        """Wait until no job of the scope is pending or processing and return the status."""
        return self._until_none_is("pending", "processing")

    def embedded(self) -> dict[str, Any]:
        """Wait until every text of the scope has its vector too, which follows behind, and return the status."""
        return self._until_none_is("pending", "processing", "unembedded")

    def _until_none_is(self, *states: str) -> dict[str, Any]:
        deadline = time.monotonic() + CEILING
        for pause in pauses():
            status = self.call("memory_status")
            if not any(status[state] for state in states):
                return status
            assert time.monotonic() < deadline, (status, self.stderr[-2000:])
            time.sleep(pause)
        raise AssertionError

    def texts(self, query: str, **more: Any) -> list[str]:
        """Return the texts of the events that answer a query."""
        return [event["text"] for event in self.call("search_events", query=query, **more)["events"]]

    def ready(self) -> None:
        """Wait until the search by meaning works."""
        deadline = time.monotonic() + CEILING
        for pause in pauses():
            if not self.call("search_events", query="warm")["degraded"]:
                return
            assert time.monotonic() < deadline, self.stderr[-2000:]
            time.sleep(pause)

    # ---- the process

    def said(self, text: str, seconds: float = CEILING) -> bool:
        """Wait until `text` stands on stderr; tell whether it came."""
        with self._changed:
            return self._changed.wait_for(lambda: text in self.stderr, seconds)

    def kill(self) -> None:
        """Kill it with SIGKILL, and wait until it is gone and all it said is read."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.wait_exit()

    def close_stdin(self) -> None:
        """Close its stdin, as a host does that leaves."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait_exit(self, seconds: float = CEILING) -> int:
        """Wait until it has ended and return its exit code."""
        code = self.process.wait(seconds)
        with self._changed:
            assert self._changed.wait_for(lambda: self._open == 0, CEILING)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        return code

    def died(self) -> bool:
        """Wait for an end by SIGKILL that the process brings upon itself; tell whether it came."""
        try:
            return self.process.wait(CEILING) == -signal.SIGKILL
        except subprocess.TimeoutExpired:
            return False

    def leave(self, seconds: float = CEILING) -> int:
        """Close stdin and wait for the end; return the exit code."""
        self.close_stdin()
        return self.wait_exit(seconds)

    def messages(self) -> list[dict[str, Any]]:
        """Return every line of stdout as the JSON-RPC message that it must be."""
        return [message_of(line) for line in [*self.lines]]

    def _send(self, message: Mapping[str, Any], *, ascii_only: bool = False) -> None:
        self.send_raw(json.dumps(message, ensure_ascii=ascii_only).encode("utf-8") + b"\n")

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        with open(self.process.stdout.fileno(), "rb", closefd=False) as stream:
            for line in stream:
                with self._changed:
                    self.lines.append(line)
                    self._take(line)
                    self._changed.notify_all()
        self._ended()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return  # `messages` names it
        if isinstance(message, dict) and "id" in message and "method" not in message:
            self._answers[message["id"]] = message

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        with open(self.process.stderr.fileno(), "rb", closefd=False) as stream:
            for line in stream:
                with self._changed:
                    self.log.append(line.decode("utf-8", "replace"))
                    self._changed.notify_all()
        self._ended()

    def _ended(self) -> None:
        with self._changed:
            self._open -= 1
            self._changed.notify_all()


class Attached(Stdio):
    """One `shiguan serve` that attaches to the owner of the folder, or starts one."""

    mode = ()


_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "stdio-kit", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def stop_holder(folder: Path) -> None:
    """End the background process that a client or a command started on `folder`, if one is there."""
    try:
        pid = int(json.loads((folder / "owner.json").read_text("utf-8"))["pid"])
        if str(folder).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    except (OSError, ValueError, KeyError):
        return


def content(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the structured content of a tool result that is no refusal."""
    assert not result.get("isError"), prose(result)
    structured: dict[str, Any] = result["structuredContent"]
    return structured


def prose(result: Mapping[str, Any]) -> str:
    """Return the text channel of a tool result."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def message_of(line: bytes) -> dict[str, Any]:
    """Return a line as a JSON-RPC message; it must be exactly one, in UTF-8, with a newline at its end."""
    assert line.endswith(b"\n"), line[-200:]
    message = json.loads(line.decode("utf-8"))
    assert isinstance(message, dict), line
    assert message.get("jsonrpc") == "2.0", line
    kinds = [name for name in ("method", "result", "error") if name in message]
    assert len(kinds) == 1, line
    return message
