"""Puts together what remembers groups: a part of the composition root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from historian.cursors import Cursors
from historian.evolve_schedule import EvolveSchedule
from historian.evolve_window import WindowReader
from historian.evolving import Books, Deciding, Evolver
from historian.group_memory import GroupParts
from historian.group_runs import GroupRuns
from historian.group_search import GroupSearch, OfferedStatements
from historian.group_store import GroupStore
from historian.standstill import Standstill
from server.finding_parts import FindingParts
from server.folder import LOCKS_NAME
from server.ground import Ground

if TYPE_CHECKING:
    from historian.evolve_model import EvolveModel


@dataclass(frozen=True, slots=True)
class GroupFloor:
    """Group memory as requests use it, what of it goes into the context of a turn, and when groups evolve."""

    parts: GroupParts
    offered: OfferedStatements
    schedule: EvolveSchedule


def make_groups(ground: Ground, finding: FindingParts, standstill: Standstill) -> GroupFloor:
    """Return these parts for one data folder."""
    database, clock, live = ground.stores.database, ground.clock, ground.live

    def left(rows: list[int]) -> None:
        finding.indexer.discard("group_memories", rows)
        ground.signals.vectors_bell.ring()

    store = GroupStore(database)
    runs = GroupRuns(database, ground.settings.data_dir / LOCKS_NAME)
    windows = WindowReader(database, ground.stores.record, runs, lambda: live.now.group)
    evolver = Evolver(Books(database, store, runs, windows), _deciding(ground), live, standstill, clock, left)
    search = GroupSearch(store, finding.retrieval, finding.engine)
    return GroupFloor(
        parts=GroupParts(database, store, runs, search, evolver, Cursors(database), clock, left),
        offered=OfferedStatements(store, search, evolver.moment),
        schedule=EvolveSchedule(database, runs, windows, evolver, lambda: live.now.group, clock),
    )


def _deciding(ground: Ground) -> Deciding:
    chat, prompts = ground.models.chat, ground.models.prompts

    def model() -> EvolveModel:
        from historian.evolve_model import EvolveModel

        return EvolveModel(chat, prompts, lambda: ground.live.historian.rewrite_max_retry)

    return Deciding(lambda: chat.configured("evolve"), model)
