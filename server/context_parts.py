"""Puts together what is offered before a message is answered: a part of the composition root."""

from __future__ import annotations

from historian.context import ContextReader, Shelves
from historian.group_statements import GroupStatements
from historian.pinned import NoteKeeper, PinnedStore
from historian.profile_reading import ProfileReader
from historian.searching import EventSearch
from historian.status import StatusReader
from server.ground import Ground


def make_context(
    ground: Ground, search: EventSearch, profiles: ProfileReader, status: StatusReader, statements: GroupStatements
) -> ContextReader:
    """Return what gathers the context of a turn."""
    stores = ground.stores
    shelves = Shelves(
        record=stores.record,
        events=stores.events,
        search=search,
        profiles=profiles,
        pinned=PinnedStore(stores.database),
        statements=statements,
        memos=status.memos,
    )
    return ContextReader(shelves, ground.live, ground.clock)


def make_notes(ground: Ground) -> NoteKeeper:
    """Return what keeps pinned notes."""
    return NoteKeeper(PinnedStore(ground.stores.database), ground.live, ground.clock)
