"""Puts together what finds things again, by meaning and by words: a part of the composition root."""

from __future__ import annotations

from dataclasses import dataclass

from historian.backlog import MessageBacklog, event_backlog, group_backlog, profile_backlog
from historian.clock import Clock
from historian.database import Database
from historian.embed import Embedder
from historian.engine import Engine
from historian.events import EVENT_WORDS
from historian.group_rows import GROUP_WORDS
from historian.indexer import Indexer
from historian.live import LiveOptions
from historian.profile_index import PROFILE_WORDS
from historian.rankings import Rankings
from historian.rerank import Reranking
from historian.retrieval import Retrieval
from historian.trial import Trial
from historian.vectors import VectorStore
from server.folder import RANKINGS_NAME, VECTORS_NAME
from server.models import Models
from server.settings import Settings

WORDS = {"events": EVENT_WORDS, "profiles": PROFILE_WORDS, "group_memories": GROUP_WORDS}


@dataclass(frozen=True, slots=True)
class FindingParts:
    """What finds what is stored in one data folder; everything in it can be made anew."""

    engine: Engine
    indexer: Indexer
    retrieval: Retrieval
    reranking: Reranking
    rankings: Rankings


def make_finding(
    settings: Settings, database: Database, models: Models, live: LiveOptions, clock: Clock
) -> FindingParts:
    """Return these parts for one data folder, nothing of them opened yet but the database of rankings."""
    engine = _engine(settings, models.embedder, clock)
    messages = MessageBacklog(database, settings.embedding.chunk_size)
    backlogs = [event_backlog(database), profile_backlog(database), group_backlog(database), messages]
    indexer = Indexer(database, engine, backlogs)
    return FindingParts(
        engine=engine,
        indexer=indexer,
        retrieval=Retrieval(database, engine, indexer, WORDS),
        reranking=Reranking(models.reranker, lambda: live.query),
        rankings=Rankings(settings.data_dir / RANKINGS_NAME),
    )


def vector_store(settings: Settings, embedder: Embedder, clock: Clock) -> VectorStore:
    """Return the vector store of the data folder for a loaded embedder, not open yet."""
    path = settings.data_dir / VECTORS_NAME
    return VectorStore(path, identity=embedder.identity, dimension=embedder.dimension, clock=clock)


def _engine(settings: Settings, embedder: Embedder, clock: Clock) -> Engine:
    trial = Trial(settings.data_dir / VECTORS_NAME, clock)

    def open_vectors(loaded: Embedder) -> VectorStore:
        store = vector_store(settings, loaded, clock)
        with trial.first_use():
            store.open()
            try:
                store.settle()
            except BaseException:
                store.close()
                raise
        return store

    return Engine(embedder, open_vectors, clock=clock)
