"""The SQLite file of the memory: one writer at a time, any number of readers, safe across threads and processes."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from historian.blocks import Block, sentence, translated
from historian.durable import REAL_DISK, Disk, SharedFlush
from historian.errors import StoreError, UnreadyStoreError
from historian.readers import CLOSED, Readers
from historian.schema import MIGRATIONS

BUSY_TIMEOUT_MS = 5_000
"""How long a statement waits for another process before the store is said to be in use."""

_WRITER_CACHE_KB = 4_000
_READER_CACHE_KB = 2_000
"""Each connection has a cache of its own, and the system keeps the pages of the file anyway."""
_WHOLE, _PART, _JOINED = "whole", "part", "joined"


class Database:
    """One open `memory.sqlite3`.

    Threads share it freely. Several processes may have the same file open; each write transaction is exclusive among
    all of them, and readers never wait for it.
    """

    def __init__(self, path: Path, *, disk: Disk = REAL_DISK) -> None:
        """Open the file, creating it (mode 0600) and its tables where they are missing.

        Raises:
            StoreError: it cannot be opened, is damaged, stays locked for 5 s, or was written by a newer version.
        """
        self._path = path
        self._writing = threading.RLock()
        self._readers = Readers(partial(self._connect, _READER_CACHE_KB))
        self._closed = False
        self._mine = _Mine()
        self._blocks: list[str] = []
        self._is_spoilt = False
        self._flushed = SharedFlush(partial(_flush_log, f"{path}-wal", disk))
        with translated():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
            except OSError as error:
                raise StoreError(sentence(sqlite3.SQLITE_CANTOPEN)) from error
            self._writer = self._connect(_WRITER_CACHE_KB)
            self._durability = "FULL"
            try:
                _until_free(lambda: self._writer.execute("PRAGMA journal_mode = WAL").fetchone())
                _until_free(lambda: _migrate(self._writer))
            except BaseException:
                self._writer.close()
                raise

    def write(self) -> AbstractContextManager[sqlite3.Connection]:
        """Run a block as one durable transaction: committed when it ends, rolled back when it raises.

        Inside another `write()` of the same thread the block is part of that transaction: undone by itself if it
        raises, durable when the outer block ends.

        Raises:
            StoreError: the disk is full, the file is read-only, damaged or locked for 5 s, or the database is closed.
        """
        return Block(self._begin_apart, self._end)

    def join(self) -> AbstractContextManager[sqlite3.Connection]:
        """Run a block as `write` does, for what is stored together with other things: inside a transaction of the same
        thread nothing marks where the block began, and if it raises, that whole transaction is undone.
        """
        return Block(self._begin, self._end)

    def read(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend a read-only connection whose statements all see one snapshot of the last commit.

        Raises:
            StoreError: the file cannot be read, is damaged, or the database is closed.
        """
        return Block(self._begin_reading, self._end_reading)

    def ask(self, statement: str, parameters: Sequence[object] = ()) -> Any:
        """Return the first row of one statement, or None; cheaper than `read()`, as it sees one snapshot by itself.

        Raises as `read`.
        """
        with translated():
            if self._mine.snapshot is not None:
                return _first(self._mine.snapshot, statement, parameters)
            connection = self._readers.lend()
            try:
                return _first(connection, statement, parameters)
            finally:
                self._readers.take_back(connection)

    def snapshot(self) -> AbstractContextManager[object]:
        """Let every `read()` of this thread in a block see one snapshot; what the block writes itself, it reads after.

        Raises as `read`.
        """
        return Block(self._begin_snapshot, self._end_snapshot)

    @contextmanager
    def lazily(self) -> Generator[None]:
        """Let transactions of this thread become durable together: at `flush`, and when the block ends without error.

        They are seen at once and survive the end of the process; only after a power cut the last ones may be missing.
        For work that is repeated then.
        """
        self._mine.lazy = True
        try:
            yield
        finally:
            self._mine.lazy = False
        self.flush()

    def flush(self) -> None:
        """Return once everything that was committed before is on the medium. Threads share the flushes.

        Raises:
            StoreError: the disk refused.
        """
        self._flushed.sync()

    def checkpoint(self) -> None:
        """Move everything from the write-ahead log into the file and empty the log, as far as readers let it.

        Deleted text is overwritten in the file by `secure_delete`, but stays in the log until this ran.
        """
        with self._writing, translated():
            if self._closed:
                raise StoreError(CLOSED)
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def compact(self) -> None:
        """Write the file anew without any page that holds something deleted, and empty the log.

        Takes about as long as copying the file; readers go on meanwhile.

        Raises:
            StoreError: a reader does not let go of the log within 5 s, or the disk is full.
        """
        with self._writing, translated():
            if self._closed:
                raise StoreError(CLOSED)
            self._writer.execute("PRAGMA temp_store = FILE")
            try:
                _until_free(lambda: self._writer.execute("VACUUM"))
            finally:
                self._writer.execute("PRAGMA temp_store = MEMORY")
            deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
            while self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    raise UnreadyStoreError(sentence(sqlite3.SQLITE_BUSY))
                time.sleep(0.02)

    def close(self) -> None:
        """Close every connection; one that is still lent out is closed when it comes back. Closing twice is fine."""
        with self._writing:
            self._closed = True
            self._readers.close()
            self._writer.close()

    def _begin_apart(self) -> sqlite3.Connection:
        return self._begin(apart=True)

    def _begin(self, *, apart: bool = False) -> sqlite3.Connection:
        self._writing.acquire()
        try:
            if self._closed:
                raise StoreError(CLOSED)
            if not self._writer.in_transaction:
                self._be_durable("NORMAL" if self._mine.lazy else "FULL")
                self._writer.execute("BEGIN IMMEDIATE")
                self._is_spoilt = False
                self._blocks.append(_WHOLE)
            elif apart:
                self._writer.execute("SAVEPOINT part")
                self._blocks.append(_PART)
            else:
                self._blocks.append(_JOINED)
        except BaseException:
            self._writing.release()
            raise
        return self._writer

    def _end(self, failed: bool) -> None:
        try:
            kind = self._blocks.pop()
            if kind is _JOINED:
                self._is_spoilt = self._is_spoilt or failed
            elif kind is _PART:
                self._end_part(failed or self._is_spoilt)
            else:
                self._end_whole(failed or self._is_spoilt)
            if kind is not _JOINED and self._is_spoilt and not failed:
                raise StoreError(sentence(0))
        finally:
            self._writing.release()

    def _end_part(self, failed: bool) -> None:
        if self._writer.in_transaction:
            if failed:
                self._writer.execute("ROLLBACK TO part")
                self._is_spoilt = False
            self._writer.execute("RELEASE part")

    def _end_whole(self, failed: bool) -> None:
        try:
            if not failed:
                self._writer.execute("COMMIT")
        finally:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")

    def _begin_reading(self) -> sqlite3.Connection:
        mine = self._mine
        connection = mine.snapshot or self._opened_reader()
        mine.lent.append(connection)
        return connection

    def _end_reading(self, _failed: bool) -> None:
        connection = self._mine.lent.pop()
        if connection is not self._mine.snapshot:
            self._readers.take_back(connection)

    def _begin_snapshot(self) -> sqlite3.Connection:
        connection = self._begin_reading()
        self._mine.snapshot = connection
        return connection

    def _end_snapshot(self, failed: bool) -> None:
        if self._mine.snapshot not in self._mine.lent[:-1]:
            self._mine.snapshot = None
        self._end_reading(failed)

    def _opened_reader(self) -> sqlite3.Connection:
        connection = self._readers.lend()
        try:
            connection.execute("BEGIN")
        except BaseException:
            self._readers.take_back(connection)
            raise
        return connection

    def _be_durable(self, how: str) -> None:
        """Let the next commit be flushed, or not. Needs the write lock."""
        if how != self._durability:
            self._writer.execute(f"PRAGMA synchronous = {how}")
            self._durability = how

    def _connect(self, cache_kb: int) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON", "temp_store = MEMORY"):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute(f"PRAGMA cache_size = -{cache_kb}")
            connection.execute("PRAGMA journal_size_limit = 67108864").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection


