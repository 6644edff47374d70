"""The memory, and the one door to it: `Memory.of(scope)` gives what one request may see and do, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Unpack, cast

from historian.capturing import CaptureDesk
from historian.closing import Closing, TurnCloser
from historian.desk import Desk
from historian.errors import InvalidInputError, NotFoundError, StoreError
from historian.evidence_reading import MAX_QUERY, EvidenceReader, ScopedEvidence
from historian.exporting import Exporter, ExportPage
from historian.failures import FailureKeeper
from historian.forget_selection import Selection
from historian.forgetting import Forgetter, Forgotten
from historian.guard import Guard
from historian.ids import normalise_id
from historian.indexer import Indexer
from historian.intake import message_from
from historian.live import LiveOptions
from historian.messages import epoch_ms
from historian.model import EntityType, Message, Owner, Scope
from historian.profile_reading import ProfileReader, entities_of, named_entity, no_profile
from historian.profile_versions import History, ProfileVersions, Rollback
from historian.record import Record
from historian.searching import EventQuery, EventSearch
from historian.session import Session
from historian.status import StatusReader
from historian.taking_in import Intaker, TakenIn
from historian.turn import Receipt, Turn, TurnFields
from historian.views import AppendResult, FoundEvents, FoundProfiles, Memo, ProfileView, Status
from historian.zones import load_zone, parse_instant

FORGOTTEN_BEFORE = "{} of them were forgotten before and stay so; `shiguan import --again` brings such messages back."
GUARDED = ("memo", "observations", "source_message", "recent_messages", "location")
"""What of a turn is looked through for credentials."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a scoped memory works with; made once by the composition root."""

    record: Record
    closer: TurnCloser
    desk: Desk
    search: EventSearch
    profiles: ProfileReader
    versions: ProfileVersions
    status: StatusReader
    failures: FailureKeeper
    evidence: EvidenceReader
    indexer: Indexer
    exporter: Exporter
    intaker: Intaker
    forgetter: Forgetter
    captures: CaptureDesk


class Memory:
    """Everything that is remembered, for everyone. Only `of` leads to any of it."""

    def __init__(self, parts: Parts, options: LiveOptions) -> None:
        self._parts = parts
        self._options = options

    def of(self, scope: Scope, session: Session | None = None) -> ScopedMemory:
        """Return the memory as one request may use it."""
        return ScopedMemory(self._parts, self._options, scope, session or Session())


