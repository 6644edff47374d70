"""The files that a person names for an import: single ones, folders, zip archives read in place, and stdin."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from historian.errors import InvalidInputError
from historian.formats.piece import HEAD_BYTES, Bundle
from server.imports.streams import guarded, reading
from server.paths import whole_path

STDIN = "-"
MAX_MEMBERS = 200_000
"""Files that an archive or a folder may have."""
MAX_RATIO = 250
"""How many times as large as in the archive a file may be that is larger than `FREE_BYTES`: chats pack twentyfold."""
FREE_BYTES = 64 * 2**20
_PLAIN_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_UNNAMED = "_chat.txt"
_ARCHIVE = b"PK\x03\x04"
_EARLIEST = (1980, 1, 1, 0, 0, 0)


class SourcePiece(ABC):
    """A file to be imported, wherever it lies; `position` says how far it has been read, in bytes of `size`.

    `unopened` says why an archive that came here was not opened.
    """

    unopened: str
    name: str
    title: str
    size: int
    modified: float

    def __init__(self) -> None:
        self.position = 0
        self._head: bytes | None = None

    @property
    def head(self) -> bytes:
        """Its first bytes, read once."""
        if self._head is None:
            with self.open() as stream:
                self._head = stream.read(HEAD_BYTES)
        return self._head

    @property
    def is_archive(self) -> bool:
        """Whether it is an archive, or the beginning of one: those that could be opened came as their files."""
        return (self.name == STDIN or self.name.lower().endswith(".zip")) and self.head.startswith(_ARCHIVE)

    @abstractmethod
    def open(self) -> BinaryIO:
        """Return its bytes from the beginning."""

    def _note(self, position: int) -> None:
        self.position = position


class FilePiece(SourcePiece):
    """A file on the disk."""

    unopened = "It is an archive that is damaged or incomplete; get another copy of it."

    def __init__(self, path: Path, name: str, folder: str) -> None:
        super().__init__()
        with reading():
            about = path.stat()
        self.name = name
        self.title = folder if path.name == _UNNAMED and folder else path.name
        self.size = about.st_size
        self.modified = about.st_mtime
        self._path = path

    def open(self) -> BinaryIO:
        """Return its bytes from the beginning."""
        return guarded(lambda: self._path.open("rb"), self._note)


class StreamPiece(SourcePiece):
    """What came in over stdin, kept in a nameless temporary file so that it can be looked at twice."""

    unopened = "It is an archive, which is not opened on stdin; name its file instead."
    name = STDIN
    title = "stdin"

    def __init__(self, kept: BinaryIO, size: int, modified: float) -> None:
        super().__init__()
        self.size = size
        self.modified = modified
        self._kept = kept

    def open(self) -> BinaryIO:
        """Return its bytes from the beginning."""
        descriptor = os.dup(self._kept.fileno())
        os.lseek(descriptor, 0, os.SEEK_SET)
        return guarded(lambda: os.fdopen(descriptor, "rb"), self._note)


class MemberPiece(SourcePiece):
    """A file in a zip archive; nothing of it is ever written to the disk."""

    unopened = "It is an archive within an archive; unpack the outer one and import this one."

    def __init__(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, title: str) -> None:
        super().__init__()
        self.name = member.filename
        base = member.filename.rpartition("/")[2]
        self.title = title if base == _UNNAMED else base
        self.size = member.file_size
        self.modified = _modified(member)
        self._archive = archive
        self._member = member

    def open(self) -> BinaryIO:
        """Return its bytes from the beginning.

        Raises:
            InvalidInputError: it is encrypted, packed in a rare way, or far too large for what is packed.
        """
        member = self._member
        if member.compress_type not in _PLAIN_METHODS:
            raise InvalidInputError("It is compressed in a way that cannot be read here; unpack it first.")
        if member.file_size > FREE_BYTES and member.file_size > MAX_RATIO * max(member.compress_size, 1):
            raise InvalidInputError("It would become suspiciously large when unpacked, so it is left out.")
        return guarded(lambda: cast(BinaryIO, self._archive.open(member)), self._note)


@contextmanager
def opened(names: Sequence[str]) -> Generator[Sequence[Bundle]]:
    """Lend what these names stand for, a bundle for each file, folder and archive, in order.

    Raises:
        InvalidInputError: there is no such file, or it cannot be read.
    """
    with ExitStack() as stack:
        yield [bundle for name in names for bundle in _bundles(name, stack)]


def _bundles(name: str, stack: ExitStack) -> Iterator[Bundle]:
    if name == STDIN:
        yield Bundle((_from_stdin(stack),))
        return
    path = whole_path(name)
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it has no such name"
        raise InvalidInputError(f"The file {path.name!r} cannot be read: {reason}; name a file or a folder.") from None
    if stat.S_ISDIR(kind):
        yield from _of_folder(path, stack)
    elif not stat.S_ISREG(kind):
        raise InvalidInputError(f"The file {path.name!r} cannot be read: it is no file and no folder.")
    elif zipfile.is_zipfile(path):
        yield _of_archive(path, stack)
    else:
        yield Bundle((FilePiece(path, path.name, ""),))


def _of_folder(folder: Path, stack: ExitStack) -> Iterator[Bundle]:
    pieces: list[FilePiece] = []
    archives: list[Path] = []
    for path in _files_below(folder):
        if path.suffix.lower() == ".zip" and zipfile.is_zipfile(path):
            archives.append(path)
        else:
            pieces.append(FilePiece(path, path.relative_to(folder).as_posix(), path.parent.name))
    yield Bundle(tuple(pieces))
    for path in archives:
        yield _of_archive(path, stack)


def _files_below(folder: Path) -> list[Path]:
    """Return the files of a folder; links are not followed, so that the folder is what is read."""
    found: list[Path] = []
    for root, folders, names in os.walk(folder):
        folders.sort()
        paths = (Path(root, name) for name in sorted(names))
        found += [path for path in paths if path.is_file() and not path.is_symlink()]
        if len(found) > MAX_MEMBERS:
            raise InvalidInputError(f"The folder {folder.name!r} has over {MAX_MEMBERS} files; name a smaller one.")
    return found


def _of_archive(path: Path, stack: ExitStack) -> Bundle:
    try:
        with reading():
            archive = stack.enter_context(zipfile.ZipFile(path))
            members = [member for member in archive.infolist() if not member.is_dir()]
    except InvalidInputError:
        raise InvalidInputError(f"The archive {path.name!r} is damaged; get another copy of it.") from None
    if len(members) > MAX_MEMBERS:
        raise InvalidInputError(f"The archive {path.name!r} has over {MAX_MEMBERS} files; unpack it first.")
    members.sort(key=lambda member: member.filename)
    return Bundle(tuple(MemberPiece(archive, member, path.stem) for member in members))


def _from_stdin(stack: ExitStack) -> StreamPiece:
    with reading():
        kept = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        shutil.copyfileobj(sys.stdin.buffer, kept)
        kept.flush()
        about = os.fstat(kept.fileno())
    return StreamPiece(cast(BinaryIO, kept), about.st_size, about.st_mtime)


def _modified(member: zipfile.ZipInfo) -> float:
    """Return the time of a member, which has no zone, as that of this machine."""
    from datetime import datetime

    try:
        return datetime(*max(member.date_time, _EARLIEST)).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
