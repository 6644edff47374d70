"""Puts together what shows the memory to people: a part of the composition root."""

from __future__ import annotations

from historian.clock import Clock
from historian.cursors import Cursors
from historian.figures import FigureReader
from historian.group_memory import GroupParts
from historian.looking import Looking
from historian.profile_reading import ProfileReader
from historian.searching import EventSearch
from historian.status import StatusReader
from historian.timeline import TimelineReader
from server.historian_parts import Stores


def make_looking(
    stores: Stores,
    search: EventSearch,
    profiles: ProfileReader,
    status: StatusReader,
    groups: GroupParts,
    clock: Clock,
) -> Looking:
    """Return these parts over the stores of one data folder."""
    return Looking(
        timeline=TimelineReader(stores.record, stores.events, Cursors(stores.database)),
        search=search,
        profiles=profiles,
        status=status,
        figures=FigureReader(stores.events, stores.receipts, clock),
        groups=groups,
    )
