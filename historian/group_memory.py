"""The statements of groups, as one request may see and change them: the door to group memory."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from historian.calibration import BORDER
from historian.clock import Clock
from historian.cursors import Cursors
from historian.database import Database
from historian.errors import ConflictError, InvalidInputError, NotFoundError
from historian.evolving import Evolver
from historian.group_model import (
    Evolution,
    FoundMemories,
    FoundMemory,
    GroupMemory,
    GroupSummary,
    MemoryChange,
    MemoryChanges,
    MemoryHistory,
    MemoryPage,
    StatusFilter,
)
from historian.group_runs import GroupRuns
from historian.group_search import GroupSearch
from historian.group_store import GroupStore, StaleStepError
from historian.group_versions import Step, Version
from historian.group_views import change_of, logged_change_of, memory_of
from historian.ids import normalise_id
from historian.messages import epoch_ms, instant_of
from historian.model import Owner, Scope
from historian.session import Session
from historian.text import drop_unusable
from historian.zones import load_zone

MAX_CHANGES = 500
MAX_DAYS = 3_650
MAX_REASON = 500
MAX_QUERY = 4_000
THRESHOLD = BORDER
"""Where unrelated ends, for every embedding model alike."""
BY_HAND = "Changed by hand."
CHANGED = "The statement was changed at this moment; look at it and try again."
_PLACE = struct.Struct(">qq")


@dataclass(frozen=True, slots=True)
class GroupParts:
    """What group memory works with; made once by the composition root."""

    database: Database
    store: GroupStore
    runs: GroupRuns
    search: GroupSearch
    evolver: Evolver
    cursors: Cursors
    clock: Clock
    left: Callable[[list[int]], None]

    def of(
        self,
        scope: Scope,
        session: Session,
        *,
        returned: Callable[[Sequence[str]], None],
        guarded: Callable[[str], str],
    ) -> ScopedGroups:
        """Return group memory as one request may use it.

        `returned` is told the texts that are given back; `guarded` gives a text as it may be stored.
        """
        return ScopedGroups(self, scope, session, returned, guarded)


class ScopedGroups:
    """Group memory on behalf of one request: the group it is in, or in private the groups that are bound.

    `group_id` names which; left out, it is the group of the request, or the only one that is bound. What belongs to any
    other group is not there. Methods block. All raise InvalidInputError where no group is named and none follows,
    NotFoundError for a group or memory out of scope, and StoreError when a store cannot do its work now.
    """

    def __init__(
        self,
        parts: GroupParts,
        scope: Scope,
        session: Session,
        returned: Callable[[Sequence[str]], None],
        guarded: Callable[[str], str],
    ) -> None:
        self._parts = parts
        self._scope = scope
        self._session = session
        self._returned = returned
        self._guarded = guarded

    def summaries(self) -> tuple[GroupSummary, ...]:
        """Return how much is known of each group in scope."""
        found: list[GroupSummary] = []
        for identifier in sorted(self._scope.readable_groups):
            group = Owner("group", identifier)
            last = self._parts.runs.last(group)
            counts = {status: self._parts.store.count(group, status) for status in ("active", "deprecated")}
            began = None if last is None else instant_of(last.started_ms)
            found.append(GroupSummary(identifier, counts["active"], counts["deprecated"], began))
        return tuple(found)

    def evolve(self, group_id: str = "", *, days: float = 1, since: datetime | None = None) -> Evolution:
        """Let the statements evolve by what was said since the last run; a first run looks back `days`, and more than 1
        reads that many again. With `since`, all that was said from then on is read again, however long ago that is.

        Raises:
            ConflictError: a run of this group is under way; the sentence says since when.
            ModelError: the chat model failed; nothing was changed.
        """
        _require_days(days)
        since_ms = None if since is None else epoch_ms(since)
        return self._parts.evolver.evolve(self._group(group_id), days, load_zone(self._session.timezone), since_ms)

    def list(
        self, group_id: str = "", *, status: StatusFilter = "active", limit: int = 20, cursor: str = "", offset: int = 0
    ) -> MemoryPage:
        """Return the newest version of each memory, last changed first; `offset` skips some, a cursor goes on."""
        group = self._group(group_id)
        bound_to = ["group_memories", self._scope.user_id, group.key, status]
        place = _PLACE.unpack(self._parts.cursors.open(cursor, bound_to)) if cursor.strip() else None
        found = self._parts.store.page(group, status, limit + 1, place, offset)
        following = ""
        if len(found) > limit:
            row, last = found[limit - 1]
            following = self._parts.cursors.seal(_PLACE.pack(last.updated_ms, row), bound_to)
        memories = tuple(self._seen(group, version) for _, version in found[:limit])
        self._returned([one.statement for one in memories])
        total = self._parts.store.count(group, status)
        return MemoryPage(group.id, memories, following, total, self._parts.evolver.switched_off())

    def search(self, query: str, group_id: str = "", *, limit: int = 5, threshold: float = THRESHOLD) -> FoundMemories:
        """Return the active statements that answer `query`, best first, with a score of at least `threshold`."""
        group = self._group(group_id)
        hits = self._parts.search.find(group, query[:MAX_QUERY])
        good = [(version, score) for version, score in hits.scored if score >= threshold]
        below = None if good or not hits.scored else hits.scored[0][1]
        found = tuple(FoundMemory(self._seen(group, version), score) for version, score in good[:limit])
        self._returned([one.memory.statement for one in found])
        return FoundMemories(group.id, found, (*self._parts.evolver.switched_off(), *hits.degraded), below)

    def history(self, memory_id: str) -> MemoryHistory:
        """Return all versions and changes of one memory, oldest first."""
        group, _ = self._named(memory_id)
        known = normalise_id(memory_id, "memory_id")
        versions = tuple(self._seen(group, one) for one in self._parts.store.versions(group, known))
        changes = self._parts.store.changes(group, memory_id=known)
        self._returned([one.statement for one in versions])
        return MemoryHistory(known, group.id, versions, tuple(logged_change_of(group, one) for one in changes))

    def changes(self, group_id: str = "", *, days: float = 7) -> MemoryChanges:
        """Return what changed in the last `days`, newest first; confirmations are only counted."""
        _require_days(days)
        group = self._group(group_id)
        since = self._parts.clock.now() - timedelta(days=days)
        logged = self._parts.store.changes(group, since_ms=epoch_ms(since))
        changes = [logged_change_of(group, one) for one in reversed(logged) if one.action != "keep"]
        confirmed = len(logged) - len(changes)
        return MemoryChanges(group.id, since, tuple(changes[:MAX_CHANGES]), confirmed, len(changes) > MAX_CHANGES)

    def restore(self, memory_id: str, *, version: int = 0, reason: str = "") -> MemoryChange:
        """Bring a deleted memory back, or with `version` what an earlier version said, as a new version.

        Raises:
            InvalidInputError: it is active and says that already.
        """
        group, head = self._named(memory_id)
        known = {one.version: one for one in self._parts.store.versions(group, head.memory_id)}
        if version and version not in known:
            raise NotFoundError(f"There is no version {version} of this memory; memory_history lists them.")
        earlier = known[version] if version else None
        if head.status == "active" and (earlier is None or earlier.version == head.version):
            raise InvalidInputError("The memory is active and says that already; name an earlier version.")
        return self._done(group, self._parts.evolver.moment().restore(head, earlier, self._reason(reason)))

    def delete(self, memory_id: str, *, reason: str = "") -> MemoryChange:
        """Retire a memory: it is no longer found, its versions stay and it can be restored.

        Raises:
            InvalidInputError: it is deleted already.
        """
        group, head = self._named(memory_id)
        if head.status == "deprecated":
            raise InvalidInputError("The memory is deleted already; restore_memory brings it back.")
        return self._done(group, self._parts.evolver.moment().delete(head, self._reason(reason)))

    def set_strength(self, memory_id: str, strength: float, *, reason: str = "") -> MemoryChange:
        """Give a memory another strength, clamped to 0..1; it fades from there."""
        group, head = self._named(memory_id)
        return self._done(group, self._parts.evolver.moment().set_strength(head, strength, self._reason(reason)))

    def _reason(self, reason: str) -> str:
        return self._guarded(drop_unusable(" ".join(reason.split()))[:MAX_REASON]) or BY_HAND

    def _done(self, group: Owner, step: Step) -> MemoryChange:
        try:
            with self._parts.database.write() as connection:
                gone = self._parts.store.apply(connection, group, step)
        except StaleStepError:
            raise ConflictError(CHANGED) from None
        self._parts.left(gone)
        return change_of(group, step)

    def _seen(self, group: Owner, version: Version) -> GroupMemory:
        return memory_of(group, version, self._parts.evolver.moment())

    def _named(self, memory_id: str) -> tuple[Owner, Version]:
        """Return a memory and its group. Raises NotFoundError where no group in scope has it."""
        known = normalise_id(memory_id, "memory_id")
        for identifier in sorted(self._scope.readable_groups):
            group = Owner("group", identifier)
            head = self._parts.store.head(group, known)
            if head is not None:
                return group, head
        raise NotFoundError("There is no such memory in this scope; group_memories lists those there are.")

    def _group(self, group_id: str) -> Owner:
        readable = self._scope.readable_groups
        if not group_id.strip():
            if len(readable) == 1:
                return Owner("group", *readable)
            which = "name one with target_group_id" if readable else "this needs a group"
            raise InvalidInputError(f"This conversation is in no group; {which}.")
        identifier = normalise_id(group_id, "target_group_id")
        if identifier not in readable:
            raise NotFoundError("There is no such group in this scope.")
        return Owner("group", identifier)


def _require_days(days: float) -> None:
    if not 0 < days <= MAX_DAYS:
        raise InvalidInputError(f"days must be more than 0 and at most {MAX_DAYS}.")
