"""Clients of one shared data folder, the owner behind them, and what an outsider sees of both."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from server.owner.address import read_holder
from tests.kit.stdio import CEILING, Stdio, environment, run

LOOK = 0.02
"""Seconds between two looks at what can only be looked at: another process's files and its end."""


class Client(Stdio):
    """One `shiguan serve`, as a host starts it."""

    mode = ()


class House:
    """A data folder whose clients and owners are ended with the test. Use it as a context manager."""

    def __init__(self, folder: Path, *, shims: Sequence[str] = ("fast",), env: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.shims = shims
        self.env = dict(env or {})
        self._clients: list[Client] = []
        self._owners: set[int] = set()

    def __enter__(self) -> House:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.kill()
        for pid in {*self._owners, *self.owners()}:
            end(pid)

    def client(self, *flags: str, env: Mapping[str, str] | None = None, shims: Sequence[str] | None = None) -> Client:
        """Start a client without waiting for anything."""
        made = Client(self.folder, *flags, shims=self.shims if shims is None else shims, env=self.env | dict(env or {}))
        self._clients.append(made)
        return made

    def ready(self, *flags: str, env: Mapping[str, str] | None = None) -> Client:
        """Start a client and open its connection."""
        return self.client(*flags, env=env).initialize()

    def command(self, *arguments: str, **more: Any) -> Any:
        """Run a `shiguan` command on the folder."""
        env = environment(*self.shims, **self.env)
        return run(arguments[0], "--data-dir", str(self.folder), *arguments[1:], env=env, **more)

    def owners(self) -> list[int]:
        """Return the owner processes of the folder that live."""
        found = [pid for pid, words in processes() if is_owner_of(words, self.folder)]
        self._owners.update(found)
        return found

    def owner(self) -> int:
        """Return the one owner there must be, once it has been announced."""
        until(lambda: "address" in read_holder(self.folder) and alive(self.holder()))
        pid = self.holder()
        self._owners.add(pid)
        return pid

    def holder(self) -> int:
        """Return the process that wrote last that it holds the folder."""
        return int(read_holder(self.folder).get("pid", 0))

    def left(self, pid: int) -> None:
        """Wait until a process has ended."""
        until(lambda: not alive(pid))

    def count(self, sql: str, *values: object) -> int:
        """Return a number out of the folder's database."""
        return self.numbers(sql, *values)[0]

    def numbers(self, sql: str, *values: object) -> list[int]:
        """Return a column of numbers out of the folder's database, which is opened for reading only."""
        with contextlib.closing(sqlite3.connect(f"file:{self.folder}/memory.sqlite3?mode=ro", uri=True)) as connection:
            return [int(row[0]) for row in connection.execute(sql, values)]

    def embedded(self, client: Client, seconds: float = CEILING * 3) -> None:
        """Wait until every job is done and every event has its vector."""
        deadline = time.monotonic() + seconds
        while any((status := client.call("memory_status"))[name] for name in ("pending", "processing", "unembedded")):
            assert time.monotonic() < deadline, (status, self.log())
            time.sleep(0.2)  # asking costs the owner work

    def log(self) -> str:
        """Return what the owners said."""
        path = self.folder / "owner.log"
        return path.read_text("utf-8", "replace") if path.exists() else ""


def processes() -> Iterator[tuple[int, list[bytes]]]:
    """Yield every living process with its command line; a zombie has none."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(entry.name), (entry / "cmdline").read_bytes().split(b"\0")


def is_owner_of(words: Sequence[bytes], folder: Path) -> bool:
    """Say whether a command line is that of an owner of `folder`."""
    return b"owner" in words and b"run" in words and os.fsencode(folder) in words


def is_of(words: Sequence[bytes], folder: Path) -> bool:
    """Say whether a command line names `folder`."""
    return os.fsencode(folder) in words


def alive(pid: int) -> bool:
    """Say whether a process runs; one that nobody has asked for its exit code does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in "ZX"


def end(pid: int) -> None:
    """Kill a process if it is there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def until(
    condition: Callable[[], object], *, seconds: float = CEILING, what: Callable[[], object] = lambda: ""
) -> None:
    """Wait until something can be seen that tells nobody when it comes."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(LOOK)


def say(line: str) -> None:
    """Show a figure to whoever runs the tests with -s, or reads a failure."""
    sys.stdout.write(f"{line}\n")


def resident(pid: int) -> float:
    """Return a process's resident memory in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def size_of(folder: Path) -> int:
    """Return the bytes that a folder takes on disk."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            total += path.lstat().st_blocks * 512
    return total


@contextmanager
def together(*actions: Callable[[], object]) -> Generator[None]:
    """Run actions in threads while the block runs; then wait for them, and raise what one of them raised."""
    failures: list[BaseException] = []

    def guarded(action: Callable[[], object]) -> None:
        try:
            action()
        except BaseException as failure:  # noqa: BLE001 - it is raised below
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join(CEILING * 5)
    for failure in failures:
        raise failure


def at_once(*actions: Callable[[], object]) -> None:
    """Run actions in threads at the same time, to their end."""
    with together(*actions):
        pass
