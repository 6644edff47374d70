"""The hold on a data folder: one process owns it, and a second one is told in one sentence who does."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

from historian.durable import DiskErrors, store_error, write_durably
from historian.errors import FolderInUseError, StoreError
from historian.liveness import process_start

LOCK_NAME = "owner.lock"
HOLDER_NAME = "owner.json"
LOOKED_AT_SECONDS = 0.2
"""A lock that is taken for no longer than this was only looked at, by `is_held`."""

_HELD = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}


class FolderHold:
    """An operating-system lock on a data folder. It ends with the process, however that ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None
        self._holder_says: dict[str, Any] = {}

    def take(self, purpose: str) -> None:
        """Take the folder for this process.

        Raises:
            FolderInUseError: another process holds it; the sentence says which one and since when.
            StoreError: the folder cannot be made, locked or written.
        """
        with DiskErrors():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
            try:
                self._lock(descriptor)
            except StoreError:
                os.close(descriptor)
                raise
            self._descriptor = descriptor
            since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            start = process_start(os.getpid()) or ""
            self._holder_says = {"pid": os.getpid(), "start": start, "purpose": purpose, "since": since}
            self._write()

    def _lock(self, descriptor: int) -> None:
        deadline = time.monotonic() + LOOKED_AT_SECONDS
        while not try_lock(descriptor):
            if time.monotonic() > deadline:
                raise FolderInUseError(_sentence(self._holder()))
            time.sleep(0.01)

    def announce(self, address: str | int | None) -> None:
        """Say where this holder can be reached: the path of a socket, a loopback port, or None for no longer."""
        with DiskErrors():
            self._holder_says = {**self._holder_says, "address": address, "folder": identity_of(self._folder)}
            self._write()

    def _write(self) -> None:
        write_durably(self._folder / HOLDER_NAME, json.dumps(self._holder_says).encode())

    def release(self) -> None:
        """Let go of the folder. Releasing twice is no error."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _holder(self) -> dict[str, Any]:
        try:
            holder: Any = json.loads((self._folder / HOLDER_NAME).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return holder if isinstance(holder, dict) else {}


def _sentence(holder: dict[str, Any]) -> str:
    who = f"process {holder.get('pid', 'unknown')} ({holder.get('purpose', 'unknown')})"
    since = f" since {holder['since']}" if "since" in holder else ""
    return f"The data folder is in use by {who}{since}; stop that process, or name another folder with --data-dir."


def identity_of(folder: Path) -> list[int]:
    """Return what a copy of the folder does not share with it; empty where there is no folder."""
    try:
        found = folder.stat()
    except OSError:
        return []
    return [found.st_dev, found.st_ino]


def is_held(folder: Path) -> bool:
    """Say whether a process holds the folder, whatever files earlier ones left there."""
    try:
        descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return False
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Take the kernel's lock on an open file without waiting; say whether it was free. It ends with the process.

    Raises:
        StoreError: nothing can be locked here, as on some network file systems.
    """
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise store_error(error) from error
    return True
