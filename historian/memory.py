"""The memory, and the one door to it: `Memory.of(scope)` gives what one request may see and do, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

from historian.context_views import ContextView
from historian.errors import InvalidInputError
from historian.evidence_reading import MAX_QUERY, ScopedEvidence
from historian.group_memory import ScopedGroups
from historian.ids import normalise_id
from historian.live import LiveOptions
from historian.looking import Look
from historian.messages import epoch_ms
from historian.model import EntityType, Owner, Scope
from historian.narrowing import in_order
from historian.parts import Parts
from historian.pinned import ScopedNotes
from historian.profile_reading import entities_of, named_entity, no_profile
from historian.profile_versions import History, Rollback
from historian.recollection import ScopedRecollection
from historian.scoped_reviews import ScopedReviews
from historian.searching import EventQuery
from historian.session import Session
from historian.views import FoundEvents, FoundProfiles, Memo, ProfileView, Status
from historian.writing import ScopedWriting
from historian.zones import load_zone, parse_bounds

if TYPE_CHECKING:
    from historian.exporting import ExportPage
    from historian.forgetting import Forgotten


class Memory:
    """Everything that is remembered, for everyone. Only `of` leads to any of it."""

    def __init__(self, parts: Parts, options: LiveOptions) -> None:
        self._parts = parts
        self._options = options

    def of(self, scope: Scope, session: Session | None = None) -> ScopedMemory:
        """Return the memory as one request may use it."""
        return ScopedMemory(self._parts, self._options, scope, session or Session())


class ScopedMemory(ScopedWriting):
    """The memory on behalf of one request. No argument of any method names who asks; targets only narrow.

    Methods block; call them from a worker thread, all but `hand_in`. All raise InvalidInputError for arguments that the
    caller could have known to be wrong, and StoreError when a store cannot do its work now.
    """

    def awaited(self) -> AbstractContextManager[None]:
        """Say that somebody waits for what is done in the block: background work steps aside."""
        return self._parts.desk.foreground.call()

    @property
    def asker(self) -> str:
        """The id of the user who asks."""
        return self._scope.user_id

    @property
    def evidence(self) -> ScopedEvidence:
        """The raw messages, as this request may read them."""
        return self._parts.evidence.of(self._scope, self._session)

    @property
    def look(self) -> Look:
        """The memory as a person looks at it, who is no agent: nothing of that is an echo later."""
        return self._parts.looking.of(self._scope, self._session)

    @property
    def recollection(self) -> ScopedRecollection:
        """Memory views with verified evidence, as this request may have them."""
        return ScopedRecollection(self._parts, self._session, self.evidence)

    @property
    def groups(self) -> ScopedGroups:
        """The statements about groups, as this request may see and change them."""
        closer, scope = self._parts.closer, self._scope
        return self._parts.groups.of(
            scope,
            self._session,
            returned=lambda texts: closer.note_returned(scope, texts),
            guarded=lambda reason: self.guard().text(reason, "reason"),
        )

    def search_events(
        self,
        query: str,
        *,
        target_user_id: str | None = None,
        target_group_id: str | None = None,
        top_k: int | None = None,
        time_from: str | None = None,
        time_to: str | None = None,
        automatic: bool = False,
    ) -> FoundEvents:
        """Return what is remembered about `query`, best first.

        `time_from` is inclusive, `time_to` exclusive, but a date alone includes its day.
        """
        zone = load_zone(self._session.timezone)
        since, until = parse_bounds(time_from, time_to, zone, ("time_from", "time_to"))
        warnings: tuple[str, ...] = ()
        if since is not None and until is not None and since > until:
            since, until = until, since
            warnings = ("time_from was after time_to; they were swapped.",)
        default = self._options.query.auto_top_k if automatic else self._options.query.tool_default_top_k
        found = self._parts.search.search(
            EventQuery(
                text=query[:MAX_QUERY],
                reach=self._scope.reach(_identifier(target_group_id, "target_group_id")),
                top_k=top_k or default,
                target_user_id=_identifier(target_user_id, "target_user_id"),
                since=since,
                until=until,
                automatic=automatic,
            )
        )
        self._parts.closer.note_returned(self._scope, [item.event.text for item in found.events])
        return FoundEvents(found.events, (*self._options.switched_off(), *found.degraded), warnings + found.warnings)

    def profile(self, entity_type: EntityType, entity_id: str | None) -> ProfileView:
        """Return a profile as this request may see it; without an id, that of the asker or of this group.

        Raises:
            NotFoundError: there is no such profile in scope.
        """
        view = self._parts.profiles.read(self._scope, entity_type, _identifier(entity_id, "entity_id"))
        self._parts.closer.note_returned(self._scope, [line.text for line in view.lines])
        return replace(view, warnings=(*self._options.switched_off(), *view.warnings))

    def profile_history(self, entity_type: EntityType, entity_id: str | None) -> History:
        """Return the kept versions of the own profile or that of a group of this request.

        Raises:
            NotFoundError: there is no such profile that this request may change.
        """
        return self._parts.versions.history(self._changeable(entity_type, entity_id))

    def rollback_profile(self, entity_type: EntityType, entity_id: str | None, revision: str) -> Rollback:
        """Make a kept version of such a profile the present one, by default the newest.

        Raises:
            NotFoundError: there is no such profile that this request may change, or no such version.
            ConflictError: the file was edited at this moment.
        """
        return self._parts.versions.rollback(self._changeable(entity_type, entity_id), revision)

    @property
    def reviews(self) -> ScopedReviews:
        """The merges that are held for a person, of the profiles that this request may change."""
        return ScopedReviews(self._parts.reviews, self._scope, lambda reason: self.guard().text(reason, "reason"))

    def search_profiles(
        self,
        query: str,
        *,
        entity_type: EntityType | None = None,
        entity_id: str | None = None,
        top_k: int | None = None,
    ) -> FoundProfiles:
        """Return the profiles that fit `query`, best first."""
        target = _identifier(entity_id, "entity_id")
        found = self._parts.profiles.search(
            self._scope, query[:MAX_QUERY], entity_type, target, top_k or self._options.query.profile_top_k
        )
        self._parts.closer.note_returned(self._scope, [hit.snippet for hit in found.profiles])
        return replace(found, degraded=(*self._options.switched_off(), *found.degraded))

    def status(self, job_id: str | None = None) -> Status:
        """Return how the memory is doing, as far as it concerns this scope.

        Raises:
            NotFoundError: there is no such job in scope.
        """
        return self._parts.status.read(
            self._scope,
            job_id,
            memos=self._options.now.context.recent_memos_inject_k,
            timezone=self._session.timezone,
        )

    def export(self, cursor: str, limit: int) -> ExportPage:
        """Return the next `limit` lines of everything that is this request's own; an empty cursor begins."""
        return self._parts.leaving().exporter.page(self._scope, cursor, limit)

    def forget(
        self,
        *,
        message_ids: Sequence[str] = (),
        event_id: str | None = None,
        conversation_id: str | None = None,
        since: str | None = None,
        until: str | None = None,
        query: str = "",
        everything: bool = False,
        confirm: str = "",
    ) -> Forgotten:
        """Say what would be forgotten, and with the token that this gives, forget it and whatever rests on it.

        What is meant is named by ids, or by all of conversation, time range (as in `search_events`) and search, or it
        is everything that is this request's own.

        Raises:
            NotFoundError: an id is unknown in this scope.
            ConflictError: the token is not for what would be forgotten now.
        """
        from historian.forget_selection import Selection

        zone = load_zone(self._session.timezone)
        since_at, until_at, notes = in_order(*parse_bounds(since, until, zone))
        selection = Selection(
            message_ids=tuple(normalise_id(one, "message id") for one in message_ids),
            event_id=_identifier(event_id, "event_id"),
            conversation_id=_identifier(conversation_id, "conversation_id"),
            since_ms=None if since_at is None else epoch_ms(since_at),
            until_ms=None if until_at is None else epoch_ms(until_at),
            query=query[:MAX_QUERY].strip(),
            everything=everything,
        )
        done = self._parts.leaving().forgetter.forget(self._scope, selection, confirm)
        return replace(done, notes=(*notes, *done.notes))

    def context(self, message: str = "") -> ContextView:
        """Return what to know before answering a message, or going on with the conversation, within the budget."""
        view = self._parts.context.build(self._scope, self._session, message)
        self._parts.closer.note_returned(self._scope, [one.text for part in view.sections for one in part.items])
        return view

    @property
    def pinned(self) -> ScopedNotes:
        """The notes that are pinned here."""
        return self._parts.pinned.of(self._scope, self.guard)

    def retry_jobs(self, job_id: str | None = None) -> list[str]:
        """Have one failed job of this scope done again with a fresh count, or all of them; return their ids.

        Raises:
            NotFoundError: there is no such failed job in scope.
        """
        return self._parts.failures.retry(self._scope, job_id)

    def discard_jobs(self, job_id: str | None = None) -> list[str]:
        """Throw one failed job of this scope away, or all of them; return their ids.

        Raises:
            NotFoundError: there is no such failed job in scope.
        """
        return self._parts.failures.discard(self._scope, job_id)

    def memos(self, limit: int) -> Sequence[Memo]:
        """Return the newest memos of this scope, newest first, also those of turns that still wait."""
        return self._parts.status.memos(self._scope, limit)

    def _changeable(self, entity_type: EntityType, entity_id: str | None) -> Owner:
        entity = named_entity(self._scope, entity_type, _identifier(entity_id, "entity_id"))
        if entity == Owner("user", self._scope.user_id) and self._scope.group_id is not None:
            raise InvalidInputError(
                "In a group your own profile keeps its past to itself; ask in a private conversation."
            )
        if entity not in entities_of(self._scope):
            raise no_profile(entity)
        return entity


def _identifier(raw: str | None, what: str) -> str | None:
    return normalise_id(raw, what) if raw is not None and raw.strip() else None
