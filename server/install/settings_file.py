"""A settings file of another program: read, changed as a text, and written with a copy of what was there before."""

from __future__ import annotations

import difflib
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from historian.durable import DiskErrors, write_durably
from historian.errors import InvalidInputError

LARGEST = 64_000_000


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a file. `before` is None where there is no file yet; both texts end their lines with `\\n`."""

    path: Path
    before: str | None
    after: str
    has_crlf: bool = False
    has_mark: bool = False

    @property
    def is_none(self) -> bool:
        """Whether the file stays as it is."""
        return (self.before or "") == self.after

    def lines(self) -> list[str]:
        """Return what changes, as a diff without the lines around it: those may hold secrets."""
        before = (self.before or "").splitlines()
        made = difflib.unified_diff(before, self.after.splitlines(), "before", "after", lineterm="", n=0)
        return [line for line in made if not line.startswith(("---", "+++"))]

    def write(self, now: datetime) -> Path | None:
        """Write the file, and return where the one from before was copied to, or None where there was none.

        Raises:
            StoreError: it cannot be written; it is as before.
        """
        backup = None
        mode = 0o600
        with DiskErrors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.before is not None:
                mode = stat.S_IMODE(self.path.stat().st_mode)
        if self.before is not None:
            backup = self._free(now)
            write_durably(backup, self._bytes(self.before), mode=mode)
        write_durably(self.path, self._bytes(self.after), mode=mode)
        return backup

    def _bytes(self, text: str) -> bytes:
        data = text.replace("\n", "\r\n").encode() if self.has_crlf else text.encode()
        return b"\xef\xbb\xbf" + data if self.has_mark else data

    def _free(self, now: datetime) -> Path:
        """Return a name for the copy that nothing has yet."""
        stem = f"{self.path.name}.{now:%Y%m%d-%H%M%S}"
        names = (f"{stem}.bak", *(f"{stem}-{number}.bak" for number in range(2, 1000)))
        return next(path for name in names if not (path := self.path.with_name(name)).exists())


def changed(path: Path, empty: str, edit: Callable[[str], str]) -> Change:
    """Return what `edit` makes of a file; one that is absent or blank is edited as `empty`. Links are followed.

    Raises:
        InvalidInputError: the file is no text, or `edit` refuses it.
        StoreError: it cannot be read.
    """
    target = path.resolve() if path.is_symlink() else path
    before = _read(target)
    if before is None:
        return Change(target, None, edit(empty))
    has_mark, has_crlf = before.startswith("\ufeff"), "\r\n" in before
    text = before.removeprefix("\ufeff").replace("\r\n", "\n")
    return Change(target, text, edit(text if text.strip() else empty), has_crlf, has_mark)


def _read(path: Path) -> str | None:
    with DiskErrors():
        if not path.exists():
            return None
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise InvalidInputError("The host's settings are no file; name another one with --file.")
        data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InvalidInputError("The host's settings are not UTF-8; mend the file, then try again.") from None
