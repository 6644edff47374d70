"""What the vector library leaves in its folder: stray memory in its index files, and the files of deleted collections.
Both go only while nobody has the folder open.

hnswlib writes `data_level0.bin` and `length.bin` with room for more elements than there are, and fills that room with
whatever the process had in its memory. It reads only as many elements as `header.bin` counts, so the rest can go.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from historian.durable import DiskErrors
from historian.errors import StoreError

HEADER, ELEMENTS, LENGTHS = "header.bin", "data_level0.bin", "length.bin"
_HEADER = struct.Struct("<i5Q")
"""Version, offset of the links, room, count, bytes of an element, offset of its label."""
_VERSION = 1
_LABEL_BYTES = 8
_LENGTH_BYTES = 4
_BLOCK = 1 << 20
DATABASE = "chroma.sqlite3"
"""Which collections there are; each has a folder beside it, named by its segment."""


def index_folders(folder: Path) -> frozenset[Path]:
    """Return the folders of indexes below a folder of collections. Raises StoreError."""
    with DiskErrors():
        return frozenset(path.parent for path in folder.glob(f"*/{HEADER}"))


def tidy(folder: Path) -> None:
    """Remove the indexes of deleted collections, and scrub the others. Interrupted, it can be repeated.

    Raises:
        StoreError: as `scrub`, or it cannot be told which collections there are.
    """
    remove_orphans(folder)
    scrub(index_folders(folder))


def remove_orphans(folder: Path) -> int:
    """Remove the indexes of deleted collections, which the library forgets on the disk; return how many those were.

    Raises:
        StoreError: it cannot be told which collections there are, or a file cannot be removed.
    """
    found = index_folders(folder)
    if not found:
        return 0
    known = _segments(folder / DATABASE)
    gone = [path for path in found if path.name not in known]
    if known and len(gone) == len(found):
        return 0  # none is known: rather another way of naming them than nothing but orphans
    with DiskErrors():
        for path in gone:
            shutil.rmtree(path)
    return len(gone)


def _segments(database: Path) -> frozenset[str]:
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            return frozenset(str(name) for (name,) in connection.execute("SELECT id FROM segments"))
    except (sqlite3.Error, ValueError) as error:
        raise StoreError("The list of the collections of vectors cannot be read; run `shiguan reindex`.") from error


def scrub(folders: Iterable[Path]) -> int:
    """Zero what stands behind the last element in the files of these indexes; return how many bytes were not zero.

    Only for indexes that nobody writes to at this moment. Interrupted, it can be repeated.

    Raises:
        StoreError: a file cannot be read or written, or is of a form that is not known.
    """
    return sum(_scrub(folder) for folder in folders)


def _scrub(folder: Path) -> int:
    with DiskErrors():
        count, element_bytes = _counted(folder / HEADER)
        return _zero(folder / ELEMENTS, count * element_bytes) + _zero(folder / LENGTHS, count * _LENGTH_BYTES)


def _counted(header: Path) -> tuple[int, int]:
    """Return how many elements an index has, and the bytes of each."""
    data = header.read_bytes()
    if len(data) >= _HEADER.size:
        version, links, room, count, element_bytes, label = _HEADER.unpack_from(data)
        known = version == _VERSION and links == 0 and label + _LABEL_BYTES == element_bytes and count <= room
        if known and count * element_bytes <= (header.parent / ELEMENTS).stat().st_size:
            return count, element_bytes
    raise StoreError("The index files are of a form that this version does not know; run `shiguan reindex`.")


def _zero(path: Path, start: int) -> int:
    """Zero a file from `start` to its end."""
    gone = 0
    if not path.exists():
        return 0
    with path.open("r+b") as file:
        file.seek(start)
        while block := file.read(_BLOCK):
            dirty = len(block) - block.count(0)
            if dirty:
                file.seek(-len(block), os.SEEK_CUR)
                file.write(bytes(len(block)))
                gone += dirty
        file.flush()
        if gone:
            os.fsync(file.fileno())
    return gone
