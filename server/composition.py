"""The composition root: from settings to a memory that runs. Only here are stores and workers put together."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from historian.backlog import MessageBacklog, event_backlog, profile_backlog
from historian.backup import Made, back_up
from historian.bell import Bell
from historian.capturing import CaptureDesk
from historian.chains import ChainReader
from historian.chat import Chat
from historian.chat_states import out_of_order, runs_offline
from historian.clock import Clock, SystemClock
from historian.closing import TurnCloser
from historian.corrections import Corrections
from historian.cursors import Cursors
from historian.database import Database
from historian.desk import Desk
from historian.doctor import Doctor
from historian.embed import Embedder
from historian.engine import Engine
from historian.errors import StoreError
from historian.events import EVENT_WORDS
from historian.evidence_reading import EvidenceReader
from historian.failures import FailureKeeper
from historian.foreground import Foreground
from historian.indexer import Indexer
from historian.live import LiveOptions
from historian.memory import Memory, Parts
from historian.message_search import MessageSearch
from historian.profile_index import PROFILE_WORDS
from historian.profile_reading import ProfileReader
from historian.pulse import Pulse
from historian.queue import Queue
from historian.rankings import Rankings
from historian.rebuilding import rebuild_vectors
from historian.rerank import Reranker, Reranking
from historian.retrieval import Retrieval
from historian.returned import ReturnedTexts
from historian.searching import EventSearch
from historian.status import Health, Merges, StatusReader
from historian.steps import Steps
from historian.telemetry import Telemetry
from historian.trial import Trial
from historian.troubles import Troubles
from historian.upkeep import Upkeep
from historian.vectors import COLLECTIONS, VectorStore
from historian.word_paging import WordPager
from historian.worker import Historian
from prompts import PromptLibrary
from server.checkup import Patient, make_doctor
from server.folder import (
    DATABASE_NAME,
    QUEUES_NAME,
    RANKINGS_NAME,
    VECTORS_NAME,
    make_folder,
)
from server.historian_parts import Asking, make_historian_parts, make_stores
from server.leaving_parts import Sources, Traces, make_leaving
from server.models import Models, make_models
from server.profile_parts import ProfileParts, make_profiles
from server.reload import SettingsWatch
from server.settings import Settings, reread

COUNTS = {
    "messages": "SELECT count(*) FROM messages",
    "events": "SELECT count(*) FROM events WHERE same_as IS NULL",
    "profile_lines": "SELECT count(*) FROM profile_lines",
    "unembedded": "SELECT (SELECT count(*) FROM events WHERE same_as IS NULL AND embedded_by IS NULL)"
    " + (SELECT count(*) FROM profile_lines WHERE embedded_by IS NULL)"
    " + (SELECT count(*) FROM messages WHERE embedded_by IS NULL)",
}
"""What `shiguan status` counts."""


@dataclass(frozen=True, slots=True)
class Household:
    """All that one process holds of one data folder."""

    memory: Memory
    historian: Historian
    engine: Engine
    indexer: Indexer
    database: Database
    queue: Queue
    rankings: Rankings
    chat: Chat
    prompts: PromptLibrary
    reranker: Reranker | None
    profiles: ProfileParts
    make_store: Callable[[Embedder], VectorStore]
    doctor: Doctor
    folder: Path
    live: LiveOptions
    watch: SettingsWatch

    def warm_up(self) -> None:
        """Begin to load the embedder and the vectors in the background; calling it again does nothing."""
        if self.engine.state == "cold":
            self.engine.start()

    def counts(self) -> dict[str, int]:
        """Return how much the folder holds, whoever it belongs to."""
        with self.database.read() as connection:
            return {name: connection.execute(sql).fetchone()[0] for name, sql in COUNTS.items()}

    def has_work(self) -> bool:
        """Say whether anything can be done; while the memory is switched off, jobs and merges that wait cannot."""
        stats = self.queue.stats()
        waiting = stats.pending or self.profiles.waiting.count()
        return bool(stats.processing or (waiting and self.live.enabled))

    def reindex(self) -> int:
        """Make every vector anew and return how many there are. Search by words works meanwhile.

        Raises:
            ModelError, StoreError: as `rebuild_vectors`.
        """
        return rebuild_vectors(self.engine, self.indexer, self.make_store)

    def back_up(self, target: Path) -> Made:
        """Write everything that is true here into the file `target`. Raises as `backup.back_up`."""
        return back_up(self.folder, self.database, target, SystemClock())

    def close(self) -> None:
        """Close every store. The folder may be opened again afterwards."""
        self.chat.close()
        if self.reranker is not None:
            self.reranker.close()
        with suppress(StoreError):
            self.historian.upkeep.returned.flush()
        self.engine.close()
        self.queue.close()
        self.rankings.close()
        self.database.close()


def open_queue(settings: Settings, clock: Clock) -> Queue:
    """Return the queue of the data folder. Several processes may have it open."""
    return Queue(
        settings.data_dir / QUEUES_NAME,
        clock=clock,
        max_retries=settings.queue.job_max_retries,
        failed_max_age_days=settings.queue.failed_max_age_days,
        failed_max_files=settings.queue.failed_max_files,
    )


def open_household(
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    chat: Chat | None = None,
    clock: Clock | None = None,
    read: Callable[[], Settings] | None = None,
) -> Household:
    """Open the data folder. Nothing heavy is imported or loaded yet; the engine does that when it is started.

    `embedder` and `chat` take the place of those that the settings name.
    `read` reads the settings again when their file changes; left out, those that are the client's business stay.

    Raises:
        StoreError: the database or the queue cannot be opened.
        NotConfiguredError: the embedder or the reranker lacks a setting.
        InvalidInputError: a replaced prompt is wrong.
    """
    # Two BLAS threads that compete for two cores make an embedding three times slower; read when numpy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    clock = clock or SystemClock()
    make_folder(settings.data_dir)
    telemetry = Telemetry()
    models = make_models(settings, clock, telemetry.called, embedder=embedder, chat=chat)
    database = Database(settings.data_dir / DATABASE_NAME)
    again = read or partial(reread, settings)
    return _household(settings, database, models, open_queue(settings, clock), telemetry, clock, again)


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
                for collection in COLLECTIONS:  # reads the index, which is what a damaged file does not survive
                    store.count(collection)
            except BaseException:
                store.close()
                raise
        return store

    return Engine(embedder, open_vectors, clock=clock)


def _household(
    settings: Settings,
    database: Database,
    models: Models,
    queue: Queue,
    telemetry: Telemetry,
    clock: Clock,
    read: Callable[[], Settings],
) -> Household:
    live = LiveOptions(settings.options)
    offline = partial(runs_offline, models.chat)
    options = settings.options
    engine = _engine(settings, models.embedder, clock)
    telemetry.watch_queue(queue.stats)
    stores = make_stores(database)
    record, events, memos, receipts = stores.record, stores.events, stores.memos, stores.receipts
    message_backlog = MessageBacklog(database, settings.embedding.chunk_size)
    indexer = Indexer(engine, [event_backlog(database), profile_backlog(database), message_backlog])
    retrieval = Retrieval(database, engine, indexer, {"events": EVENT_WORDS, "profiles": PROFILE_WORDS})
    reranking = Reranking(models.reranker, lambda: live.query)
    steps, jobs_bell, vectors_bell, foreground, pulse = Steps(), Bell(), Bell(), Foreground(), Pulse()
    profiles = make_profiles(
        settings.data_dir,
        database,
        live,
        clock,
        chat=models.chat,
        prompts=models.prompts,
        discard=lambda rows: indexer.discard("profiles", rows),
        changed=vectors_bell.ring,
    )
    biographer = profiles.biographer
    watch = SettingsWatch(settings, live, read, jobs_bell.ring_here)
    health = Health(
        pulse=pulse,
        troubles=Troubles(
            [live.switched_off, retrieval.state, profiles.merger.state, offline, partial(out_of_order, models.chat)],
            clock,
        ),
        offline=offline,
        settings=watch.notes,
        options=live,
    )
    returned = ReturnedTexts(database, clock)
    closer = TurnCloser(queue, receipts, returned, Corrections(), clock)
    closer.adopt([*queue.jobs("pending"), *queue.jobs("processing")])
    parts_of_historian = make_historian_parts(
        stores,
        profiles,
        engine,
        indexer,
        live,
        Asking(models.chat, models.prompts, telemetry, clock),
        CaptureDesk(queue, receipts, jobs_bell.ring),
    )
    profile_reader = ProfileReader(biographer, profiles.index, retrieval, lambda: live.query, clock)
    rankings = Rankings(settings.data_dir / RANKINGS_NAME)
    leaving = make_leaving(
        settings.data_dir,
        Sources(database, record, events, memos, profiles, queue),
        Traces(engine, indexer, rankings),
        clock,
    )
    parts = Parts(
        record=record,
        closer=closer,
        desk=Desk(closer, jobs_bell, foreground),
        search=EventSearch(events, retrieval, lambda: live.query, clock, reranking),
        profiles=profile_reader,
        versions=profiles.versions,
        status=StatusReader(
            queue, receipts, memos, steps, indexer, health, clock, Merges(profiles.waiting, profiles.desk)
        ),
        failures=FailureKeeper(queue, jobs_bell.ring),
        evidence=EvidenceReader(
            record=record,
            cursors=Cursors(database),
            pager=WordPager(rankings),
            search=MessageSearch(database, engine, indexer, retrieval, reranking),
            chains=ChainReader(record, events, profile_reader),
            clock=clock,
        ),
        indexer=indexer,
        exporter=leaving.exporter,
        intaker=leaving.intaker,
        forgetter=leaving.forgetter,
        captures=parts_of_historian.captures,
    )
    upkeep = Upkeep(
        queue=queue,
        indexer=indexer,
        biographer=biographer,
        merger=profiles.merger,
        upgrader=parts_of_historian.upgrader,
        returned=returned,
        options=live,
        pulse=pulse,
        troubles=health.troubles,
        jobs_bell=jobs_bell,
        vectors_bell=vectors_bell,
        standstill=leaving.standstill,
        finish_forgetting=leaving.forgetter.finish,
    )
    historian = Historian(
        queue=queue,
        pipeline=parts_of_historian.pipeline,
        steps=steps,
        options=live,
        workers=options.historian.workers,
        telemetry=telemetry,
        jobs_bell=jobs_bell,
        foreground=foreground,
        upkeep=upkeep,
    )
    return Household(
        memory=Memory(parts, live),
        historian=historian,
        engine=engine,
        indexer=indexer,
        database=database,
        queue=queue,
        rankings=rankings,
        chat=models.chat,
        prompts=models.prompts,
        reranker=models.reranker,
        profiles=profiles,
        make_store=lambda embedder: vector_store(settings, embedder, clock),
        doctor=make_doctor(settings.data_dir, Patient(database, engine, indexer, biographer, queue), clock),
        folder=settings.data_dir,
        live=live,
        watch=watch,
    )


@asynccontextmanager
async def running(household: Household) -> AsyncGenerator[Household]:
    """Run the historian for the duration of the block, then close the stores."""
    try:
        async with anyio.create_task_group() as tasks:
            await tasks.start(household.historian.run)
            tasks.start_soon(household.watch.run)
            yield household
            tasks.cancel_scope.cancel()
    finally:
        household.close()
