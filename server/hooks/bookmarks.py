"""How far each session's transcript was taken in, so that a hook reads what is new and no more.

A lost bookmark costs time only: messages are known again by their ids.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from historian.durable import DiskErrors

FOLDER_NAME = "hooks"
KEPT_SECONDS = 30 * 86_400.0


class Bookmarks:
    """One small file a transcript, named by a digest, with nothing but a number in it."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / FOLDER_NAME

    def get(self, transcript: Path) -> int | None:
        """Return how many bytes were taken in, or None where nothing is known."""
        try:
            return max(0, int(self._path(transcript).read_text(encoding="ascii")))
        except (OSError, ValueError):
            return None

    def put(self, transcript: Path, offset: int) -> None:
        """Remember how many bytes were taken in.

        Raises:
            StoreError: it cannot be written.
        """
        path = self._path(transcript)
        draft = path.with_suffix(f".{os.getpid()}")
        with DiskErrors():
            self._folder.mkdir(mode=0o700, exist_ok=True)
            draft.write_text(str(offset), encoding="ascii")
            draft.chmod(0o600)
            draft.replace(path)

    def sweep(self) -> None:
        """Drop those that nobody has moved for 30 days."""
        limit = time.time() - KEPT_SECONDS
        with DiskErrors():
            for path in self._folder.iterdir() if self._folder.is_dir() else ():
                if path.stat().st_mtime < limit:
                    path.unlink(missing_ok=True)

    def _path(self, transcript: Path) -> Path:
        digest = hashlib.sha256(os.fsencode(transcript.absolute())).hexdigest()[:32]
        return self._folder / digest
