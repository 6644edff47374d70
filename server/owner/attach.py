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
from historian.errors import InvalidInputError, StoreError
from historian.hold import try_lock
from server.bare import BareSettings
from server.folder import make_folder
from server.owner.address import connect, token_of
from server.owner.preamble import MAX_BYTES, encode, greeting

SPAWN_LOCK_NAME = "spawn.lock"
LOG_NAME = "owner.log"
MAX_LOG_BYTES = 5_000_000
START_SECONDS = 60.0
"""How long an owner may take from its start until it listens."""
POLL_SECONDS = 0.02


if TYPE_CHECKING:
    import subprocess


class Attachment(NamedTuple):
    """An open connection to the owner, and what the owner said: `repeatable` tools, warnings."""

    connection: socket.socket
    welcome: Mapping[str, Any]


def attach(settings: BareSettings, purpose: str) -> Attachment:
    """Connect to the owner of the data folder, starting one in the background where there is none.

    Raises:
        StoreError: the folder cannot be used, or the owner does not come up; the sentence says why.
        InvalidInputError: the owner refuses what the client asks for.
    """
    make_folder(settings.data_dir)
    hello = encode(greeting(settings, token_of(settings.data_dir), purpose))
    deadline = time.monotonic() + START_SECONDS
    while True:
        connection = connect(settings.data_dir) or _started(settings.data_dir, deadline)
        welcome = introduce(connection, hello)
        if welcome is not None and welcome.get("ok"):
            return Attachment(connection, welcome)
        connection.close()
        if welcome is not None and not welcome.get("retry"):
            raise InvalidInputError(str(welcome.get("error", "The owner of the data folder refused this client.")))
        if time.monotonic() > deadline:
            raise StoreError(_not_up(settings.data_dir))
        time.sleep(POLL_SECONDS)


def introduce(connection: socket.socket, hello: bytes) -> dict[str, Any] | None:
    """Send the greeting and return the owner's answer, or None when it hung up."""
    try:
        connection.sendall(hello)
        line = bytearray()
        while not line.endswith(b"\n") and len(line) < MAX_BYTES:
            byte = connection.recv(1)
            if not byte:
                return None
            line += byte
        answer: Any = json.loads(line)
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def _started(folder: Path, deadline: float) -> socket.socket:
    """Return a connection once an owner listens; of many clients that wait here, one starts it."""
    descriptor = _open_lock(folder / SPAWN_LOCK_NAME)
    process: subprocess.Popen[bytes] | None = None
    holding = False
    try:
        while time.monotonic() < deadline:
            connection = connect(folder)
            if connection is not None:
                return connection
            holding = holding or try_lock(descriptor)
            if holding and (process is None or process.poll() is not None):
                if process is not None and process.returncode != 0:
                    raise StoreError(_not_up(folder))
                process = start_owner(folder)
            time.sleep(POLL_SECONDS)
    finally:
        os.close(descriptor)
    raise StoreError(_not_up(folder))


def start_owner(folder: Path) -> subprocess.Popen[bytes]:
    """Start an owner in a session of its own, without any of our pipes.

    `-P` keeps the working folder out of its import path: a host may run inside a project with a `server` of its own.
    """
    import subprocess  # only the client that starts an owner pays for it

    log = folder / LOG_NAME
    with DiskErrors():
        if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "server.cli", "owner", "run", "--data-dir", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            cwd=folder,
            **_detached(),
        )
    finally:
        os.close(descriptor)


def _detached() -> dict[str, Any]:
    if os.name == "nt":
        return {"creationflags": 0x00000008 | 0x00000200}  # DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP
    return {"start_new_session": True}


def _open_lock(path: Path) -> int:
    with DiskErrors():
        return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)


def _not_up(folder: Path) -> str:
    """Return why the owner did not come up: its last word, when it left one."""
    try:
        lines = (folder / LOG_NAME).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    said = [line.removeprefix("shiguan: ") for line in lines[-20:] if line.startswith("shiguan: ")]
    return said[-1] if said else "The owner of the data folder does not answer; look into owner.log beside the data."
