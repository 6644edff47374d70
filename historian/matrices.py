"""Vectors of the audiences in use, held in memory and scanned exactly: bounded in bytes, least recently used out."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Key = tuple[str, str]
"""A collection and an audience key."""


@dataclass(frozen=True, slots=True)
class Row:
    """One vector as a matrix holds it. `epoch` is in seconds."""

    id: str
    vector: NDArray[np.float32]
    epoch: float


@dataclass(frozen=True, slots=True)
class Window:
    """Which epochs count: from `since` (inclusive) to `until` (exclusive), in seconds."""

    since: float = float("-inf")
    until: float = float("inf")


def nearest_first(found: Collection[tuple[str, float]], k: int) -> list[tuple[str, float]]:
    """Return the k nearest of (id, cosine), best first; ties go to the later row, and so to the newer message.

    Where a vector stands, and how high its number is, must not decide: both depend on what others have stored.
    """
    return nlargest(k, found, key=lambda hit: (hit[1], len(hit[0]), hit[0]))


def _cosines(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosine of each row. The product of a matrix would give equal rows unequal ones, by their place."""
    import numpy as np

    cosines: NDArray[np.float32] = np.einsum("ij,j->i", vectors, vector)
    return cosines


class Matrix:
    """The vectors of one audience. Appended to and marked, never moved, so that a scan needs no lock.

    A row that is replaced or deleted keeps its place with an epoch of NaN, which lies in no window.
    """

    def __init__(self, dimension: int, rows: Sequence[Row] = ()) -> None:
        import numpy as np

        self._np = np
        self._lock = threading.Lock()
        self._vectors: NDArray[np.float32] = np.empty((max(16, len(rows)), dimension), dtype=np.float32)
        self._epochs: NDArray[np.float64] = np.empty(len(self._vectors), dtype=np.float64)
        self._ids: list[str] = []
        self._places: dict[str, int] = {}
        self.upsert(rows)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def nbytes(self) -> int:
        """Bytes held, about."""
        return self._vectors.nbytes + self._epochs.nbytes + 120 * len(self._ids)

    def upsert(self, rows: Sequence[Row]) -> None:
        """Add rows; a row with a known id takes the place of the old one."""
        with self._lock:
            self._reserve(len(rows))
            for row in rows:
                self._forget(row.id)
                place = len(self._ids)
                self._vectors[place] = row.vector
                self._epochs[place] = row.epoch
                self._ids.append(row.id)
                self._places[row.id] = place

    def delete(self, ids: Iterable[str]) -> None:
        """Remove rows; unknown ids are no error."""
        with self._lock:
            for one in ids:
                self._forget(one)

    def search(self, vector: NDArray[np.float32], k: int, window: Window) -> list[tuple[str, float]]:
        """Return the k nearest within the window as (id, cosine), in no order; ties as `nearest_first` says."""
        np = self._np
        with self._lock:
            count, vectors, ids = len(self._ids), self._vectors, self._ids
            epochs = self._epochs[:count].copy()
        places = np.flatnonzero((epochs >= window.since) & (epochs < window.until))
        if not len(places) or k <= 0:
            return []
        dense = len(places) * 2 >= count  # a gather copies; worth it only when most rows fall away
        cosines = _cosines(vectors[:count], vector)[places] if dense else _cosines(vectors[places], vector)
        if k < len(cosines):
            best = np.flatnonzero(cosines >= np.partition(cosines, -k)[-k])
            places, cosines = places[best], cosines[best]
        near = [*zip((ids[place] for place in places.tolist()), cosines.tolist(), strict=True)]
        return near if len(near) <= k else nearest_first(near, k)

    def compare(self, vector: NDArray[np.float32], rows: Iterable[str]) -> dict[str, float]:
        """Return the cosine of each row that is here; of a text in pieces (`row`, `row:1`, …) that of the best one."""
        with self._lock:
            vectors = self._vectors
            known = [(row, place) for row in rows for place in self._pieces(row)]
        found: dict[str, float] = {}
        if known:
            cosines = _cosines(vectors[[place for _, place in known]], vector).tolist()
            for (row, _), cosine in zip(known, cosines, strict=True):
                if cosine > found.get(row, -2.0):
                    found[row] = cosine
        return found

    def _pieces(self, row: str) -> list[int]:
        place = self._places.get(row)
        if place is None:
            return []
        found = [place]
        while (place := self._places.get(f"{row}:{len(found)}")) is not None:
            found.append(place)
        return found

    def _forget(self, one: str) -> None:
        place = self._places.pop(one, None)
        if place is not None:
            self._epochs[place] = float("nan")

    def _reserve(self, more: int) -> None:
        """Make room for more rows in new arrays, leaving dead rows behind; running scans keep the old ones."""
        if len(self._ids) + more <= len(self._vectors):
            return
        np = self._np
        alive = sorted(self._places.values())
        capacity = max(16, len(alive) + more, 2 * len(alive))
        vectors = np.empty((capacity, self._vectors.shape[1]), dtype=np.float32)
        epochs = np.empty(capacity, dtype=np.float64)
        vectors[: len(alive)] = self._vectors[alive]
        epochs[: len(alive)] = self._epochs[alive]
        self._ids = [self._ids[place] for place in alive]
        self._places = {one: place for place, one in enumerate(self._ids)}
        self._vectors, self._epochs = vectors, epochs


