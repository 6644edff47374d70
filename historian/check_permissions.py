"""Nobody else may read what is remembered, nor what opens it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from historian.durable import DiskErrors
from historian.finding import Finding, Severity, number

FROM_OTHERS = 0o007
FROM_ALL_BUT_THE_OWNER = 0o077


class PermissionsCheck:
    """Nobody else may enter the folder, nor read the files in it. Knows nothing on Windows.

    `deep` are folders in it that are looked through to the bottom. `secrets` are files that lie anywhere, by the name
    of the setting that says where; what their group may do with them is not ours to say.
    """

    name = "permissions"

    def __init__(self, folder: Path, deep: Sequence[Path] = (), secrets: Mapping[str, Path] | None = None) -> None:
        self._folder = folder
        self._deep = deep
        self._secrets = secrets or {}

    def find(self, *, fix: bool) -> list[Finding]:
        """Return what others may read. A file behind a closed folder is a lesser matter."""
        del fix
        if os.name == "nt":
            return []
        with DiskErrors():
            return [*self._inside(), *self._outside()]

    def mend(self) -> None:
        """Take every permission in the folder from everybody else. Raises StoreError."""
        if os.name == "nt":
            return
        with DiskErrors():
            for path in [*self._loose(), *(path for folder in self._deep for path in _loose_below(folder))]:
                path.chmod(stat.S_IMODE(path.stat().st_mode) & 0o700)

    def _inside(self) -> Iterator[Finding]:
        loose = self._loose()
        is_open = self._folder in loose
        severity: Severity = "error" if is_open else "warning"
        if is_open:
            yield Finding(self.name, "error", "Other users of this machine can enter the data folder.", True)
        for path in loose:
            if path != self._folder:
                yield Finding(self.name, severity, f"Other users may read {path.name}.", True)
        for folder in self._deep:
            if count := len(_loose_below(folder)):
                what = number(count, "file or folder", "files or folders")
                yield Finding(self.name, severity, f"Other users may read {what} of {folder.name}.", True)

    def _outside(self) -> Iterator[Finding]:
        for setting, path in self._secrets.items():
            if path.parent != self._folder and path.exists() and path.stat().st_mode & FROM_OTHERS:
                yield Finding(self.name, "error", f"Other users may read the file of {setting}; take that from them.")

    def _loose(self) -> list[Path]:
        files = [path for path in sorted(self._folder.iterdir()) if _is_loose(path) and not path.is_dir()]
        return [*([self._folder] if _is_loose(self._folder) else []), *files]


def _loose_below(folder: Path) -> list[Path]:
    return [path for path in [folder, *sorted(folder.rglob("*"))] if _is_loose(path)]


def _is_loose(path: Path) -> bool:
    """Say whether others may do anything with a file or a folder; one that is gone meanwhile is no matter."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    return (stat.S_ISDIR(mode) or stat.S_ISREG(mode)) and bool(mode & FROM_ALL_BUT_THE_OWNER)
