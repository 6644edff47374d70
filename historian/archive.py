"""What a backup is made of: a compressed tar whose first entry, the manifest, names every other one with its digest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from historian.errors import InvalidInputError
from historian.job import STATES

FORMAT = "shiguan-backup"
VERSION = 1
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 256 * 2**20
DATABASE = "memory.sqlite3"
SINGLE_FILES = ("shiguan.toml", "calibration.json")
PROFILES = "profiles"
QUEUES = "queues"
NOT_A_BACKUP = "This file is not a backup of Shiguan; name one that `shiguan backup` made."
DAMAGED = "This backup is damaged; use another copy of it."
_NEWER = "This backup was made by a newer version of Shiguan; upgrade this installation first."
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """The digest (SHA-256, hex) and the size in bytes of one file."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. `schema` is the version of the database's tables; `made_at` is ISO 8601 in UTC."""

    schema: int
    made_at: str
    counts: Mapping[str, int]
    entries: Mapping[str, Entry]

    def encode(self) -> bytes:
        """Return it as JSON."""
        files = {name: {"sha256": entry.sha256, "size": entry.size} for name, entry in self.entries.items()}
        about: dict[str, object] = {"format": FORMAT, "version": VERSION, "schema": self.schema}
        about |= {"made_at": self.made_at, "counts": dict(self.counts), "files": files}
        return json.dumps(about, indent=1).encode("ascii")


def decode_manifest(data: bytes, schema: int) -> Manifest:
    """Return the manifest of a backup, where this version can restore it: tables up to version `schema`.

    Raises:
        InvalidInputError: it is no manifest, a newer version made it, or it names files that are no part of a memory.
    """
    try:
        said: Any = json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidInputError(NOT_A_BACKUP) from None
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise InvalidInputError(NOT_A_BACKUP)
    try:
        if int(said["version"]) > VERSION or int(said["schema"]) > schema:
            raise InvalidInputError(_NEWER)
        entries = {str(name): Entry(str(one["sha256"]), int(one["size"])) for name, one in said["files"].items()}
        counts = {str(name): int(count) for name, count in said["counts"].items()}
        manifest = Manifest(int(said["schema"]), str(said["made_at"]), counts, entries)
    except (KeyError, ValueError, TypeError, AttributeError):
        raise InvalidInputError(DAMAGED) from None
    if DATABASE not in entries or not all(_is_sound(name, entry) for name, entry in entries.items()):
        raise InvalidInputError(DAMAGED)
    return manifest


def _is_sound(name: str, entry: Entry) -> bool:
    return is_part(name) and entry.size >= 0 and bool(_DIGEST.match(entry.sha256))


def is_part(name: str) -> bool:
    """Say whether a file of this name belongs into a backup; no such name leads out of the folder."""
    parts = PurePosixPath(name).parts
    plain = name == "/".join(parts) and not any(part in {".", "..", "/"} or "\\" in part for part in parts)
    if not plain or "\0" in name or ":" in name:
        return False
    match parts:
        case (single,):
            return single == DATABASE or single in SINGLE_FILES
        case ("profiles", _, *_):
            return name.endswith(".md")
        case ("queues", state, _):
            return state in STATES
        case _:
            return False
