"""A data folder out of a backup: every digest is verified before anything gets its name."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import sqlite3
import tarfile
import zlib
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

from historian.archive import (
    DAMAGED,
    DATABASE,
    MANIFEST,
    MAX_MANIFEST_BYTES,
    NOT_A_BACKUP,
    PROFILES,
    QUEUES,
    SINGLE_FILES,
    Manifest,
    decode_manifest,
)
from historian.durable import REAL_DISK, DiskErrors
from historian.errors import InvalidInputError
from historian.hold import FolderHold
from historian.schema import MIGRATIONS

_CHUNK = 1 << 20
_EMBEDDED = ("messages", "events", "profile_lines", "group_memories")
_BROKEN = (tarfile.TarError, EOFError, zlib.error, OSError, ValueError)
_MADE_ANEW = re.compile(
    rf"(?:{PROFILES}|{QUEUES}|locks|spawn\.lock|(?:owner|chroma|rankings\.sqlite3|{re.escape(DATABASE)})(?:[.-].*)?)\Z"
)
"""What a folder without a memory holds of one: locks, and what processes left. All else in it is somebody's."""
_MOUNTED = (
    "Another file system is mounted at the data folder, which cannot be replaced as a whole; restore into a folder"
    " inside it with --data-dir, and serve that one."
)
_OCCUPIED = "There is a memory in this data folder already; restore into another one with --data-dir."


def restore(backup: Path, folder: Path) -> Manifest:
    """Make the data folder `folder` out of a backup, and return what it holds.

    The folder may be there, but without a memory; settings and whatever else stands in it stay. Texts are found by
    their words at once; their vectors are made in the background of the next owner, which also does the jobs that were
    waiting or under way.

    Raises:
        InvalidInputError: the file is no backup, is damaged or of a newer version, or the folder holds a memory or is
            a mount point.
        FolderInUseError: a process has the folder.
        StoreError: the folder cannot be written; it is as it was.
    """
    folder = folder.resolve()
    if folder.is_mount():
        raise InvalidInputError(_MOUNTED)
    _refuse_occupied(folder)
    with DiskErrors():
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = folder.with_name(f".~{folder.name}-{secrets.token_hex(8)}")
        beside.mkdir(mode=0o700)
    try:
        manifest = _unpack(backup, beside)
        with DiskErrors():
            _wake(beside)
            _put_in_place(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return manifest


def _refuse_occupied(folder: Path) -> None:
    kept = [folder / DATABASE, *(folder / PROFILES).rglob("*.md"), *(folder / QUEUES).rglob("*.json")]
    if (folder.exists() and not folder.is_dir()) or any(path.exists() for path in kept):
        raise InvalidInputError(_OCCUPIED)


def _unpack(backup: Path, target: Path) -> Manifest:
    with _opened(backup) as tar:
        manifest = _manifest(tar)
        left = dict(manifest.entries)
        while (member := _next(tar)) is not None:
            entry = left.pop(member.name, None)
            if entry is None or not member.isreg() or member.size != entry.size:
                raise InvalidInputError(DAMAGED)
            if _extract(tar, member, target / member.name) != entry.sha256:
                raise InvalidInputError(DAMAGED)
        if left:
            raise InvalidInputError(DAMAGED)
    return manifest


@contextmanager
def _opened(backup: Path) -> Generator[tarfile.TarFile]:
    try:
        stream = backup.open("rb")
    except OSError as error:
        raise InvalidInputError(f"The backup cannot be read: {error.strerror}.") from None
    with stream:
        try:
            tar = tarfile.open(fileobj=stream, mode="r:gz")  # noqa: SIM115 - closed below
        except _BROKEN:
            raise InvalidInputError(NOT_A_BACKUP) from None
        with tar:
            yield tar


def _manifest(tar: tarfile.TarFile) -> Manifest:
    member = _next(tar)
    if member is None or member.name != MANIFEST or not member.isreg() or member.size > MAX_MANIFEST_BYTES:
        raise InvalidInputError(NOT_A_BACKUP)
    with _content(tar, member) as stream:
        try:
            data = stream.read()
        except _BROKEN:
            raise InvalidInputError(DAMAGED) from None
    return decode_manifest(data, len(MIGRATIONS))


def _next(tar: tarfile.TarFile) -> tarfile.TarInfo | None:
    try:
        return tar.next()
    except _BROKEN:
        raise InvalidInputError(DAMAGED) from None


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    stream = tar.extractfile(member)
    assert stream is not None, "a regular file has a content"
    return stream


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> str:
    """Write one file, durably, and return the digest of what was written."""
    digest = hashlib.sha256()
    with DiskErrors():
        _make_private(target.parent)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as written, _content(tar, member) as stream:
        while True:
            try:
                chunk = stream.read(_CHUNK)
            except _BROKEN:
                raise InvalidInputError(DAMAGED) from None
            if not chunk:
                break
            digest.update(chunk)
            with DiskErrors():
                written.write(chunk)
        with DiskErrors():
            written.flush()
            os.fsync(written.fileno())
    return digest.hexdigest()


def _make_private(folder: Path) -> None:
    """Make a folder and those above it, each for its owner alone: `parents=True` lets others read those between."""
    if not folder.is_dir():
        _make_private(folder.parent)
        folder.mkdir(mode=0o700)


def _wake(folder: Path) -> None:
    """Let the vectors be made again, and the jobs that were under way be done again."""
    try:
        with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
            if connection.execute("PRAGMA quick_check").fetchone()[0] != "ok":
                raise InvalidInputError(DAMAGED)
            for table in _EMBEDDED:
                connection.execute(f"UPDATE {table} SET embedded_by = NULL WHERE embedded_by IS NOT NULL")
    except sqlite3.DatabaseError:
        raise InvalidInputError(DAMAGED) from None
    processing, pending = folder / QUEUES / "processing", folder / QUEUES / "pending"
    if processing.is_dir():
        pending.mkdir(mode=0o700, exist_ok=True)
        for path in processing.iterdir():
            path.replace(pending / path.name)
        processing.rmdir()


def _put_in_place(beside: Path, folder: Path) -> None:
    """Give the new folder its name; settings in the old one outlast those of the backup, other things are kept."""
    if not folder.exists():
        beside.rename(folder)
    else:
        hold = FolderHold(folder)
        hold.take("restore")
        old = folder.with_name(f"{beside.name}.old")
        try:
            _refuse_occupied(folder)
            for name in SINGLE_FILES:
                if (folder / name).exists():
                    shutil.copy2(folder / name, beside / name)
            folder.rename(old)
            beside.rename(folder)
        finally:
            hold.release()
        for path in sorted(old.iterdir()):
            if not _MADE_ANEW.match(path.name) and not os.path.lexists(folder / path.name):
                path.rename(folder / path.name)
        shutil.rmtree(old, ignore_errors=True)
    REAL_DISK.flush_folder(str(folder.parent))
