"""Which jobs were touched lately: an append-only list of ids, so that nobody has to list a folder of 10 000 names.

It is a hint and never the truth. A line says "look at this job again"; the folders say what is so.
"""

from __future__ import annotations

import os
import threading

ROTATE_AT_BYTES = 1 << 20
_EPOCH_BYTES = 16
_MAX_ECHOES = 20_000


class Journal:
    """The list of one queue. `append` needs no lock; `news` is called while the queue's mutex is held.

    The epoch, kept in the lock file, changes when the list is emptied, so that a reader notices however late it comes.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._own: dict[str, int] = {}
        self._descriptor: int | None = None
        self._epoch = b""
        self._offset = 0

    def append(self, *job_ids: str) -> None:
        """Say that jobs were touched. A failure is ignored: readers look at the folders whenever they are idle."""
        try:
            with self._guard:
                descriptor = self._open()
                if len(self._own) + len(job_ids) > _MAX_ECHOES:
                    self._own.clear()
                    self._epoch = b""
                for job_id in job_ids:
                    self._own[job_id] = self._own.get(job_id, 0) + 1
            os.write(descriptor, "".join(f"{job_id}\n" for job_id in job_ids).encode())
        except OSError:
            return

    def news(self, lock_file: int) -> list[str] | None:
        """Return the ids that others touched since the last call, or None when only listing the folders can tell.

        `lock_file` is the descriptor of the held mutex.
        """
        try:
            with self._guard:
                descriptor = self._open()
            size = os.fstat(descriptor).st_size
            epoch = os.pread(lock_file, _EPOCH_BYTES, 0) if hasattr(os, "pread") else b""
            if size > ROTATE_AT_BYTES or len(epoch) < _EPOCH_BYTES:
                self._rotate(lock_file, descriptor)
                return None
            if epoch != self._epoch or size < self._offset:
                self._skip(epoch, size)
                return None
            return self._read(descriptor, size) if size > self._offset else []
        except OSError:
            return None

    def close(self) -> None:
        """Let go of the file."""
        with self._guard:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
            self._descriptor = os.open(self._path, flags, 0o600)
        return self._descriptor

    def _rotate(self, lock_file: int, descriptor: int) -> None:
        if not hasattr(os, "pwrite"):
            return
        epoch = os.urandom(_EPOCH_BYTES)
        os.pwrite(lock_file, epoch, 0)
        os.ftruncate(descriptor, 0)
        self._skip(epoch, 0)

    def _skip(self, epoch: bytes, offset: int) -> None:
        """Go on from `offset`. Own lines before it are never read: the same ids, read later, are those of others."""
        self._epoch, self._offset = epoch, offset
        with self._guard:
            self._own.clear()

    def _read(self, descriptor: int, size: int) -> list[str] | None:
        data = os.pread(descriptor, size - self._offset, self._offset)
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        touched: list[str] = []
        with self._guard:
            for line in whole.decode("ascii", "replace").split():
                echoes = self._own.pop(line, 0)
                if echoes > 1:
                    self._own[line] = echoes - 1
                elif not echoes:
                    touched.append(line)
        return touched
