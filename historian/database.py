"""The SQLite file of the memory: one writer at a time, any number of readers, safe across threads and processes."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from historian.durable import REAL_DISK, Disk, SharedFlush
from historian.errors import StoreError, UnreadyStoreError
from historian.schema import MIGRATIONS

BUSY_TIMEOUT_MS = 5_000
"""How long a statement waits for another process before the store is said to be in use."""

_IDLE_READERS = 8
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
_CLOSED = "The memory is closed; start it again."


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
        self._pooling = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._lazy = threading.local()
        self._flushed = SharedFlush(partial(_flush_log, f"{path}-wal", disk))
        with _translated():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
            except OSError as error:
                raise StoreError(_SENTENCES[sqlite3.SQLITE_CANTOPEN]) from error
            self._writer = self._connect()
            self._durability = "FULL"
            try:
                _until_free(lambda: self._writer.execute("PRAGMA journal_mode = WAL").fetchone())
                _until_free(lambda: _migrate(self._writer))
            except BaseException:
                self._writer.close()
                raise

    @contextmanager
    def write(self) -> Generator[sqlite3.Connection]:
        """Run a block as one durable transaction: committed when it ends, rolled back when it raises.

        Inside another `write()` of the same thread the block is part of that transaction: undone by itself if it
        raises, durable when the outer block ends.

        Raises:
            StoreError: the disk is full, the file is read-only, damaged or locked for 5 s, or the database is closed.
        """
        with self._writing, _translated():
            if self._closed:
                raise StoreError(_CLOSED)
            if self._writer.in_transaction:
                with _savepoint(self._writer):
                    yield self._writer
                return
            self._be_durable("NORMAL" if getattr(self._lazy, "on", False) else "FULL")
            with _transaction(self._writer):
                yield self._writer

    @contextmanager
    def read(self) -> Generator[sqlite3.Connection]:
        """Lend a read-only connection whose statements all see one snapshot of the last commit.

        Raises:
            StoreError: the file cannot be read, is damaged, or the database is closed.
        """
        with _translated():
            connection = self._borrow()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def lazily(self) -> Generator[None]:
        """Let transactions of this thread become durable together: at `flush`, and when the block ends without error.

        They are seen at once and survive the end of the process; only after a power cut the last ones may be missing.
        For work that is repeated then.
        """
        self._lazy.on = True
        try:
            yield
        finally:
            self._lazy.on = False
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
        with self._writing, _translated():
            if self._closed:
                raise StoreError(_CLOSED)
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def compact(self) -> None:
        """Write the file anew without any page that holds something deleted, and empty the log.

        Takes about as long as copying the file; readers go on meanwhile.

        Raises:
            StoreError: a reader does not let go of the log within 5 s, or the disk is full.
        """
        with self._writing, _translated():
            if self._closed:
                raise StoreError(_CLOSED)
            self._writer.execute("PRAGMA temp_store = FILE")
            try:
                _until_free(lambda: self._writer.execute("VACUUM"))
            finally:
                self._writer.execute("PRAGMA temp_store = MEMORY")
            deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
            while self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    raise UnreadyStoreError(_SENTENCES[sqlite3.SQLITE_BUSY])
                time.sleep(0.02)

    def close(self) -> None:
        """Close every connection; one that is still lent out is closed when it comes back. Closing twice is fine."""
        with self._writing, self._pooling:
            self._closed = True
            for connection in self._idle:
                connection.close()
            self._idle.clear()
            self._writer.close()

    def _be_durable(self, how: str) -> None:
        """Let the next commit be flushed, or not. Needs the write lock."""
        if how != self._durability:
            self._writer.execute(f"PRAGMA synchronous = {how}")
            self._durability = how

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON", "temp_store = MEMORY"):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("PRAGMA cache_size = -16000")
            connection.execute("PRAGMA journal_size_limit = 67108864").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _borrow(self) -> sqlite3.Connection:
        with self._pooling:
            if self._closed:
                raise StoreError(_CLOSED)
            if self._idle:
                return self._idle.pop()
        connection = self._connect()
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        finally:
            with self._pooling:
                keep = not self._closed and not connection.in_transaction and len(self._idle) < _IDLE_READERS
                if keep:
                    self._idle.append(connection)
            if not keep:
                connection.close()


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


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def _savepoint(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("SAVEPOINT part")
    done = False
    try:
        yield
        done = True
    finally:
        if connection.in_transaction:
            if not done:
                connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")


@contextmanager
def _translated() -> Generator[None]:
    """Turn what SQLite says into a sentence of ours; a broken constraint is the caller's fault and stays as it is."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        kind = UnreadyStoreError if code in _UNREADY else StoreError
        raise kind(_SENTENCES.get(code, _OTHERWISE)) from error


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
        with _transaction(connection):
            for step in range(_version(connection), newest):
                for statement in MIGRATIONS[step]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {step + 1}")
    if _version(connection) > newest:
        raise StoreError("The memory was written by a newer version of Shiguan; upgrade this installation.")
