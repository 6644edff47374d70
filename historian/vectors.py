"""The vectors of events, messages, profiles and group memories: stored in Chroma, searched exactly in memory.

Chroma is an index that can be rebuilt; the truth lies elsewhere. This process is the only one that uses the folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from historian.breaker import Breaker
from historian.chroma import ChromaFolder, VectorRecord, ids_of, nearest, rows_of, translated
from historian.clock import Clock, SystemClock
from historian.errors import EmbeddingMismatchError, InvalidInputError, StoreError
from historian.held_vectors import HeldVectors, TooManyError
from historian.matrices import Key, Matrices, Row, Window, nearest_first
from historian.model import Reach

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["COLLECTIONS", "VectorRecord", "VectorStore"]

COLLECTIONS = ("events", "messages", "profiles", "group_memories")

_CHUNK = 32  # records a write: Chroma holds the interpreter lock for about 1.5 ms a record
_CLOSING = "The vector store is being closed."
T = TypeVar("T")


class VectorStore:
    """Vectors by collection, searched within a reach. Blocking and safe to use from many threads.

    `identity` and `dimension` are those of the embedding model. Audiences of up to `inline_limit` vectors are read into
    memory by the search that first needs them, up to `scan_limit` in the background while Chroma answers; beyond that,
    or where `max_bytes` do not hold them, Chroma answers always.
    """

    def __init__(
        self,
        path: Path,
        *,
        identity: str,
        dimension: int,
        clock: Clock | None = None,
        max_bytes: int = 160 * 2**20,
        scan_limit: int = 50_000,
        inline_limit: int = 4_000,
    ) -> None:
        self._folder = ChromaFolder(path, identity=identity, dimension=dimension)
        self._dimension = dimension
        self._held = HeldVectors(
            Matrices(dimension, max_bytes=max_bytes), self._rows, inline_limit=inline_limit, scan_limit=scan_limit
        )
        self._breaker = Breaker("vector store", clock or SystemClock())
        self._write = threading.Lock()
        self._is_open = False
        self.openings = 0
        """How often the folder was opened anew after a failure: what it holds may differ then."""

    @property
    def breaker(self) -> Breaker:
        """The breaker around this store, for status."""
        return self._breaker

    def open(self, *, allow_mismatch: bool = False) -> None:
        """Open the folder. Slow (imports chromadb); not for the event loop.

        Raises EmbeddingMismatchError when another model made any of the vectors, leaving them as they are; with
        `allow_mismatch` (for reindexing) only the uses of such a collection raise. Raises StoreError when it cannot be
        opened.
        """
        with self._breaker.guard():
            self._held.open()
            self._folder.open()
            mismatched = self._folder.mismatched()
            if mismatched and not allow_mismatch:
                try:
                    self._folder.collection(mismatched[0])
                finally:
                    self._folder.close()
            self._is_open = True

    def settle(self) -> None:
        """Read every index before anybody else uses the store, and leave no stray memory in its files.

        Raises:
            StoreError: an index cannot be read.
        """
        with self._breaker.guard(), self._write:
            self._folder.settle()

    def close(self) -> None:
        """Let go of the folder. Closing twice is no error."""
        self._is_open = False
        self._held.close()
        with self._write:
            for name in COLLECTIONS:
                self._held.forget(name)
            self._folder.close()

    def mismatched(self) -> list[str]:
        """Return the collections that another embedding model made; only a store opened for reindexing has any."""
        return self._folder.mismatched()

    def upsert(self, collection: str, records: Sequence[VectorRecord]) -> None:
        """Write vectors; a known id is replaced, of equal ids the last counts. What was written is found at once.

        Raises EmbeddingMismatchError for a vector of another size, StoreError when the store cannot be written.
        """
        checked = list({record.id: self._checked(record) for record in records}.values())
        for start in range(0, len(checked), _CHUNK):
            chunk = checked[start : start + _CHUNK]
            rows = [(Row(one.id, one.vector, one.epoch), frozenset({one.owner, one.author or ""})) for one in chunk]
            with self._guard(), self._write:
                self._folder.put(self._folder.made(_known(collection)), chunk)
                self._held.upsert(collection, rows)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Delete vectors by id; unknown ids are no error. Raises StoreError."""
        for start in range(0, len(ids), 500):
            chunk = list(ids[start : start + 500])
            with self._guard(), self._write:
                found = self._folder.any_collection(_known(collection))
                if found is None:
                    return
                with translated():
                    found.delete(ids=chunk)
                self._held.delete(collection, chunk)

    def ids(self, collection: str) -> list[str]:
        """Return the ids of all vectors. Raises StoreError."""
        with self._guard():
            found = self._folder.any_collection(_known(collection))
            return self._steadily(lambda: ids_of(found)) if found is not None else []

    def count(self, collection: str) -> int:
        """Return the number of vectors. Raises StoreError."""
        with self._guard():
            found = self._folder.any_collection(_known(collection))
            with translated():
                return found.count() if found is not None else 0

    def search(
        self,
        collection: str,
        reach: Reach,
        vector: NDArray[np.float32],
        k: int,
        since_epoch: float | None = None,
        until_epoch: float | None = None,
    ) -> list[tuple[str, float]]:
        """Return the k nearest vectors that the reach may read, as (id, cosine), best first.

        Times are seconds, `since_epoch` inclusive, `until_epoch` exclusive. An empty reach reads nothing. Raises
        EmbeddingMismatchError, StoreError.
        """
        query = self._unit(vector)
        window = Window(
            float("-inf") if since_epoch is None else since_epoch, float("inf") if until_epoch is None else until_epoch
        )
        with self._guard():
            if self._folder.collection(_known(collection)) is None or k <= 0:
                return []
            found: dict[str, float] = {}
            unread: list[str] = []
            for audience in sorted(reach):
                matrix = self._held.matrix((collection, audience))
                if matrix is None:
                    unread.append(audience)
                else:
                    found.update(matrix.search(query, k, window))
            if unread:
                found.update(self._ask(collection, unread, query, k, window))
        return nearest_first(found.items(), k)

    def hold(self, collection: str, audience: str, ids: Callable[[], Sequence[str]]) -> None:
        """Read the vectors of an audience into memory, unless they are: by their ids, which is faster than a search.

        `ids` names all that the audience may read. It is asked once later writes are noted, so that none is missed.
        Raises EmbeddingMismatchError, StoreError.
        """
        key = (_known(collection), audience)
        with self._guard():
            found = self._folder.collection(collection)
            if found is not None:
                self._held.hold(key, lambda: self._steadily(lambda: list(rows_of(found, ids()))))

    def compare(
        self, collection: str, reach: Reach, vector: NDArray[np.float32], rows: Sequence[str]
    ) -> dict[str, float]:
        """Return the cosines of named rows that the reach may read; of a text in pieces that of the best piece.

        Only what is held in memory is compared: rows of audiences that Chroma answers for are absent. Raises
        EmbeddingMismatchError, StoreError.
        """
        query = self._unit(vector)
        found: dict[str, float] = {}
        with self._guard():
            if self._folder.collection(_known(collection)) is None:
                return {}
            for audience in sorted(reach):
                matrix = self._held.matrix((collection, audience))
                if matrix is not None:
                    found.update(matrix.compare(query, rows))
        return found

    def rewrite(self, collection: str) -> int:
        """Copy what is left of a collection into a new one, so that nothing deleted stays; return how many vectors.

        Slow: about 2 ms a vector. Raises EmbeddingMismatchError, StoreError.
        """
        with self._breaker.guard(), self._write:
            return self._folder.rewrite(_known(collection))

    def drop(self, collection: str) -> None:
        """Delete a collection with all its vectors, whichever model made them. Raises StoreError."""
        with self._guard(), self._write:
            self._folder.drop(_known(collection))
            self._held.forget(collection)

    def rebuild(self, collection: str) -> None:
        """Replace a collection by an empty one of the present model, to be filled again. Raises StoreError."""
        with self._guard(), self._write:
            self._folder.drop(_known(collection))
            self._held.forget(collection)
            self._folder.made(collection)

    @contextmanager
    def _guard(self) -> Generator[None]:
        """Let a call through as the breaker says; the probe after a failure opens the folder anew first."""
        with self._breaker.guard() as is_probe:
            if is_probe and self._is_open:
                with self._write:
                    if not self._is_open:
                        raise StoreError(_CLOSING)
                    for name in COLLECTIONS:
                        self._held.forget(name)
                    self._folder.reopen()
                self.openings += 1
            yield

    def _ask(
        self, collection: str, audiences: Sequence[str], query: NDArray[np.float32], k: int, window: Window
    ) -> list[tuple[str, float]]:
        found = self._folder.collection(collection)
        return self._steadily(lambda: nearest(found, audiences, query, k, window)) if found is not None else []

    def _steadily(self, read: Callable[[], T]) -> T:
        """Read, and where that fails once more while nobody writes.

        Chroma looks for rows in one place and fetches them from another: it fails on a row that is deleted in between.
        """
        try:
            return read()
        except StoreError:
            with self._write:
                return read()

    def _rows(self, key: Key, limit: int, closing: threading.Event) -> Sequence[Row]:
        def read() -> Sequence[Row]:
            found = self._folder.collection(key[0])
            ids = ids_of(found, key[1]) if found is not None else []
            if len(ids) > limit:
                raise TooManyError(len(ids))
            rows: list[Row] = []
            for row in rows_of(found, ids) if found is not None else ():
                if closing.is_set():
                    raise StoreError(_CLOSING)
                rows.append(row)
            return rows

        return self._steadily(read)

    def _checked(self, record: VectorRecord) -> VectorRecord:
        try:
            record.id.encode()
        except UnicodeEncodeError as error:
            raise InvalidInputError("An id holds characters that are no text; use another id.") from error
        return replace(record, vector=self._unit(record.vector))

    def _unit(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        import numpy as np

        flat = np.asarray(vector, dtype=np.float32).reshape(-1)
        if len(flat) != self._dimension:
            raise EmbeddingMismatchError(
                f"A vector of {len(flat)} numbers does not fit the store's {self._dimension}; run `shiguan reindex`."
            )
        length = float(np.linalg.norm(flat))
        if not np.isfinite(length) or length == 0.0:
            raise InvalidInputError("A vector must hold finite numbers that are not all zero.")
        return flat / np.float32(length)


def _known(collection: str) -> str:
    if collection not in COLLECTIONS:
        raise ValueError(f"unknown collection {collection!r}")
    return collection