class ScopedMemory:
    """The memory on behalf of one request. No argument of any method names who asks; targets only narrow.

    Methods block; call them from a worker thread, all but `hand_in`. All raise InvalidInputError for arguments that the
    caller could have known to be wrong, and StoreError when a store cannot do its work now.
    """

    def __init__(self, parts: Parts, options: LiveOptions, scope: Scope, session: Session) -> None:
        self._parts = parts
        self._options = options
        self._scope = scope
        self._session = session

    @property
    def scope(self) -> Scope:
        """On whose behalf it acts."""
        return self._scope

    def end(self, **fields: Unpack[TurnFields]) -> Receipt:
        """Close a turn: check it, write one job durably, and return the receipt."""
        return self._parts.desk.close(self._closing(fields))

    async def hand_in(self, **fields: Unpack[TurnFields]) -> Receipt:
        """Close a turn as `end` does, for the event loop: turns that come at once are written together."""
        return await self._parts.desk.hand_in(self._closing(fields))

    def _closing(self, fields: TurnFields) -> Closing:
        def make() -> tuple[Turn, str]:
            guard = self.guard()
            texts = {name: guard.value(text, name) for name in GUARDED if (text := fields.get(name))}
            turn = Turn.checked(self._options.historian, **cast("TurnFields", fields | texts))
            if not self._options.enabled:
                return turn.memo_only(), _unkept(turn)
            self._require_messages(turn.message_ids)
            return turn, " ".join(guard.notes)

        return Closing(self._scope, self._session, make)

    def guard(self) -> Guard:
        """Return what every text passes that is written on behalf of this request, one for each call."""
        return Guard(self._options.now.guard.credentials)

    def append(self, messages: Sequence[object], *, consider: bool = False, again: bool = False) -> AppendResult:
        """Record chat turns under the owner of this request; a bad one is named and never stops the rest.

        With `consider` the historian decides behind it whether they hold anything worth remembering. That this cannot
        be noted now never breaks the append. What was forgotten comes back only with `again`.
        """
        zone, guard = load_zone(self._session.timezone), self.guard()
        good: list[Message] = []
        failed: list[tuple[int, str]] = []
        for index, raw in enumerate(messages):
            try:
                good.append(message_from(guard.value(raw, f"message {index}"), zone))
            except InvalidInputError as error:
                failed.append((index, str(error)))
        appended = self._parts.record.append(self._scope.owner, good, again=again)
        self._parts.indexer.discard("messages", appended.left_rows)
        jobs, notes = self._considered(good) if consider else ((), ())
        forgotten = appended.forgotten
        if forgotten:
            notes = (*notes, FORGOTTEN_BEFORE.format(forgotten))
        ignored = appended.ignored + forgotten
        return AppendResult(appended.inserted, ignored, tuple(failed), (*guard.notes, *notes), jobs, forgotten)

    def _considered(self, messages: Sequence[Message]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the jobs in which messages are considered, and what to say where they are not."""
        try:
            return tuple(self._parts.captures.hand_in(self._scope, self._session, messages)), ()
        except StoreError as error:
            return (), (f"The messages are recorded, but they are not considered: {error}",)

    @property
    def evidence(self) -> ScopedEvidence:
        """The raw messages, as this request may read them."""
        return self._parts.evidence.of(self._scope, self._session)

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
        """Return what is remembered about `query`, best first; `time_from` is inclusive, `time_to` exclusive."""
        zone = load_zone(self._session.timezone)
        since = _bound(time_from, zone, "time_from")
        until = _bound(time_to, zone, "time_to")
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
        return self._parts.exporter.page(self._scope, cursor, limit)

    def take_in(self, lines: Sequence[object], *, again: bool = False) -> TakenIn:
        """Store lines of an export, as far as they are of this user or these groups; each once, a bad one is named.

        What was forgotten comes back only with `again`.
        """
        guard, good = self.guard(), list[tuple[int, object]]()
        failed: list[tuple[int, str]] = []
        for index, line in enumerate(lines):
            try:
                good.append((index, guard.value(line, f"line {index}")))
            except InvalidInputError as error:
                failed.append((index, str(error)))
        taken = self._parts.intaker.take(self._scope, [line for _, line in good], again=again)
        failed += [(good[at][0], reason) for at, reason in taken.failed]
        return replace(taken, failed=tuple(sorted(failed)))

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

        What is meant is named by ids, or by all of conversation, time range (`until` exclusive) and search, or it is
        everything that is this request's own.

        Raises:
            NotFoundError: an id is unknown in this scope.
            ConflictError: the token is not for what would be forgotten now.
        """
        zone = load_zone(self._session.timezone)
        since_at, until_at = _bound(since, zone, "since"), _bound(until, zone, "until")
        selection = Selection(
            message_ids=tuple(normalise_id(one, "message id") for one in message_ids),
            event_id=_identifier(event_id, "event_id"),
            conversation_id=_identifier(conversation_id, "conversation_id"),
            since_ms=None if since_at is None else epoch_ms(since_at),
            until_ms=None if until_at is None else epoch_ms(until_at),
            query=query[:MAX_QUERY].strip(),
            everything=everything,
        )
        return self._parts.forgetter.forget(self._scope, selection, confirm)

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

    def _require_messages(self, message_ids: Sequence[str]) -> None:
        if not message_ids:
            return
        readable = self._parts.record.within(self._scope.reach())
        known = {stored.message.message_id for stored in readable.get(message_ids)}
        aliases = {alias for alias in message_ids if alias not in known and readable.get([alias])}
        missing = [message_id for message_id in message_ids if message_id not in known | aliases]
        if missing:
            raise NotFoundError(f"There is no message {missing[0]!r} in this scope; leave it out of message_ids.")


def _unkept(turn: Turn) -> str:
    """Say what becomes of a turn while the memory is switched off."""
    what = "its memo is kept" if turn.memo else "nothing of the turn is kept"
    lost = ", and observations are not" if any(turn.observations) else ""
    return f"The memory is switched off: {what}{lost}. Send the turn again once enabled = true stands in shiguan.toml."


def _bound(raw: str | None, zone: tzinfo, what: str) -> datetime | None:
    if not raw:
        return None
    try:
        return parse_instant(raw, zone)[0]
    except InvalidInputError as error:
        raise InvalidInputError(f"{what}: {error}") from None


def _identifier(raw: str | None, what: str) -> str | None:
    return normalise_id(raw, what) if raw is not None and raw.strip() else None
