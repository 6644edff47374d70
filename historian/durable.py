"""Files that survive a crash: written beside, flushed, renamed, and the folder flushed too.

Paths are plain strings and `os` calls here: importing `pathlib` alone would cost a host's hook several milliseconds.
"""

# ruff: noqa: PTH105, PTH108, PTH120
from __future__ import annotations

import errno
import os
import re
import threading
import time

from historian.errors import StoreError, UnreadyStoreError
from historian.liveness import look_up

TYPE_CHECKING = False  # `typing` would cost every hook two milliseconds; checkers know this name
if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from types import TracebackType

_TEMPORARY = re.compile(r"\.~([0-9a-f]{8})[0-9a-f]{8}\.tmp\Z")
ORPHANED_SECONDS = 10.0
"""After which a temporary goes whose process is not found: one of another container cannot be, and may live."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_CLOSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_UNLOCKABLE = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})
_FLUSHES_AT_ONCE = 2
"""A second flush may start while one runs: who came a moment late need not wait for two."""
_NO_FOLDER_FLUSH = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})


def store_error(error: OSError) -> StoreError:
    """Return the one plain sentence for what the file system refused, and beside it the path."""
    refused = _refused(error)
    if isinstance(error.filename, str):
        folder, name = os.path.split(error.filename)
        refused.path = folder if _TEMPORARY.match(name) else error.filename
    return refused


def _refused(error: OSError) -> StoreError:
    if error.errno in _FULL:
        kind = StoreError if error.errno == errno.EFBIG else UnreadyStoreError
        return kind("The disk is full; free some space and try again.")
    if error.errno in _UNLOCKABLE:
        return UnreadyStoreError("The data folder cannot be locked; put it on a local disk.")
    if error.errno in _CLOSED:
        return StoreError("The data folder cannot be written; make it writable for this user and try again.")
    return StoreError("The data folder could not be used; check that it exists and that its disk is healthy.")


class DiskErrors:
    """`with DiskErrors():` turns an `OSError` of the block into a `StoreError`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if isinstance(error, OSError):
            raise store_error(error) from error


class Disk:
    """The changing system calls, one method each: the seam at which a test lets a disk fill up or a process die."""

    def create(self, path: str, mode: int) -> int:
        """Create `path`, which must not exist, and return a descriptor to write to."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, mode)

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of `data`."""
        written = os.write(descriptor, data)
        while written < len(data):
            written += os.write(descriptor, data[written:])

    def flush(self, descriptor: int) -> None:
        """Return once what was written is on the medium."""
        os.fsync(descriptor)

    def replace(self, source: str, target: str) -> None:
        """Rename atomically; a file at `target` is replaced."""
        os.replace(source, target)

    def unlink(self, path: str) -> None:
        """Remove a file; one that is gone already is fine."""
        try:
            os.unlink(path)
        except FileNotFoundError:
            return

    def flush_folder(self, folder: str) -> None:
        """Return once the names in `folder` are on the medium. Does nothing on Windows, which has no such call."""
        if os.name == "nt":
            return
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in _NO_FOLDER_FLUSH:
                raise
        finally:
            os.close(descriptor)


