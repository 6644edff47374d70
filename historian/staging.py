"""Several new files of one folder, flushed side by side: a disk makes many durable in hardly more time than one."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

from historian.durable import DiskErrors, temporary_in, unstage
from historian.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor

    from historian.durable import Disk

AT_ONCE = 8
"""How many files are flushed at the same time."""


class Draft:
    """One file to be. `staged` is where it lies, ready to be renamed; `error` says why that failed."""

    __slots__ = ("data", "descriptor", "error", "staged")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.descriptor: int | None = None
        self.staged = ""
        self.error: StoreError | None = None


class Stage:
    """Writes drafts to temporary files in `folder`. Thread-safe."""

    def __init__(self, folder: str, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk
        self._guard = threading.Lock()
        self._helpers: ThreadPoolExecutor | None = None

    def put(self, drafts: Sequence[Draft]) -> None:
        """Write and flush all drafts. What the disk refuses is noted in the draft, which leaves nothing behind."""
        for draft in drafts:
            self._try(self._write, draft)
        written = [draft for draft in drafts if draft.error is None]
        shares = [written[start::AT_ONCE] for start in range(min(AT_ONCE, len(written)))]
        helped = [self._helping().submit(self._flush_all, share) for share in shares[1:]]
        for share in shares[:1]:
            self._flush_all(share)
        for done in helped:
            done.result()

    def close(self) -> None:
        """Let the helping threads go."""
        with self._guard:
            if self._helpers is not None:
                self._helpers.shutdown(wait=False)

    def _helping(self) -> ThreadPoolExecutor:
        with self._guard:
            if self._helpers is None:
                from concurrent.futures import ThreadPoolExecutor  # not for a host's hook, which adds one job

                self._helpers = ThreadPoolExecutor(AT_ONCE - 1, "shiguan-flush")
            return self._helpers

    def _write(self, draft: Draft) -> None:
        path = temporary_in(self._folder)
        draft.descriptor = self._disk.create(path, 0o600)
        draft.staged = path
        self._disk.write(draft.descriptor, draft.data)

    def _flush_all(self, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            self._try(self._flush, draft)

    def _flush(self, draft: Draft) -> None:
        if draft.descriptor is not None:
            self._disk.flush(draft.descriptor)
            self._close(draft)

    def _close(self, draft: Draft) -> None:
        descriptor, draft.descriptor = draft.descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _try(self, action: Callable[[Draft], None], draft: Draft) -> None:
        try:
            with DiskErrors():
                action(draft)
        except StoreError as error:
            draft.error = error
            with suppress(OSError):
                self._close(draft)
            if draft.staged:
                with suppress(StoreError):
                    unstage(draft.staged, self._disk)