@dataclass(frozen=True, slots=True)
class _Change:
    """One write as one audience sees it."""

    rows: Sequence[Row]
    gone: Sequence[str]

    def apply(self, matrix: Matrix) -> None:
        matrix.delete(self.gone)
        matrix.upsert(self.rows)


class _Entry:
    """A matrix, or the wait for one together with what was written meanwhile."""

    def __init__(self) -> None:
        self.matrix: Matrix | None = None
        self.journal: list[_Change] = []
        self.settled = threading.Event()

    def change(self, change: _Change) -> None:
        if self.matrix is not None:
            change.apply(self.matrix)
        else:
            self.journal.append(change)


class Matrices:
    """The matrices in use. A writer tells it what was stored; a reader asks for a matrix or takes on loading it.

    Consistent without a lock around the store: whatever is written while a matrix loads is kept and applied again
    after, and applying twice changes nothing.
    """

    def __init__(self, dimension: int, *, max_bytes: int) -> None:
        self._dimension = dimension
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()

    @property
    def max_rows(self) -> int:
        """How many vectors one matrix may hold at most, a quarter of the room being left to others."""
        return int(self._max_bytes * 0.75 / (4 * self._dimension + 130))

    @property
    def nbytes(self) -> int:
        """Bytes held by all matrices, about."""
        with self._lock:
            return self._bytes()

    def get(self, key: Key, *, wait: float = 0.0) -> Matrix | None:
        """Return the matrix if it is held, waiting up to `wait` seconds for one that is being loaded."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
        entry.settled.wait(wait)
        return entry.matrix

    def load(self, key: Key, read: Callable[[], Sequence[Row]]) -> Matrix | None:
        """Read the rows and hold them. Returns None if another thread is at it. Errors of `read` pass through."""
        with self._lock:
            if key in self._entries:
                return None
            entry = self._entries[key] = _Entry()
        try:
            matrix = Matrix(self._dimension, read())
            with self._lock:
                for change in entry.journal:
                    change.apply(matrix)
                entry.matrix = matrix
                self._evict(key)
            return matrix
        finally:
            if entry.matrix is None:
                self._drop(key, entry)
            entry.journal.clear()
            entry.settled.set()

    def upsert(self, collection: str, rows: Sequence[tuple[Row, frozenset[str]]]) -> None:
        """Bring the matrices up to date: each row with the audience keys that may read it now."""
        with self._lock:
            for key, entry in self._of(collection):
                mine = [row for row, audiences in rows if key[1] in audiences]
                gone = [row.id for row, audiences in rows if key[1] not in audiences]
                entry.change(_Change(mine, gone))
            self._evict(None)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Take rows out of all matrices of a collection."""
        with self._lock:
            for _, entry in self._of(collection):
                entry.change(_Change((), ids))

    def clear(self, collection: str) -> None:
        """Let go of all matrices of a collection."""
        with self._lock:
            for key, _ in self._of(collection):
                del self._entries[key]

    def _of(self, collection: str) -> list[tuple[Key, _Entry]]:
        return [(key, entry) for key, entry in self._entries.items() if key[0] == collection]

    def _bytes(self) -> int:
        return sum(entry.matrix.nbytes for entry in self._entries.values() if entry.matrix is not None)

    def _evict(self, keep: Key | None) -> None:
        excess = self._bytes() - self._max_bytes
        for key, entry in list(self._entries.items()):
            if excess <= 0:
                return
            if key != keep and entry.matrix is not None:
                excess -= entry.matrix.nbytes
                del self._entries[key]

    def _drop(self, key: Key, entry: _Entry) -> None:
        with self._lock:
            if self._entries.get(key) is entry:
                del self._entries[key]
