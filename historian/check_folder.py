"""Looking after the data folder: the queue, the disk, who may read it, and what crashes left in it."""

from __future__ import annotations

import shutil
import socket
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from historian.durable import DiskErrors, sweep_temporaries
from historian.finding import Finding, number
from historian.job import UNREADABLE
from historian.queue import Queue

LOW_BYTES = 200 * 2**20
STALE_SECONDS = 600.0
"""A job that waits longer than this while the owner runs is worth a warning."""
LEFT_SECONDS = 3_600.0
"""A temporary file of this age is nobody's any more."""
NEW_SECONDS = 60.0
"""A socket of less than this age may be about to be listened on."""


class QueueCheck:
    """Jobs that failed, that were no jobs, and that wait for too long. What to do with them is for a person to say."""

    name = "queue"

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def find(self, *, fix: bool) -> list[Finding]:
        """Return what the queue's folders hold that they should not. Files that are no jobs go to failed/ by this."""
        del fix
        self._queue.jobs("pending")
        self._queue.jobs("processing")
        failed = self._queue.jobs("failed")
        unreadable = sum(job.kind == UNREADABLE for job in failed)
        found: list[Finding] = []
        if unreadable:
            verb = "was no job and is" if unreadable == 1 else "were no jobs and are"
            sentence = f"{number(unreadable, 'file')} {verb} kept in failed; see `shiguan queue list`."
            found.append(Finding(self.name, "warning", sentence))
        if len(failed) > unreadable:
            sentence = f"{number(len(failed) - unreadable, 'job')} failed; see `shiguan queue list` for the reasons."
            found.append(Finding(self.name, "warning", sentence))
        age = self._queue.stats().oldest_pending_age
        if age > STALE_SECONDS:
            found.append(Finding(self.name, "warning", f"The oldest job has waited for {age / 60:.0f} minutes."))
        return found

    def mend(self) -> None:
        """Do nothing: no job is thrown away without being asked."""


class DiskCheck:
    """There is room to write."""

    name = "disk"

    def __init__(self, folder: Path, free_bytes: Callable[[Path], int] | None = None) -> None:
        self._folder = folder
        self._free_bytes = free_bytes or _free_bytes

    def find(self, *, fix: bool) -> list[Finding]:
        """Return a warning when less than 200 MB are free."""
        del fix
        with DiskErrors():
            free = self._free_bytes(self._folder)
        if free >= LOW_BYTES:
            return []
        return [Finding(self.name, "warning", f"Only {free // 2**20} MB are free on the disk of the data folder.")]

    def mend(self) -> None:
        """Do nothing: what to delete is not ours to say."""


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


class LeftoversCheck:
    """Temporary files and sockets of processes that are gone. `folders` are searched for the former."""

    name = "leftovers"

    def __init__(self, folders: Sequence[Path], sockets: Callable[[], Sequence[Path]]) -> None:
        self._folders = folders
        self._sockets = sockets

    def find(self, *, fix: bool) -> list[Finding]:
        """Return how many there are. Nothing here needs to be mended at once."""
        del fix
        files = sum(_old_temporaries(folder) for folder in self._folders)
        sockets = len(self._dead_sockets())
        found: list[Finding] = []
        if files:
            found.append(Finding(self.name, "warning", f"Crashes left {number(files, 'temporary file')}.", True))
        if sockets:
            found.append(Finding(self.name, "warning", f"Nobody listens on {number(sockets, 'socket')}.", True))
        return found

    def mend(self) -> None:
        """Remove them. Raises StoreError."""
        for folder in self._folders:
            if folder.is_dir():
                sweep_temporaries(folder, LEFT_SECONDS)
        for path in self._dead_sockets():
            with DiskErrors():
                path.unlink(missing_ok=True)

    def _dead_sockets(self) -> list[Path]:
        folders = dict.fromkeys(folder for folder in self._sockets() if folder.is_dir())
        return [path for folder in folders for path in sorted(folder.glob("*.sock")) if _is_dead(path)]


def _old_temporaries(folder: Path) -> int:
    limit = time.time() - LEFT_SECONDS
    if not folder.is_dir():
        return 0
    with DiskErrors():
        return sum(path.stat().st_mtime <= limit for path in folder.glob(".~*.tmp"))


def _is_dead(path: Path) -> bool:
    """Say whether a socket is one that nobody listens on any more."""
    try:
        found = path.lstat()
        if not stat.S_ISSOCK(found.st_mode) or time.time() - found.st_mtime < NEW_SECONDS:
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(1.0)
            connection.connect(str(path))
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False
