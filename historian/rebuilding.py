"""Making every vector anew from the truth: after a change of embedder, or when the vectors are damaged."""

from __future__ import annotations

from collections.abc import Callable

from historian.embed import Embedder
from historian.engine import Engine
from historian.errors import StoreError
from historian.indexer import Indexer
from historian.vectors import VectorStore


def rebuild_vectors(engine: Engine, indexer: Indexer, make_store: Callable[[Embedder], VectorStore]) -> int:
    """Empty every collection, embed every text again, and return how many texts that were.


    `make_store` makes a store that is not open yet. A crash in the middle leaves texts without a vector, which the next
    run, or the background, makes up for.

    Raises:
        ModelError: the embedder failed.
        StoreError: the vector store failed.
    """
    engine.embedder.load()
    engine.pause()
    try:
        _empty(indexer, make_store(engine.embedder))
    finally:
        engine.resume()
    if not engine.wait(None):
        raise StoreError(engine.failure or "The vector store could not be opened again.")
    total = 0
    while done := indexer.run_batch():
        total += done
    return total


def _empty(indexer: Indexer, store: VectorStore) -> None:
    store.open(allow_mismatch=True)
    try:
        for backlog in indexer.backlogs:
            backlog.forget()
            store.rebuild(backlog.collection)
    finally:
        store.close()
