"""Finding the owner of a data folder, or starting one: standard library only, so that a client is ready at once."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from historian.durable import DiskErrors
from historian.errors import PATH, InvalidInputError, ShiguanError, StoreError, about
from historian.hold import try_lock
from historian.liveness import is_stopped
from server.bare import BareSettings
from server.folder import make_folder
from server.owner.address import connect, read_holder, read_token
from server.owner.preamble import MAX_BYTES, encode, greeting

SPAWN_LOCK_NAME = "spawn.lock"
LOG_NAME = "owner.log"
MAX_LOG_BYTES = 5_000_000
START_SECONDS = 60.0
"""How long an owner may take from its start until it listens."""
ANSWER_SECONDS = 20.0
"""How long an owner that listens may take to greet back; it may still be importing."""
POLL_SECONDS = 0.02
DETACHED_ON_WINDOWS = 0x00000008 | 0x00000200
"""DETACHED_PROCESS and CREATE_NEW_PROCESS_GROUP."""
MAX_KILLED = 3
"""So many owners may be killed from outside, one after the other, while they start."""
NO_ANSWER = "The owner of the data folder does not answer; end that process, or look into owner.log beside the data."
STOPPED = (
    "The owner of the data folder does not answer, because its process {0} is stopped; continue it (kill -CONT {0}), "
    "or end it (kill -KILL {0}) and try again."
)


if TYPE_CHECKING:
    import subprocess


class Attachment(NamedTuple):
    """An open connection to the owner, and what the owner said: `repeatable` tools, warnings."""

    connection: socket.socket
    welcome: Mapping[str, Any]


def attach(settings: BareSettings, purpose: str, seconds: float = START_SECONDS) -> Attachment:
    """Connect to the owner of the data folder, starting one in the background where there is none, within `seconds`.

    Raises:
        StoreError: the folder cannot be used, or the owner does not come up; the sentence says why.
        InvalidInputError: the owner refuses what the client asks for.
    """
    folder = settings.data_dir
    make_folder(folder)
    deadline = time.monotonic() + seconds
    with Starter(folder, deadline) as starter:
        while time.monotonic() < deadline:
            connection = connect(folder) or starter.connection()
            hello = encode(greeting(settings, read_token(folder), purpose))
            welcome = introduce(connection, hello, min(ANSWER_SECONDS, max(deadline - time.monotonic(), POLL_SECONDS)))
            if welcome is not None and welcome.get("ok"):
                return Attachment(connection, welcome)
            if welcome is not None and welcome.get("takeover"):
                starter.wait_for_turn()  # else an old client could start the next owner, again an old one
            connection.close()
            if welcome is None:
                refuse_stopped(folder)
            elif not welcome.get("retry"):
                raise InvalidInputError(str(welcome.get("error", "The owner of the data folder refused this client.")))
            time.sleep(POLL_SECONDS)
    raise StoreError(NO_ANSWER)


def refuse_stopped(folder: Path) -> None:
    """Say that the owner is stopped, if it is: waiting for it is vain, while one that is slow answers in the end.

    Raises:
        StoreError: it is.
    """
    holder = read_holder(folder)
    pid, start = holder.get("pid"), holder.get("start")
    if isinstance(pid, int) and isinstance(start, str) and is_stopped(pid, start):
        raise StoreError(STOPPED.format(pid))


def introduce(connection: socket.socket, hello: bytes, seconds: float = ANSWER_SECONDS) -> dict[str, Any] | None:
    """Send the greeting and return the owner's answer, or None when it hung up or says nothing for so long."""
    try:
        connection.settimeout(seconds)
        connection.sendall(hello)
        line = bytearray()
        while not line.endswith(b"\n") and len(line) < MAX_BYTES:
            byte = connection.recv(1)
            if not byte:
                return None
            line += byte
        connection.settimeout(None)
        answer: Any = json.loads(line)
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


class Starter:
    """Starts the owner; of many clients that want one at the same time, one does and the others wait for it."""

    def __init__(self, folder: Path, deadline: float) -> None:
        self._folder = folder
        self._deadline = deadline
        self._lock: int | None = None
        self._is_mine = False
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0
        self._killed = 0

    def __enter__(self) -> Starter:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let the others have their turn."""
        lock, self._lock, self._is_mine = self._lock, None, False
        if lock is not None:
            os.close(lock)

    def connection(self) -> socket.socket:
        """Return a connection once an owner listens.

        Raises:
            StoreError: it does not come up; the sentence says why.
        """
        while time.monotonic() < self._deadline:
            connection = connect(self._folder)
            if connection is not None:
                return connection
            if self._has_turn() and (self._process is None or self._process.poll() is not None):
                self._start()
            time.sleep(POLL_SECONDS)
        raise _last_word(self._folder, self._log_start)

    def wait_for_turn(self) -> None:
        """Return once no other client may start an owner, or the time is up."""
        while not self._has_turn() and time.monotonic() < self._deadline:
            time.sleep(POLL_SECONDS)

    def _has_turn(self) -> bool:
        if self._lock is None:
            self._lock = _open_lock(self._folder / SPAWN_LOCK_NAME)
        self._is_mine = self._is_mine or try_lock(self._lock)
        return self._is_mine

    def _start(self) -> None:
        if self._process is not None and self._process.returncode < 0:
            self._killed += 1
        if self._process is not None and (self._process.returncode > 0 or self._killed == MAX_KILLED):
            raise _last_word(self._folder, self._log_start)
        self._process, self._log_start = start_owner(self._folder)


def start_owner(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start an owner in a session of its own, without any of our pipes; return it and the byte its log starts at.

    `-P` keeps the working folder out of its import path: a host may run inside a project with a `server` of its own.
    """
    import subprocess  # only the client that starts an owner pays for it

    log = folder / LOG_NAME
    with DiskErrors():
        if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "server.cli", "owner", "run", "--data-dir", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            cwd=folder,
            creationflags=DETACHED_ON_WINDOWS if os.name == "nt" else 0,
            start_new_session=os.name != "nt",
        )
        return process, os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _open_lock(path: Path) -> int:
    with DiskErrors():
        return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)


def _last_word(folder: Path, since: int) -> ShiguanError:
    """Return why an owner did not come up: its last word, when it left one in the log after byte `since`."""
    try:
        with (folder / LOG_NAME).open("rb") as log:
            log.seek(since)
            lines = log.read().decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    said = [line.removeprefix("shiguan: ") for line in lines if line.startswith("shiguan: ")]
    if not said:
        return StoreError(NO_ANSWER)
    sentence, _, path = said[-1].partition(PATH)
    return about(StoreError(sentence), path) if path else StoreError(sentence)