class FailingDisk(Disk):
    """A disk that fails with `code` at the operation called `at` while `broken` is set: for tests and demos."""

    def __init__(self, code: int = errno.ENOSPC, at: str = "write") -> None:
        self.code = code
        self.at = at
        self.broken = True

    def _check(self, operation: str) -> None:
        if self.broken and operation == self.at:
            raise OSError(self.code, os.strerror(self.code))

    def create(self, path: str, mode: int) -> int:
        """Fail or create."""
        self._check("create")
        return super().create(path, mode)

    def write(self, descriptor: int, data: bytes) -> None:
        """Write the first half and fail, as a filling disk does, or write."""
        if self.broken and self.at == "write":
            super().write(descriptor, data[: len(data) // 2])
        self._check("write")
        super().write(descriptor, data)

    def flush(self, descriptor: int) -> None:
        """Fail or flush."""
        self._check("flush")
        super().flush(descriptor)

    def replace(self, source: str, target: str) -> None:
        """Fail or rename."""
        self._check("replace")
        super().replace(source, target)

    def flush_folder(self, folder: str) -> None:
        """Fail or flush the folder."""
        self._check("flush_folder")
        super().flush_folder(folder)


REAL_DISK = Disk()


class SharedFlush:
    """Shares flushes of one thing between threads: a leader flushes for everybody who waits.

    `sync` returns only after a flush that STARTED after it was called, hence after the caller's change.
    """

    def __init__(self, flush: Callable[[], None]) -> None:
        self._flush = flush
        self._changed = threading.Condition()
        self._started = 0
        self._done = 0
        self._running = 0

    def ticket(self) -> int:
        """Return a mark for "now", to be handed to `sync` later."""
        with self._changed:
            return self._started + 1

    def sync(self, ticket: int | None = None) -> None:
        """Return once a flush that started after now (or after `ticket` was taken) has succeeded.

        Raises:
            StoreError: it could not be flushed.
        """
        mine = self._lead_or_wait(ticket)
        if mine is None:
            return
        succeeded = False
        try:
            with DiskErrors():
                self._flush()
            succeeded = True
        finally:
            with self._changed:
                self._running -= 1
                if succeeded:
                    self._done = max(self._done, mine)
                self._changed.notify_all()

    def _lead_or_wait(self, ticket: int | None) -> int | None:
        """Return the number of the flush this caller must do, or None when another one's flush covered it."""
        with self._changed:
            needed = self._started + 1 if ticket is None else ticket
            while self._done < needed:
                covered = self._started >= needed
                if not self._running or (not covered and self._running < _FLUSHES_AT_ONCE):
                    self._running += 1
                    self._started += 1
                    return self._started
                self._changed.wait()
        return None


def temporary_in(folder: str) -> str:
    """Return a path for a new temporary file in `folder`, which `sweep_temporaries` knows for one."""
    return f"{folder}{os.sep}.~{os.getpid():08x}{os.urandom(4).hex()}.tmp"


class FolderSync(SharedFlush):
    """Shares flushes of a folder: `sync` returns once the names in it are on the medium."""

    def __init__(self, folder: str | PathLike[str], disk: Disk = REAL_DISK) -> None:
        path = os.fspath(folder)
        super().__init__(lambda: disk.flush_folder(path))


def stage(folder: str, data: bytes, *, mode: int = 0o600, disk: Disk = REAL_DISK, flush: bool = True) -> str:
    """Write and flush `data` to a temporary file in `folder` and return its path, ready to be renamed.

    Without `flush` a power cut may leave a file of that name without its content.

    Raises:
        StoreError: the disk refused; nothing is left behind.
    """
    path = temporary_in(folder)
    with DiskErrors():
        descriptor = disk.create(path, mode)
        try:
            try:
                disk.write(descriptor, data)
                if flush:
                    disk.flush(descriptor)
            finally:
                os.close(descriptor)
        except BaseException:
            disk.unlink(path)
            raise
    return path


def publish(staged: str, target: str, disk: Disk = REAL_DISK) -> None:
    """Rename a staged file to `target`. On failure the staged file is removed.

    Raises:
        StoreError: the disk refused.
    """
    with DiskErrors():
        try:
            disk.replace(staged, target)
        except BaseException:
            disk.unlink(staged)
            raise


def unstage(staged: str, disk: Disk = REAL_DISK) -> None:
    """Remove a staged file if it was not published.

    Raises:
        StoreError: the disk refused.
    """
    with DiskErrors():
        disk.unlink(staged)


def write_durably(
    path: str | PathLike[str],
    data: bytes,
    *,
    mode: int = 0o600,
    sync: FolderSync | None = None,
    disk: Disk = REAL_DISK,
) -> None:
    """Replace the file at `path` by `data`, durably; a reader sees all of the new one or all of the old one.

    `sync` shares the folder flush with other threads that write to the same folder.

    Raises:
        StoreError: disk full, read-only, no permission; the old file is untouched and no temporary is left.
    """
    target = os.fspath(path)
    folder = os.path.dirname(target) or "."
    publish(stage(folder, data, mode=mode, disk=disk), target, disk)
    (sync or FolderSync(folder, disk)).sync()


def sweep_temporaries(folder: str | PathLike[str], older_than_seconds: float) -> int:
    """Remove temporaries that crashes left in `folder`, and return how many: those that are older than so many seconds,
    and those whose process is gone.

    Raises:
        StoreError: the folder cannot be read or written.
    """
    now = time.time()
    removed = 0
    with DiskErrors(), os.scandir(folder) as entries:
        for entry in entries:
            named = _TEMPORARY.match(entry.name)
            if named is None:
                continue
            try:
                age = now - entry.stat(follow_symlinks=False).st_mtime
                if age >= older_than_seconds or (age >= ORPHANED_SECONDS and look_up(int(named[1], 16), "") is False):
                    os.unlink(entry.path)
                    removed += 1
            except FileNotFoundError:
                continue
    return removed
