"""The kept versions of one file: numbered by the instant they were kept, the oldest dropped first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from historian.durable import FolderSync, publish, stage, write_durably
from historian.errors import InvalidInputError, NotFoundError

_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"(?P<stamp>\d{8}T\d{6}\.\d{6}Z)(?P<aside>\.unreadable)?\Z")
_LAST = "last.md"


@dataclass(frozen=True, slots=True)
class Revision:
    """One kept version. `name` asks for it; `kept_at` is in UTC. Unreadable ones are never dropped."""

    name: str
    kept_at: datetime
    readable: bool


class Revisions:
    """The versions of one file in a folder of their own. Callers hold the lock of the file."""

    def __init__(self, folder: Path, *, keep: int) -> None:
        self._folder = folder
        self._keep = keep

    def list(self) -> tuple[Revision, ...]:
        """Return the kept versions, newest first."""
        if not self._folder.is_dir():
            return ()
        found = [_revision(path.stem) for path in self._folder.iterdir() if path.suffix == ".md"]
        return tuple(sorted((r for r in found if r is not None), key=lambda r: r.name, reverse=True))

    def read(self, name: str) -> bytes:
        """Return the bytes of one version.

        Raises:
            NotFoundError: there is none of that name.
        """
        path = self._folder / f"{name}.md"
        if _NAME.match(name) is None or not path.is_file():
            raise NotFoundError(
                "There is no such revision of this profile; list its history to see which ones are kept."
            )
        return path.read_bytes()

    def add(self, data: bytes, *, now: datetime, readable: bool = True) -> None:
        """Keep a version, unless the newest of its sort is the same, and drop the oldest readable ones over the limit.

        Unreadable ones are a human's unfinished work: they are kept apart, each content once, and not dropped.
        """
        kept = self.list()
        same_sort = [revision for revision in kept if revision.readable is readable]
        if any(self.read(r.name) == data for r in (same_sort[:1] if readable else same_sort)):
            return
        write_durably(self._path(_free_stamp(kept, now), readable), data)
        if readable:  # the new one is not among those listed before
            for revision in same_sort[self._keep - 1 :]:
                (self._folder / f"{revision.name}.md").unlink(missing_ok=True)

    def put(self, name: str, data: bytes) -> None:
        """Keep a version under the name it had elsewhere, unless there is one of that name.

        Raises:
            InvalidInputError: it is no name of a version.
        """
        if _revision(name) is None:
            raise InvalidInputError("The name of an earlier version of a profile is wrong; export it again.")
        make_folder(self._folder)
        path = self._folder / f"{name}.md"
        if not path.exists():
            write_durably(path, data)

    def purge(self, clean: Callable[[bytes], bytes | None]) -> int:
        """Have each version say what `clean` makes of it, None removing it; return how many changed."""
        changed = 0
        for path in sorted(self._folder.glob("*.md")) if self._folder.is_dir() else ():
            data = path.read_bytes()
            cleaned = clean(data)
            if cleaned is None:
                path.unlink()
            elif cleaned != data:
                write_durably(path, cleaned)
            changed += cleaned != data and path.name != _LAST
        return changed

    def files(self) -> Sequence[Path]:
        """Return all files of the history: every version, and what was written last."""
        return sorted(self._folder.glob("*")) if self._folder.is_dir() else []

    def remove(self) -> int:
        """Remove every version; return how many files that were."""
        files = self.files()
        for path in files:
            path.unlink()
        if self._folder.is_dir():
            self._folder.rmdir()
        return len(files)

    def last_written(self) -> bytes | None:
        """Return what the store wrote or took up last, or None: what differs from it was changed by hand since."""
        path = self._folder / _LAST
        return path.read_bytes() if path.is_file() else None

    def note_written(self, data: bytes) -> None:
        """Remember what the store is about to write, or takes up.

        Not flushed: what a power cut garbles counts as edited by hand.
        """
        make_folder(self._folder)
        staged = stage(str(self._folder), data, flush=False)
        publish(staged, str(self._folder / _LAST))

    def _path(self, stamp: str, readable: bool) -> Path:
        make_folder(self._folder)
        return self._folder / (f"{stamp}.md" if readable else f"{stamp}.unreadable.md")


def _free_stamp(kept: Sequence[Revision], now: datetime) -> str:
    """Return a stamp later than every other, also where the clock stands still or went back."""
    newest = max((revision.kept_at for revision in kept), default=None)
    at = now.astimezone(UTC)
    return (at if newest is None or at > newest else newest + timedelta(microseconds=1)).strftime(_STAMP)


def _revision(name: str) -> Revision | None:
    found = _NAME.match(name)
    if found is None:
        return None
    try:
        kept_at = datetime.strptime(found["stamp"], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return Revision(name, kept_at, readable=found["aside"] is None)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents for this user only, each on the medium before anything is put in."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        FolderSync(folder.parent).sync()
