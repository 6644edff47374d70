"""Puts together what takes out, brings back and forgets: a part of the composition root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from historian.clock import Clock
from historian.cursors import Cursors
from historian.database import Database
from historian.engine import Engine
from historian.events import EventStore
from historian.exporting import Exporter
from historian.forget_selection import Selector
from historian.forgetting import Forgetter
from historian.indexer import Indexer
from historian.memos import MemoStore
from historian.parts import LeavingParts
from historian.pinned import PinnedStore
from historian.queue import Queue
from historian.rankings import Rankings
from historian.record import Record
from historian.returned import ReturnedTexts
from historian.standstill import Standstill
from historian.taking_in import Intaker
from historian.trial import Trial
from historian.wiping import Wiper
from server.folder import VECTORS_NAME
from server.profile_parts import ProfileParts


@dataclass(frozen=True, slots=True)
class Sources:
    """Where what is remembered stands."""

    database: Database
    record: Record
    events: EventStore
    memos: MemoStore
    profiles: ProfileParts
    queue: Queue


@dataclass(frozen=True, slots=True)
class Traces:
    """What is derived from that, and keeps traces of what is gone."""

    engine: Engine
    indexer: Indexer
    rankings: Rankings
    returned: ReturnedTexts


def make_leaving(folder: Path, sources: Sources, traces: Traces, standstill: Standstill, clock: Clock) -> LeavingParts:
    """Return these parts for one data folder, whose historian keeps to `standstill`."""
    database, record, events, profiles = sources.database, sources.record, sources.events, sources.profiles
    trial = Trial(folder / VECTORS_NAME, clock)
    wiper = Wiper(folder, database, traces.engine, traces.indexer, traces.rankings, trial)
    forgetter = Forgetter(
        database=database,
        selector=Selector(database, record, events),
        profiles=profiles.store,
        biographer=profiles.biographer,
        queue=sources.queue,
        indexer=traces.indexer,
        returned=traces.returned,
        standstill=standstill,
        wipe=wiper.wipe,
        clock=clock,
    )
    return LeavingParts(
        exporter=Exporter(database, record, events, profiles.store, Cursors(database), clock),
        intaker=Intaker(
            database,
            record,
            events,
            sources.memos,
            PinnedStore(database),
            profiles.store,
            profiles.biographer,
            traces.indexer,
        ),
        forgetter=forgetter,
    )
