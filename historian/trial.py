"""The first use of the vectors after a start: where it once ended the process, the folder is examined before the next.

A truncated file of Chroma's ends the process that reads it. Without this an owner would die at its first search, its
successor too, and so on.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from historian.clock import Clock
from historian.durable import DiskErrors
from historian.probe import probe

_log = logging.getLogger(__name__)


class Trial:
    """Guards one folder of vectors. A mark beside it says that somebody began to use it and did not come through."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = folder
        self._mark = folder.with_name(f"{folder.name}.trial")
        self._clock = clock

    @contextmanager
    def first_use(self) -> Generator[None]:
        """Run the first use as a block. Raises StoreError.

        If the last first use ended its process, the folder is examined from outside, and set aside where it is damaged.
        """
        if self._mark.exists() and probe(self.folder).damaged:
            _log.warning("the vectors are damaged and made again")
            self.set_aside()
        with DiskErrors():
            self._mark.touch(mode=0o600)
        try:
            yield
        finally:
            with DiskErrors():
                self._mark.unlink(missing_ok=True)

    def suspect(self) -> None:
        """Have the folder examined before its next use. Raises StoreError."""
        with DiskErrors():
            self._mark.touch(mode=0o600)

    def set_aside(self) -> None:
        """Move the folder out of the way, so that an empty one takes its place. Nobody may have it open."""
        self._remove(self.damaged()[:-1])
        with DiskErrors():
            if self.folder.exists():
                self.folder.rename(self.folder.with_name(f"{self.folder.name}.damaged-{_stamp(self._clock.now())}"))
            self._mark.unlink(missing_ok=True)

    def damaged(self) -> list[Path]:
        """Return the folders that were set aside, oldest first."""
        return sorted(self.folder.parent.glob(f"{self.folder.name}.damaged-*"))

    def clear(self) -> None:
        """Remove what was set aside, once everything in it was made again. Raises StoreError."""
        self._remove(self.damaged())

    @staticmethod
    def _remove(folders: list[Path]) -> None:
        with DiskErrors():
            for folder in folders:
                shutil.rmtree(folder)


def _stamp(instant: datetime) -> str:
    return instant.strftime("%Y%m%dT%H%M%S.%f")
