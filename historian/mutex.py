"""One lock for one folder, across threads and processes; the kernel lets go of it when its holder dies."""

from __future__ import annotations

import errno
import os
import sys
import threading

from historian.durable import DiskErrors
from historian.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class Mutex:
    """`with mutex:` excludes every other thread and process that uses the same lock file. Not re-entrant.

    Whoever holds it may take any half-done change for that of a dead process.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._threads = threading.Lock()
        self._descriptor: int | None = None
        self._closed = False

    def __enter__(self) -> int:
        self._threads.acquire()
        try:
            if self._closed:
                raise StoreError("The queue is closed; open it again to use it.")
            with DiskErrors():
                if self._descriptor is None:
                    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
                    self._descriptor = os.open(self._path, flags, 0o600)
                _lock(self._descriptor)
            return self._descriptor
        except BaseException:
            self._threads.release()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if self._descriptor is not None:
                _unlock(self._descriptor)
        finally:
            self._threads.release()

    def close(self) -> None:
        """Refuse everybody from now on."""
        with self._threads:
            self._closed = True
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        while True:
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                return
            except OSError as error:
                # LK_LOCK gives up after ten tries of one second
                if error.errno != errno.EDEADLK:
                    raise

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
