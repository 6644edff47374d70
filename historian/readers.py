"""Connections that only read, kept open for whoever reads next."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable

from historian.errors import StoreError

CLOSED = "The memory is closed; start it again."
_KEPT = 8


class Readers:
    """Lends each connection to one thread at a time. Thread-safe. `connect` opens a connection."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._is_closed = False

    def lend(self) -> sqlite3.Connection:
        """Return a connection outside of any transaction. Raises StoreError when closed, and what SQLite raises."""
        with self._lock:
            if self._is_closed:
                raise StoreError(CLOSED)
            if self._idle:
                return self._idle.pop()
        connection = self._connect()
        connection.execute("PRAGMA query_only = ON")
        return connection

    def take_back(self, connection: sqlite3.Connection) -> None:
        """End its transaction, and keep it for the next or close it."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        finally:
            with self._lock:
                keep = not self._is_closed and not connection.in_transaction and len(self._idle) < _KEPT
                if keep:
                    self._idle.append(connection)
            if not keep:
                connection.close()

    def close(self) -> None:
        """Close all that are not lent out; the others are closed when they come back."""
        with self._lock:
            self._is_closed = True
            for connection in self._idle:
                connection.close()
            self._idle.clear()
