"""Taking in what an export holds: messages, events, memos and profiles under their own ids, each once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from historian.biographer import Biographer
from historian.database import Database
from historian.errors import ConflictError, InvalidInputError
from historian.events import EventStore
from historian.group_takeout import GroupTakeout, KeptGroupMemory
from historian.indexer import Indexer
from historian.memos import MemoStore
from historian.model import Event, Scope
from historian.pinned import PinnedStore
from historian.profiles import ProfileStore
from historian.record import Record
from historian.takeout import Kept, KeptMemo, KeptMessage, KeptNote, KeptProfile, kept_from, require_within
from historian.tombstones import Kind, Tombstones


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of some lines; `failed` are index and reason."""

    inserted: int
    ignored: int
    failed: tuple[tuple[int, str], ...]
    forgotten: int = 0


class Intaker:
    """Writes lines of an export. Thread-safe; repeating it changes nothing."""

    def __init__(
        self,
        database: Database,
        record: Record,
        events: EventStore,
        memos: MemoStore,
        pinned: PinnedStore,
        profiles: ProfileStore,
        biographer: Biographer,
        indexer: Indexer,
    ) -> None:
        self._database = database
        self._groups = GroupTakeout(database)
        self._record = record
        self._events = events
        self._memos = memos
        self._pinned = pinned
        self._profiles = profiles
        self._biographer = biographer
        self._indexer = indexer

    def take(self, scope: Scope, lines: Sequence[object], *, again: bool = False) -> TakenIn:
        """Store what the lines hold, as far as it belongs to the user or a group of the scope.

        What was forgotten comes back only with `again`.

        Raises:
            StoreError: something cannot be written now; what was written stands, and the rest can be repeated.
        """
        inserted = ignored = 0
        failed: list[tuple[int, str]] = []
        profiles: list[tuple[int, KeptProfile]] = []
        forgotten = 0
        with self._database.write() as connection:
            for index, line in enumerate(lines):
                try:
                    kept = kept_from(line)
                    if kept is None:
                        continue
                    require_within(scope, kept.owner)
                    if not _may_come(connection, kept, again=again):
                        forgotten += 1
                        continue
                    if isinstance(kept, KeptProfile):
                        profiles.append((index, kept))
                        continue
                    is_new = self._put(connection, kept)
                except InvalidInputError as error:
                    failed.append((index, str(error)))
                    continue
                inserted, ignored = inserted + is_new, ignored + (not is_new)
        for index, kept in profiles:
            try:
                is_new = self._put_profile(kept)
            except (InvalidInputError, ConflictError) as error:
                failed.append((index, str(error)))
                continue
            inserted, ignored = inserted + is_new, ignored + (not is_new)
        return TakenIn(inserted, ignored, tuple(failed), forgotten)

    def _put(self, connection: sqlite3.Connection, kept: Kept) -> bool:
        match kept:
            case KeptMessage(owner, message, aliases):
                appended = self._record.append(owner, [message])
                self._indexer.discard("messages", appended.left_rows)
                self._record.alias(owner, appended.rows[0], aliases)
                return appended.inserted > 0
            case Event():
                return self._events.add([kept]) > 0
            case KeptMemo(owner, author, request, memo):
                return self._memos.add(owner, author, request, memo)
            case KeptGroupMemory():
                return self._groups.put(connection, kept)
            case KeptNote(owner, note):
                return self._pinned.put_back(owner, note)
            case _:
                raise TypeError(kept)

    def _put_profile(self, kept: KeptProfile) -> bool:
        is_new = self._profiles.put_back(kept.owner, kept.text.encode(), kept.history)
        self._biographer.read(kept.owner)
        return is_new


def _may_come(connection: sqlite3.Connection, kept: Kept, *, again: bool) -> bool:
    """Say whether something was not forgotten; with `again` it may come back."""
    kind, identifier = _named(kept)
    tombstones = Tombstones(connection, kept.owner.key)
    if again:
        tombstones.lift(kind, identifier)
        return True
    return not tombstones.has(kind, identifier)


def _named(kept: Kept) -> tuple[Kind, str]:
    match kept:
        case KeptMessage(message=message):
            return "message", message.message_id
        case Event(event_id=event_id):
            return "event", event_id
        case KeptMemo(memo=memo):
            return "memo", memo.job_id
        case KeptGroupMemory(memory_id=memory_id):
            return "group_memory", memory_id
        case KeptNote(note=note):
            return "pinned", note.text
        case KeptProfile(owner=owner):
            return "profile", owner.id
