"""What one request may hand over to be remembered: turns, messages, and lines of an export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, cast

from historian.closing import Closing
from historian.errors import InvalidInputError, NotFoundError, StoreError
from historian.guard import Guard
from historian.intake import message_from
from historian.live import LiveOptions
from historian.model import Message, Scope
from historian.parts import Parts
from historian.session import Session
from historian.turn import Receipt, Turn, TurnFields
from historian.views import AppendResult
from historian.zones import load_zone

if TYPE_CHECKING:
    from historian.taking_in import TakenIn

FORGOTTEN_BEFORE = "{} of them were forgotten before and stay so; `shiguan import --again` brings such messages back."
NOTHING_SAID = "No observation has a word, a number or a symbol in it, so that there is nothing to remember."
GUARDED = ("memo", "observations", "source_message", "recent_messages", "location")
"""What of a turn is looked through for credentials."""


class ScopedWriting:
    """The half of a scoped memory that writes. Methods block; call them from a worker thread, all but `hand_in`."""

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
            notes = [*guard.notes, NOTHING_SAID] if turn.is_empty and _was_given(fields) else guard.notes
            return turn, " ".join(notes)

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
        notes += self._options.switched_off() if jobs else ()
        forgotten = appended.forgotten
        if forgotten:
            notes = (*notes, FORGOTTEN_BEFORE.format(forgotten))
        ignored = appended.ignored + forgotten
        return AppendResult(appended.inserted, ignored, tuple(failed), (*guard.notes, *notes), jobs, forgotten)

    def consider(self, message_ids: Sequence[str]) -> bool:
        """Have the historian decide whether recorded messages hold anything worth remembering; say whether that is new.

        Raises:
            NotFoundError: none of them is in the record of the owner of this request.
            StoreError: it cannot be noted now.
        """
        found = self._parts.record.within(frozenset({self._scope.owner.key})).get(message_ids)
        if not found:
            raise NotFoundError("None of these messages is in the record; import them first.")
        messages = [one.message for one in found]
        return any(is_new for _, is_new in self._parts.captures.entered(self._scope, self._session, messages))

    def _considered(self, messages: Sequence[Message]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the jobs in which messages are considered, and what to say where they are not."""
        try:
            return tuple(self._parts.captures.hand_in(self._scope, self._session, messages)), ()
        except StoreError as error:
            return (), (f"The messages are recorded, but they are not considered: {error}",)

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
        taken = self._parts.leaving().intaker.take(self._scope, [line for _, line in good], again=again)
        failed += [(good[at][0], reason) for at, reason in taken.failed]
        return replace(taken, failed=tuple(sorted(failed)))

    def _require_messages(self, message_ids: Sequence[str]) -> None:
        if not message_ids:
            return
        readable = self._parts.record.within(self._scope.reach())
        known = {stored.message.message_id for stored in readable.get(message_ids)}
        aliases = {alias for alias in message_ids if alias not in known and readable.get([alias])}
        missing = [message_id for message_id in message_ids if message_id not in known | aliases]
        if missing:
            raise NotFoundError(f"There is no message {missing[0]!r} in this scope; leave it out of message_ids.")


def _was_given(fields: TurnFields) -> bool:
    """Say whether any observation was more than white space."""
    return any(isinstance(one, str) and one.strip() for one in fields.get("observations", ()))


def _unkept(turn: Turn) -> str:
    """Say what becomes of a turn while the memory is switched off."""
    what = "its memo is kept" if turn.memo else "nothing of the turn is kept"
    lost = ", and observations are not" if any(turn.observations) else ""
    return f"The memory is switched off: {what}{lost}. Send the turn again once enabled = true stands in shiguan.toml."
