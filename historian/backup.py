"""A copy of everything that is true in a data folder, taken while the memory works.

Queue, database and profiles are copied while no job can be claimed or finished: a job that is under way is in the copy,
and will be done again, which changes nothing that it had done. Vectors are left out; they are made again.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from historian.archive import DATABASE, MANIFEST, PROFILES, QUEUES, SINGLE_FILES, Entry, Manifest, is_part
from historian.clock import Clock
from historian.database import Database
from historian.durable import REAL_DISK, DiskErrors
from historian.errors import InvalidInputError, StoreError
from historian.job import STATES
from historian.mutex import Mutex
from historian.schema import MIGRATIONS

if TYPE_CHECKING:
    from tarfile import TarInfo

_CHUNK = 1 << 20
_COUNTS = {
    "messages": "SELECT count(*) FROM messages",
    "events": "SELECT count(*) FROM events WHERE same_as IS NULL AND has_new_info = 1",
    "memos": "SELECT count(*) FROM events WHERE same_as IS NULL AND has_new_info = 0",
    "profile_lines": "SELECT count(*) FROM profile_lines",
    "group_statements": "SELECT count(*) FROM group_memories WHERE is_head = 1 AND status = 'active'",
    "pinned_notes": "SELECT count(*) FROM pinned",
}


@dataclass(frozen=True, slots=True)
class Made:
    """What a backup holds, and its size in bytes."""

    counts: Mapping[str, int]
    size: int


def back_up(folder: Path, database: Database, target: Path, clock: Clock) -> Made:
    """Write a backup of the data folder to the file `target`, mode 0600, replacing one that is there when it is whole.

    Raises:
        InvalidInputError: there can be no such file.
        StoreError: something cannot be read or written; no file is left.
    """
    target = target.resolve()  # behind a link: the file that it names
    if (target.exists() and not target.is_file()) or not target.parent.is_dir():
        raise InvalidInputError("The backup needs the name of a file in a folder that exists.")
    with _workshop(target.parent) as workshop:
        copy = workshop / "copy"
        with DiskErrors():
            copy.mkdir(mode=0o700)
            counts = _copy_all(folder, database, copy)
            manifest = Manifest(len(MIGRATIONS), clock.now().isoformat(), counts, dict(sorted(_entries(copy))))
            packed = workshop / "packed"
            _pack(copy, manifest, packed)
            size = packed.stat().st_size
            packed.replace(target)
            REAL_DISK.flush_folder(str(target.parent))
    return Made(counts, size)


@contextmanager
def _workshop(parent: Path) -> Generator[Path]:
    """Lend a private folder on the disk of the target, which is gone afterwards."""
    with DiskErrors():
        workshop = Path(tempfile.mkdtemp(prefix=".~shiguan-backup-", dir=parent))
    try:
        yield workshop
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _copy_all(folder: Path, database: Database, copy: Path) -> dict[str, int]:
    mutex = Mutex(str(folder / QUEUES / ".lock"))
    try:
        with mutex:
            jobs = _copy_queue(folder, copy)
            # In this order: what the database says waits for its merge may be merged already, but never the reverse.
            _copy_database(database, copy / DATABASE)
            _copy_profiles(folder, copy)
    finally:
        mutex.close()
    for name in SINGLE_FILES:
        _copy_file(folder / name, copy / name)
    with closing(sqlite3.connect(copy / DATABASE)) as connection:
        return {name: int(connection.execute(sql).fetchone()[0]) for name, sql in _COUNTS.items()} | {"jobs": jobs}


def _copy_queue(folder: Path, copy: Path) -> int:
    """Copy every document, and the originals of what was no job; return how many jobs that are."""
    jobs = 0
    for state in STATES:
        for path in sorted((folder / QUEUES / state).iterdir()):
            if path.suffix in {".json", ".poison"} and _copy_file(path, copy / QUEUES / state / path.name):
                jobs += path.suffix == ".json"
    return jobs


def _copy_profiles(folder: Path, copy: Path) -> None:
    for path in sorted((folder / PROFILES).rglob("*.md")):
        _copy_file(path, copy / path.relative_to(folder))


def _copy_file(source: Path, target: Path) -> bool:
    """Copy a regular file; what is none, or is gone, is passed over. Say whether it was copied."""
    try:
        if not stat.S_ISREG(source.lstat().st_mode):
            return False
        data = source.read_bytes()
    except FileNotFoundError:
        return False
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    target.write_bytes(data)
    return True


def _copy_database(database: Database, target: Path) -> None:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(target)) as copy:
        with database.read() as connection:
            try:
                connection.backup(copy)
            except sqlite3.OperationalError as error:
                raise StoreError("The database cannot be copied; free some space and try again.") from error
        copy.execute("PRAGMA journal_mode = DELETE")


def _entries(copy: Path) -> Iterator[tuple[str, Entry]]:
    for path in copy.rglob("*"):
        name = path.relative_to(copy).as_posix()
        if path.is_file() and is_part(name):
            with path.open("rb") as stream:
                yield name, Entry(hashlib.file_digest(stream, "sha256").hexdigest(), path.stat().st_size)


def _pack(copy: Path, manifest: Manifest, target: Path) -> None:
    import tarfile

    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as raw:
        with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=6, format=tarfile.PAX_FORMAT) as tar:
            described = manifest.encode()
            tar.addfile(_member(MANIFEST, len(described)), io.BytesIO(described))
            for name, entry in manifest.entries.items():
                with (copy / name).open("rb") as stream:
                    tar.addfile(_member(name, entry.size), stream)
        raw.flush()
        os.fsync(raw.fileno())


def _member(name: str, size: int) -> TarInfo:
    from tarfile import TarInfo

    member = TarInfo(name)
    member.size, member.mode = size, 0o600
    return member
