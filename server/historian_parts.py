"""Puts together what turns jobs into events: a part of the composition root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from historian.amendments import Amendments
from historian.capturing import CaptureDesk, Capturer
from historian.chat import Chat
from historian.clock import Clock
from historian.database import Database
from historian.engine import Engine
from historian.events import EventStore
from historian.evidence import EvidenceFinder
from historian.indexer import Indexer
from historian.likeness import Likeness
from historian.live import LiveOptions
from historian.memos import MemoStore
from historian.options import HistorianOptions
from historian.pinned import PinnedStore
from historian.pipeline import Pipeline
from historian.receipts import ReceiptStore
from historian.record import Record
from historian.rewording import LineKeeper
from historian.telemetry import Telemetry
from historian.upgrading import Upgrader
from prompts import PromptLibrary
from server.profile_parts import ProfileParts

if TYPE_CHECKING:
    from historian.considering import Considerer
    from historian.scribe import Scribe


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of one data folder that jobs write to."""

    database: Database
    record: Record
    events: EventStore
    memos: MemoStore
    receipts: ReceiptStore


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is asked in which words, who counts what is stored, and what time it is."""

    chat: Chat
    prompts: PromptLibrary
    telemetry: Telemetry
    clock: Clock


@dataclass(frozen=True, slots=True)
class HistorianParts:
    """What does jobs, and what phrases again what rules wrote."""

    pipeline: Pipeline
    upgrader: Upgrader
    amendments: Amendments
    captures: CaptureDesk


def make_stores(database: Database) -> Stores:
    """Return the stores in a database."""
    return Stores(database, Record(database), EventStore(database), MemoStore(database), ReceiptStore(database))


def make_scribe(chat: Chat, prompts: PromptLibrary, retries: Callable[[], int]) -> Scribe:
    """Return who has observations phrased by the chat model; imported late, since its patterns take time."""
    from historian.scribe import Scribe

    return Scribe(chat, prompts, retries)


def make_considerer(chat: Chat, prompts: PromptLibrary, options: Callable[[], HistorianOptions]) -> Considerer:
    """Return who decides what of an exchange is worth remembering; imported late, as the scribe is."""
    from historian.considering import Considerer

    return Considerer(chat, prompts, options)


def make_historian_parts(
    stores: Stores,
    profiles: ProfileParts,
    engine: Engine,
    indexer: Indexer,
    live: LiveOptions,
    asking: Asking,
    captures: CaptureDesk,
) -> HistorianParts:
    """Return what does the jobs of a data folder."""

    def options() -> HistorianOptions:
        return live.historian

    evidence = EvidenceFinder(stores.record, options)
    likeness = Likeness(stores.database, stores.events, engine)
    amendments = Amendments(stores.database)
    keeper = LineKeeper(amendments, stores.events, profiles.biographer, PinnedStore(stores.database))
    clock = asking.clock

    def retries() -> int:
        return live.historian.rewrite_max_retry

    scribe = partial(make_scribe, asking.chat, asking.prompts, retries)
    pipeline = Pipeline(
        database=stores.database,
        record=stores.record,
        events=stores.events,
        memos=stores.memos,
        receipts=stores.receipts,
        waiting=profiles.waiting,
        merger=profiles.merger,
        evidence=evidence,
        likeness=likeness,
        amendments=amendments,
        keeper=keeper,
        scribe=scribe,
        capturer=Capturer(stores.record, partial(make_considerer, asking.chat, asking.prompts, options)),
        capture_desk=captures,
        indexer=indexer,
        telemetry=asking.telemetry,
        clock=clock,
    )
    upgrader = Upgrader(
        amendments=amendments,
        evidence=evidence,
        likeness=likeness,
        keeper=keeper,
        indexer=indexer,
        chat=asking.chat,
        scribe=scribe,
        per_hour=lambda: live.historian.upgrades_per_hour,
        clock=clock,
    )
    return HistorianParts(pipeline, upgrader, amendments, captures)
