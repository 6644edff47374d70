"""Gives every stored text its vector, in the background and in batches; what waits is found by words meanwhile."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from historian.backlog import Backlog, Unembedded
from historian.engine import Engine
from historian.reconciling import reconcile
from historian.vectors import VectorRecord, VectorStore

BATCH = 64

log = logging.getLogger(__name__)


class Indexer:
    """Works off the backlogs. Thread-safe; one batch at a time."""

    def __init__(self, engine: Engine, backlogs: Sequence[Backlog]) -> None:
        self._engine = engine
        self.backlogs = backlogs
        self._working = threading.Lock()
        self._reconciled: VectorStore | None = None

    def run_batch(self) -> int:
        """Embed one batch of each backlog and return how many texts that were; 0 when nothing waits.

        Raises:
            ModelError: the embedder failed; nothing is lost, the texts keep waiting.
            StoreError: the vector store failed; the same.
        """
        if not self._engine.wait(0):
            return 0
        with self._working:
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
            if store is self._reconciled and not thorough:
                return 0
            mended = 0
            for backlog in self.backlogs:
                if thorough or store.count(backlog.collection) != backlog.count_done(identity):
                    mended += reconcile(store, backlog, identity)
            self._reconciled = store
        if mended:
            log.info("%d vectors were missing or in excess", mended)
        return mended

    def wake(self) -> None:
        """Begin to load the embedder when texts wait for it and nobody has asked for it yet."""
        if self._engine.state == "cold" and self.waiting():
            self._engine.start()

    def catch_up(self, limit: int) -> None:
        """Embed what waits when it is little, so that a search sees what was stored just before it.

        Raises:
            ModelError, StoreError: as `run_batch`.
        """
        if self._engine.ready.is_set() and 0 < self.waiting() <= limit:
            while self.run_batch():
                pass

    def waiting(self, owner: str | None = None) -> int:
        """Return how many texts have no vector of the present embedder, of all owners or of the one with this key."""
        identity = self._engine.embedder.identity
        return sum(backlog.count(identity, owner) for backlog in self.backlogs)

    def _embed(self, backlog: Backlog) -> int:
        identity = self._engine.embedder.identity
        waiting = backlog.next(identity, BATCH)
        if not waiting:
            return 0
        vectors = self._engine.embedder.embed([item.text for item in waiting])
        records = [_record(item, vector) for item, vector in zip(waiting, vectors, strict=True)]
        self._engine.vectors.upsert(backlog.collection, records)
        backlog.done([item.row for item in waiting], identity)
        return len(waiting)


def _record(item: Unembedded, vector: object) -> VectorRecord:
    return VectorRecord(id=str(item.row), vector=vector, owner=item.owner, author=item.author, epoch=item.epoch)  # type: ignore[arg-type]