def _first(connection: sqlite3.Connection, statement: str, parameters: Sequence[object]) -> Any:
    with closing(connection.execute(statement, parameters)) as cursor:
        return cursor.fetchone()


def _flush_log(path: str, disk: Disk) -> None:
    """Flush the write-ahead log. What a checkpoint moved out of it before was flushed by SQLite."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return
    try:
        disk.flush(descriptor)
    finally:
        os.close(descriptor)


class _Mine(threading.local):
    """What a thread is about: whether its commits may become durable later, and what it reads from."""

    def __init__(self) -> None:
        self.lazy = False
        self.lent: list[sqlite3.Connection] = []
        self.snapshot: sqlite3.Connection | None = None


def _until_free(action: Callable[[], object]) -> None:
    """Repeat `action` while another process holds the lock: switching to WAL does not wait by itself."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _version(connection: sqlite3.Connection) -> int:
    with closing(connection.execute("PRAGMA user_version")) as cursor:
        return int(cursor.fetchone()[0])


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables up to date. Takes the write lock only if there is something to do, and looks again under it."""
    newest = len(MIGRATIONS)
    if _version(connection) < newest:
        connection.execute("BEGIN IMMEDIATE")
        try:
            for step in range(_version(connection), newest):
                for statement in MIGRATIONS[step]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {step + 1}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    if _version(connection) > newest:
        raise StoreError("The memory was written by a newer version of Shiguan; upgrade this installation.")
