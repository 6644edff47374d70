"""Which vectors are held in memory: of small audiences once they are needed, of larger ones when there is time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from historian.errors import StoreError
from historian.matrices import Key, Matrices, Matrix, Row

_WAIT = 2.0  # seconds a search waits for another thread that reads the same small audience
_log = logging.getLogger(__name__)


class TooManyError(Exception):
    """An audience with more vectors than may be read now."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


Read = Callable[[Key, int, threading.Event], Sequence[Row]]
"""Reads the rows of an audience. Raises TooManyError where they are more, StoreError once the event is set."""


class HeldVectors:
    """The matrices of audiences. Thread-safe.

    Up to `inline_limit` vectors are read by the search that first needs them, up to `scan_limit` in the background, and
    more never.
    """

    def __init__(self, matrices: Matrices, read: Read, *, inline_limit: int, scan_limit: int) -> None:
        self._matrices = matrices
        self._read = read
        self._scan_limit = min(scan_limit, matrices.max_rows)
        self._inline_limit = min(inline_limit, self._scan_limit)
        self._far: set[Key] = set()
        self._readers: list[threading.Thread] = []
        self._closing = threading.Event()

    def open(self) -> None:
        """Allow reading (again)."""
        self._closing.clear()

    def close(self) -> None:
        """End what is being read in the background."""
        self._closing.set()
        for reader in self._readers:
            reader.join()

    def matrix(self, key: Key) -> Matrix | None:
        """Return the matrix of an audience, reading it if it is small; None when the store is to be asked itself.

        Raises:
            StoreError: it cannot be read.
        """
        if key in self._far:
            return self._matrices.get(key)
        held = self._matrices.get(key, wait=_WAIT)
        if held is not None:
            return held
        try:
            return self._load(key, self._inline_limit) or self._matrices.get(key, wait=_WAIT)
        except TooManyError as many:
            self._far.add(key)
            if many.count <= self._scan_limit:
                self._load_later(key)
            return None

    def hold(self, key: Key, read: Callable[[], Sequence[Row]]) -> None:
        """Read an audience in another way, unless it is held or too large. Errors of `read` pass through."""
        if key not in self._far and self._matrices.get(key) is None:
            self._matrices.load(key, read)

    def upsert(self, collection: str, rows: Sequence[tuple[Row, frozenset[str]]]) -> None:
        """Bring the matrices up to date: each row with the audience keys that may read it now."""
        self._matrices.upsert(collection, rows)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Take rows out of all matrices of a collection."""
        self._matrices.delete(collection, ids)

    def forget(self, collection: str) -> None:
        """Let go of all that is known of a collection."""
        self._matrices.clear(collection)
        for key in list(self._far):
            if key[0] == collection:
                self._far.discard(key)

    def _load(self, key: Key, limit: int) -> Matrix | None:
        return self._matrices.load(key, lambda: self._read(key, limit, self._closing))

    def _load_later(self, key: Key) -> None:
        def load() -> None:
            try:
                self._load(key, self._scan_limit)
                self._far.discard(key)
            except (TooManyError, StoreError) as error:
                _log.info("a large audience stays with Chroma: %s", type(error).__name__)

        thread = threading.Thread(target=load, name="shiguan-vectors", daemon=True)
        self._readers = [*(one for one in self._readers if one.is_alive()), thread]
        thread.start()
