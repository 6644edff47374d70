"""Gives every stored text its vector, in the background and in batches; what waits is found by words meanwhile."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from historian.backlog import Backlog, Unembedded, Waiting, count_waiting
from historian.database import Database
from historian.engine import Engine
from historian.model import Reach
from historian.pieces import piece_ids
from historian.reconciling import reconcile
from historian.vectors import VectorRecord, VectorStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 64

log = logging.getLogger(__name__)


class Indexer:
    """Works off the backlogs. Thread-safe; one batch at a time."""

    def __init__(self, database: Database, engine: Engine, backlogs: Sequence[Backlog]) -> None:
        self._database = database
        self._engine = engine
        self.backlogs = backlogs
        self._working = threading.Lock()
        self._gone: list[tuple[str, int]] = []
        self._reconciled: tuple[VectorStore, int] | None = None

    def run_batch(self) -> int:
        """Embed one batch of each backlog and return how many texts that were; 0 when nothing waits.

        Raises:
            ModelError: the embedder failed; nothing is lost, the texts keep waiting.
            StoreError: the vector store failed; the same.
        """
        if not self._engine.wait(0):
            return 0
        with self._working:
            self._delete_gone()
            return sum(self._embed(backlog) for backlog in self.backlogs)

    def reconcile(self, *, thorough: bool = False) -> int:
        """Make rows and vectors agree, once for each opening of the store; return how many did not.

        Only where their numbers differ are they compared one by one, unless `thorough`. Heals what a kill between the
        writing of a vector and of its mark leaves, and what Chroma lost in a crash. Does nothing while it is loading.

        Raises:
            StoreError: the vector store failed.
        """
        if not self._engine.ready.is_set():
            return 0
        with self._working:
            store, identity = self._engine.vectors, self._engine.embedder.identity
            opened = (store, store.openings)
            if opened == self._reconciled and not thorough:
                return 0
            mended = 0
            for backlog in self.backlogs:
                if thorough or store.count(backlog.collection) != backlog.count_done(identity):
                    mended += reconcile(store, backlog, identity)
            self._reconciled = opened
        if mended:
            log.info("%d vectors were missing or in excess", mended)
        return mended

    def wake(self) -> None:
        """Begin to load the embedder when texts wait for it and nobody has asked for it yet."""
        if self._engine.state == "cold" and self.waiting():
            self._engine.start()

    def catch_up(self) -> None:
        """Embed all that waits. Raises as `run_batch`."""
        while self.run_batch():
            pass

    def is_little_behind(self, limit: int, reach: Reach) -> bool:
        """Say whether texts wait that `reach` may read, and at most `limit` in all; no while the embedder is loaded."""
        if not self._engine.ready.is_set():
            return False
        waiting = self._waiting(reach, limit + 1)
        return bool(waiting.mine) and waiting.all <= limit

    def discard(self, collection: str, rows: Iterable[int]) -> None:
        """Delete the vectors of rows that are no more, with the next batch. A search passes over them until then.

        What is not done when the process ends, the comparison of rows and vectors finds at the next start.
        """
        self._gone.extend((collection, row) for row in rows)

    def wipe(self) -> None:
        """Delete the vectors of rows that are no more, and copy the others so that nothing of those is left.

        Raises:
            EmbeddingMismatchError, StoreError: the vector store cannot do it now.
        """
        with self._working:
            self._delete_gone()
            store = self._engine.vectors
            for backlog in self.backlogs:
                reconcile(store, backlog, self._engine.embedder.identity)
                store.rewrite(backlog.collection)

    def waiting(self, owner: str | None = None) -> int:
        """Return how many texts have no vector of the present embedder, of all owners or of the one with this key."""
        return self._waiting().all if owner is None else self._waiting([owner]).mine

    def _waiting(self, audiences: Iterable[str] = (), most: int = -1) -> Waiting:
        return count_waiting(self._database, self.backlogs, self._engine.embedder.identity, audiences, most=most)

    def _delete_gone(self) -> None:
        gone = self._gone[:]
        for backlog in self.backlogs:
            ids = [one for name, row in gone if name == backlog.collection for one in backlog.ids(row)]
            self._engine.vectors.delete(backlog.collection, ids)
        del self._gone[: len(gone)]

    def _embed(self, backlog: Backlog) -> int:
        identity = self._engine.embedder.identity
        waiting = backlog.next(identity, BATCH)
        if not waiting:
            return 0
        texts = {item.row: backlog.pieces(item) for item in waiting}
        named = [(item, name) for item in waiting for name in piece_ids(item.row, len(texts[item.row]))]
        vectors = self._engine.embedder.embed([text for item in waiting for text in texts[item.row]])
        records = [_record(name, item, vector) for (item, name), vector in zip(named, vectors, strict=True)]
        self._engine.vectors.upsert(backlog.collection, records)
        backlog.done({row: len(parts) for row, parts in texts.items()}, identity)
        return len(waiting)


def _record(name: str, item: Unembedded, vector: NDArray[np.float32]) -> VectorRecord:
    return VectorRecord(id=name, vector=vector, owner=item.owner, author=item.author, epoch=item.epoch)
