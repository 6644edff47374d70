"""A folder that an export is written to: whole or not at all, in place of an earlier one of the same owner only."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any

from historian.errors import InvalidInputError

MANIFEST = ".shiguan-export.json"
"""Whose export a folder holds, and its files, each with the SHA-256 of what was written."""
STAGING = ".shiguan-export.part"
NOT_THEIRS = "The folder holds an export of another person or group; name another folder."
_FOLDERS = ("conversations", "profile-history")
"""The folders in an export."""

_Files = dict[str, list[str]]


class ExportFolder:
    """Gathers files beside the earlier ones and puts them in place in the end; use it as a context manager.

    What an earlier export wrote and this one does not is removed. A file that no export wrote, or that was changed
    since, is never touched. Where anything fails before the end, the files stay as they were.
    """

    def __init__(self, folder: Path) -> None:
        """Raises InvalidInputError where a file of the earlier export was changed; OSError."""
        self._folder = folder
        self._staging = folder / STAGING
        self._begun: list[str] = []
        known = _manifest(folder)
        self._former_owner = known["owner"] if known else ""
        self._former: _Files = known["files"] if known else {}
        self._owner = ""
        for name, digests in self._former.items():
            if os.path.lexists(folder / name) and not (self._holds(name) and _digest(folder / name) in digests):
                raise InvalidInputError(
                    f"{name} was changed since it was exported; move it out of the folder, or name another folder."
                )

    def __enter__(self) -> ExportFolder:
        shutil.rmtree(self._staging, ignore_errors=True)  # of an export that broke off
        self._staging.mkdir(parents=True, mode=0o700)
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        try:
            if kind is None:
                self._publish()
        finally:
            shutil.rmtree(self._staging, ignore_errors=True)

    def claim(self, owner: str) -> None:
        """Say whose export this is. Raises InvalidInputError where the folder holds one of somebody else."""
        if self._former_owner not in ("", owner):
            raise InvalidInputError(NOT_THEIRS)
        self._owner = owner

    def begin(self, path: PurePosixPath) -> Path:
        """Return where to write a new file. Raises InvalidInputError where a file stands that no export wrote."""
        name = path.as_posix()
        if name not in self._former and os.path.lexists(self._folder / name):
            raise InvalidInputError(
                f"The folder holds a {name} that no export is known to have written; name another folder."
            )
        self._begun.append(name)
        target = self.staged(path)
        target.parent.mkdir(exist_ok=True, mode=0o700)
        return target

    def staged(self, path: PurePosixPath) -> Path:
        """Return where a file that was begun grows."""
        return self._staging / path

    def _publish(self) -> None:
        """Put the files in place. A crash leaves a manifest that knows both the former and the new ones."""
        made = {name: [_digest(self._staging / name)] for name in self._begun}
        both = {name: [*self._former.get(name, ()), *made.get(name, ())] for name in [*self._former, *made]}
        self._write_manifest(both)
        for name in made:
            target = self._folder / name
            target.parent.mkdir(exist_ok=True, mode=0o700)
            (self._staging / name).replace(target)
        for name in self._former.keys() - made.keys():
            if self._holds(name):
                self._remove(self._folder / name)
        self._write_manifest(made)

    def _remove(self, path: Path) -> None:
        path.unlink()
        if path.parent != self._folder and not any(path.parent.iterdir()):
            path.parent.rmdir()

    def _holds(self, name: str) -> bool:
        path = self._folder / name
        return path.is_file() and not path.is_symlink() and not path.parent.is_symlink()

    def _write_manifest(self, files: _Files) -> None:
        staged = self._staging / MANIFEST
        with staged.open("w", encoding="utf-8") as file:
            json.dump({"owner": self._owner, "files": files}, file, indent=0)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(self._folder / MANIFEST)


def require_own(path: Path, owner: str) -> None:
    """Refuse to replace the lines of an export of somebody else, or a file that is none.

    Raises:
        InvalidInputError: they are.
        OSError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            known = json.loads(file.readline(100_000))["owner"]
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInputError(
            f"The folder holds a {path.name} that no export has written; name another folder."
        ) from None
    if known != owner:
        raise InvalidInputError(NOT_THEIRS)


def _manifest(folder: Path) -> Mapping[str, Any] | None:
    """Return what is known of an earlier export, or None. Raises InvalidInputError where it cannot be made out."""
    try:
        found = json.loads((folder / MANIFEST).read_text("utf-8"))
        if isinstance(found["owner"], str) and all(
            _is_name(name) and isinstance(digests, list) for name, digests in found["files"].items()
        ):
            return found  # type: ignore[no-any-return]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise InvalidInputError("What is known of the earlier export in the folder is damaged; name another folder.")


def _is_name(name: str) -> bool:
    """Say whether an export writes files of this name; a manifest may say anything."""
    *folders, file = name.split("/")
    return folders in ([], *([one] for one in _FOLDERS)) and file.endswith(".md") and not {"\\", ":", "\0"} & {*file}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        digest = sha256()
        while data := file.read(1 << 20):
            digest.update(data)
        return digest.hexdigest()
