"""The memory as a person looks at it: what is shown here was handed to no agent, so that nothing of it is an echo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from historian.errors import InvalidInputError
from historian.evidence_reading import MAX_QUERY
from historian.figures import DayFigures, FigureReader
from historian.group_memory import GroupParts, ScopedGroups
from historian.ids import normalise_id
from historian.model import EntityType, Owner, Scope
from historian.profile_reading import ProfileReader, entities_of
from historian.searching import EventQuery, EventSearch
from historian.session import Session
from historian.status import StatusReader
from historian.timeline import Kind, TimelinePage, TimelineReader
from historian.views import FoundEvents, JobStatus, ProfileView
from historian.zones import load_zone

JOBS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Looking:
    """What looking at the memory works with; `of` binds it to a request."""

    timeline: TimelineReader
    search: EventSearch
    profiles: ProfileReader
    status: StatusReader
    figures: FigureReader
    groups: GroupParts

    def of(self, scope: Scope, session: Session) -> Look:
        """Return the memory as one request may look at it."""
        return Look(self, scope, session)


class Look:
    """The memory on behalf of a person who looks. No argument names who asks; nothing here changes anything.

    Methods block. All raise InvalidInputError for arguments that could have been known to be wrong, and StoreError
    when a store cannot do its work now.
    """

    def __init__(self, looking: Looking, scope: Scope, session: Session) -> None:
        self._looking = looking
        self._scope = scope
        self._session = session

    def timeline(self, kind: Kind = "all", *, size: int = 50, cursor: str = "") -> TimelinePage:
        """Return messages and events newest first, or one of both."""
        return self._looking.timeline.page(self._scope, kind, size, cursor)

    def events_about(self, query: str, top_k: int) -> FoundEvents:
        """Return what is remembered about `query`, best first."""
        return self._looking.search.search(EventQuery(query[:MAX_QUERY], self._scope.reach(), top_k))

    def profile(self, entity_type: EntityType, entity_id: str) -> ProfileView:
        """Return a profile as this request may see it.

        Raises:
            NotFoundError: there is no such profile in scope.
        """
        return self._looking.profiles.read(self._scope, entity_type, normalise_id(entity_id, "entity_id"))

    def entities(self) -> list[Owner]:
        """Return whose profiles this request may see and change: the own one and those of its groups."""
        return entities_of(self._scope)

    @property
    def groups(self) -> ScopedGroups:
        """What is known of the groups of this request, to be read; `ScopedMemory.groups` changes it."""
        return self._looking.groups.of(self._scope, self._session, returned=_to_nobody, guarded=_refused)

    def jobs(self) -> list[JobStatus]:
        """Return the jobs that wait or are being done, the oldest first, then those that failed, the newest first."""
        return self._looking.status.jobs(self._scope, JOBS_SHOWN)

    def days(self, count: int) -> tuple[DayFigures, ...]:
        """Return the figures of the last days up to today, the oldest first."""
        return self._looking.figures.days(self._scope, load_zone(self._session.timezone), count)


def _to_nobody(_: Sequence[str]) -> None:
    """Take note of nothing."""


def _refused(_: str) -> str:
    raise InvalidInputError("Looking changes nothing.")
