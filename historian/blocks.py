"""Blocks with a connection of the database, and what SQLite's errors mean in sentences."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from historian.errors import StoreError, UnreadyStoreError

if TYPE_CHECKING:
    from types import TracebackType

_SENTENCES = {
    sqlite3.SQLITE_FULL: "The disk is full, so the memory cannot be written; free some space and try again.",
    sqlite3.SQLITE_READONLY: "The memory is read-only; make its data folder writable and try again.",
    sqlite3.SQLITE_PERM: "The memory may not be opened; check the permissions of its data folder.",
    sqlite3.SQLITE_CANTOPEN: "The memory cannot be opened; check that its data folder exists and is writable.",
    sqlite3.SQLITE_BUSY: "The memory is in use by another process; try again in a moment.",
    sqlite3.SQLITE_LOCKED: "The memory is in use by another process; try again in a moment.",
    sqlite3.SQLITE_CORRUPT: "The memory's database is damaged; restore it from a backup or an export.",
    sqlite3.SQLITE_NOTADB: "The memory's database is damaged; restore it from a backup or an export.",
    sqlite3.SQLITE_IOERR: "The disk reported an error while the memory was read or written; check the disk.",
}
_UNREADY = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_IOERR,
    }
)
"""Of these nobody's statement is the cause, and it may succeed later as it is."""
_OTHERWISE = "The memory's database refused a statement; see the log and report it."


class Block:
    """A block with a connection. No generator, which would cost twice as much: a job has dozens of blocks.

    `end` is told whether the block raised. Errors of SQLite are translated as by `translated`.
    """

    __slots__ = ("_begin", "_end")

    def __init__(self, begin: Callable[[], sqlite3.Connection], end: Callable[[bool], None]) -> None:
        self._begin = begin
        self._end = end

    def __enter__(self) -> sqlite3.Connection:
        try:
            return self._begin()
        except sqlite3.DatabaseError as error:
            _translate(error)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            self._end(kind is not None)
        except sqlite3.DatabaseError as ending:
            _translate(ending)
            raise
        _translate(error)


@contextmanager
def translated() -> Generator[None]:
    """Turn what SQLite says into a sentence of ours; a broken constraint is the caller's fault and stays as it is."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        _translate(error)
        raise


def sentence(code: int) -> str:
    """Return what to say of a primary result code of SQLite."""
    return _SENTENCES.get(code, _OTHERWISE)


def _translate(error: BaseException | None) -> None:
    """Raise what an error of SQLite means to others; return where it is none, or a broken constraint."""
    if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, sqlite3.IntegrityError):
        return
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    kind = UnreadyStoreError if code in _UNREADY else StoreError
    raise kind(sentence(code)) from error
