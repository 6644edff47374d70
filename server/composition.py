"""The composition root: from settings to a memory that runs. Only here are stores and workers put together.

It goes from the ground up: stores and signals, what finds, what keeps profiles, what does jobs, what answers.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from historian.baton import Baton
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
from historian.embed import Embedder
from historian.evidence_reading import EvidenceReader
from historian.failures import FailureKeeper
from historian.foreground import Foreground
from historian.live import LiveOptions
from historian.memory import Memory
from historian.message_search import MessageSearch
from historian.parts import LeavingParts, Parts
from historian.profile_reading import ProfileReader
from historian.queue import Queue
from historian.recall_parts import RecallParts
from historian.returned import ReturnedTexts
from historian.searching import EventSearch
from historian.standstill import Standstill
from historian.status import Health, Merges, StatusReader
from historian.store_outage import StoreOutage
from historian.telemetry import Telemetry
from historian.troubles import Source, Troubles
from historian.upkeep import Upkeep
from historian.word_paging import WordPager
from historian.worker import Historian
from server.context_parts import make_context, make_notes
from server.finding_parts import FindingParts, make_finding, vector_store
from server.folder import DATABASE_NAME, QUEUES_NAME, make_folder
from server.ground import Ground, Signals
from server.group_parts import GroupFloor, make_groups
from server.historian_parts import Asking, HistorianParts, make_historian_parts, make_stores
from server.household import Household
from server.late_parts import finish_forgetting, late_doctor, late_leaving
from server.looking_parts import make_looking
from server.models import asks_endpoints, make_models
from server.profile_parts import ProfileParts, make_profiles
from server.reload import SettingsWatch
from server.seats import Seats
from server.settings import Settings, reread


@dataclass(frozen=True, slots=True)
class Floors:
    """The parts that stand on the ground, in the order in which they need each other."""

    finding: FindingParts
    profiles: ProfileParts
    returned: ReturnedTexts
    doing: HistorianParts
    standstill: Standstill
    leaving: Callable[[], LeavingParts]
    groups: GroupFloor
    health: Health


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
    live, signals = LiveOptions(settings.options), Signals(StoreOutage(clock), Baton(Foreground()))
    models = make_models(settings, clock, telemetry.called, signals.baton.laid_down, embedder=embedder, chat=chat)
    ground = Ground(
        settings=settings,
        clock=clock,
        live=live,
        models=models,
        telemetry=telemetry,
        queue=open_queue(settings, clock),
        stores=make_stores(Database(settings.data_dir / DATABASE_NAME)),
        watch=SettingsWatch(settings, live, read or partial(reread, settings), signals.jobs_bell.ring_here),
        signals=signals,
    )
    telemetry.watch_queue(ground.queue.stats)
    return _household(ground, _floors(ground))


def _floors(ground: Ground) -> Floors:
    finding = make_finding(ground.settings, ground.stores.database, ground.models, ground.live, ground.clock)
    profiles = _profiles(ground, finding)
    returned = ReturnedTexts(ground.stores.database, ground.clock)
    standstill = Standstill()
    return Floors(
        finding=finding,
        profiles=profiles,
        returned=returned,
        doing=_doing(ground, finding, profiles),
        standstill=standstill,
        leaving=late_leaving(ground, finding, profiles, returned, standstill),
        groups=make_groups(ground, finding, standstill),
        health=_health(ground, finding, profiles),
    )


def _profiles(ground: Ground, finding: FindingParts) -> ProfileParts:
    return make_profiles(
        ground.settings.data_dir,
        ground.stores.database,
        ground.live,
        ground.clock,
        chat=ground.models.chat,
        prompts=ground.models.prompts,
        discard=lambda rows: finding.indexer.discard("profiles", rows),
        changed=ground.signals.vectors_bell.ring,
    )


def _doing(ground: Ground, finding: FindingParts, profiles: ProfileParts) -> HistorianParts:
    models = ground.models
    return make_historian_parts(
        ground.stores,
        profiles,
        finding.engine,
        finding.indexer,
        ground.live,
        Asking(models.chat, models.prompts, ground.telemetry, ground.clock),
        CaptureDesk(ground.queue, ground.stores.receipts, ground.signals.jobs_bell.ring),
    )


def _health(ground: Ground, finding: FindingParts, profiles: ProfileParts) -> Health:
    offline = partial(runs_offline, ground.models.chat, is_half_set=bool(ground.settings.chat.base_url))
    away = partial(out_of_order, ground.models.chat)
    waits = ground.signals.outage.state
    searching, ranking, merging = finding.retrieval.state, finding.reranking.state, profiles.merger.state
    sources: list[Source] = [ground.live.switched_off, searching, ranking, merging, offline, away, waits]
    return Health(
        pulse=ground.signals.pulse,
        troubles=Troubles(sources, ground.clock),
        offline=offline,
        settings=ground.watch.notes,
        options=ground.live,
    )


def _parts(ground: Ground, floors: Floors) -> Parts:
    stores, queue, signals, profiles = ground.stores, ground.queue, ground.signals, floors.profiles
    closer = TurnCloser(queue, stores.receipts, floors.returned, Corrections(), ground.clock)
    closer.adopt([*queue.jobs("pending"), *queue.jobs("processing")])
    finding = floors.finding
    reader = ProfileReader(
        profiles.biographer, profiles.index, finding.retrieval, lambda: ground.live.query, ground.clock
    )
    search = EventSearch(stores.events, finding.retrieval, lambda: ground.live.query, ground.clock, finding.reranking)
    status = _status(ground, floors)
    return Parts(
        record=stores.record,
        closer=closer,
        desk=Desk(closer, signals.jobs_bell, signals.baton.foreground),
        search=search,
        profiles=reader,
        versions=profiles.versions,
        reviews=profiles.desk,
        status=status,
        failures=FailureKeeper(queue, signals.jobs_bell.ring),
        evidence=_evidence(ground, finding, reader),
        indexer=finding.indexer,
        leaving=floors.leaving,
        captures=floors.doing.captures,
        looking=make_looking(stores, search, reader, status, floors.groups.parts, ground.clock),
        context=make_context(ground, search, reader, status, floors.groups.offered),
        pinned=make_notes(ground),
        recalling=RecallParts(ground.models.chat, ground.models.prompts, ground.live, ground.clock),
        groups=floors.groups.parts,
    )


def _status(ground: Ground, floors: Floors) -> StatusReader:
    stores, profiles = ground.stores, floors.profiles
    return StatusReader(
        ground.queue,
        stores.receipts,
        stores.memos,
        ground.signals.steps,
        floors.finding.indexer,
        floors.health,
        ground.clock,
        Merges(profiles.waiting, profiles.desk),
    )


def _evidence(ground: Ground, finding: FindingParts, profiles: ProfileReader) -> EvidenceReader:
    stores = ground.stores
    return EvidenceReader(
        record=stores.record,
        cursors=Cursors(stores.database),
        pager=WordPager(finding.rankings),
        search=MessageSearch(stores.database, finding.engine, finding.retrieval, finding.reranking),
        chains=ChainReader(stores.record, stores.events, profiles),
        clock=ground.clock,
        turn=finding.retrieval.turn,
    )


def _upkeep(ground: Ground, floors: Floors) -> Upkeep:
    return Upkeep(
        queue=ground.queue,
        indexer=floors.finding.indexer,
        biographer=floors.profiles.biographer,
        merger=floors.profiles.merger,
        upgrader=floors.doing.upgrader,
        returned=floors.returned,
        options=ground.live,
        pulse=ground.signals.pulse,
        troubles=floors.health.troubles,
        jobs_bell=ground.signals.jobs_bell,
        vectors_bell=ground.signals.vectors_bell,
        standstill=floors.standstill,
        evolve_schedule=floors.groups.schedule,
        finish_forgetting=partial(finish_forgetting, ground.stores.database, floors.leaving),
    )


def _historian(ground: Ground, floors: Floors) -> Historian:
    return Historian(
        queue=ground.queue,
        pipeline=floors.doing.pipeline,
        steps=ground.signals.steps,
        options=ground.live,
        workers=ground.settings.options.historian.workers,
        telemetry=ground.telemetry,
        jobs_bell=ground.signals.jobs_bell,
        baton=ground.signals.baton,
        upkeep=_upkeep(ground, floors),
        outage=ground.signals.outage,
    )


def _household(ground: Ground, floors: Floors) -> Household:
    settings, clock, finding, profiles = ground.settings, ground.clock, floors.finding, floors.profiles
    database, models, asks = ground.stores.database, ground.models, asks_endpoints(ground.settings)
    return Household(
        memory=Memory(_parts(ground, floors), ground.live),
        historian=_historian(ground, floors),
        engine=finding.engine,
        indexer=finding.indexer,
        database=database,
        queue=ground.queue,
        rankings=finding.rankings,
        chat=models.chat,
        prompts=models.prompts,
        reranker=models.reranker,
        profiles=profiles,
        make_store=lambda embedder: vector_store(settings, embedder, clock),
        make_doctor=late_doctor(ground, floors.finding, floors.profiles),
        folder=settings.data_dir,
        live=ground.live,
        watch=ground.watch,
        health=floors.health,
        seats=Seats(lambda: asks or not finding.engine.ready.is_set()),
    )
