"""Taking in what an export holds: messages, events, memos and profiles under their own ids, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from historian.biographer import Biographer
from historian.database import Database
from historian.errors import ConflictError, InvalidInputError
from historian.events import EventStore
from historian.indexer import Indexer
from historian.memos import MemoStore
from historian.model import Event, Owner, Scope
from historian.profiles import ProfileStore
from historian.record import Record
from historian.takeout import Kept, KeptMemo, KeptMessage, KeptProfile, kept_from

NOT_YOURS = "It belongs to another person; import it with --user for that person."
NO_GROUP = "It belongs to a group; name that group with --group."


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of some lines; `failed` are index and reason."""

    inserted: int
    ignored: int
    failed: tuple[tuple[int, str], ...]


class Intaker:
    """Writes lines of an export. Thread-safe; repeating it changes nothing."""

    def __init__(
        self,
        database: Database,
        record: Record,
        events: EventStore,
        memos: MemoStore,
        profiles: ProfileStore,
        biographer: Biographer,
        indexer: Indexer,
    ) -> None:
        self._database = database
        self._record = record
        self._events = events
        self._memos = memos
        self._profiles = profiles
        self._biographer = biographer
        self._indexer = indexer

    def take(self, scope: Scope, lines: Sequence[object]) -> TakenIn:
        """Store what the lines hold, as far as it belongs to the user or a group of the scope.

        Raises:
            StoreError: something cannot be written now; what was written stands, and the rest can be repeated.
        """
        inserted = ignored = 0
        failed: list[tuple[int, str]] = []
        profiles: list[tuple[int, KeptProfile]] = []
        with self._database.write():
            for index, line in enumerate(lines):
                try:
                    kept = kept_from(line)
                    if kept is None:
                        continue
                    _require(scope, kept.owner)
                    if isinstance(kept, KeptProfile):
                        profiles.append((index, kept))
                        continue
                    is_new = self._put(kept)
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
        return TakenIn(inserted, ignored, tuple(failed))

    def _put(self, kept: Kept) -> bool:
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
            case _:
                raise TypeError(kept)

    def _put_profile(self, kept: KeptProfile) -> bool:
        is_new = self._profiles.put_back(kept.owner, kept.text.encode(), kept.history)
        self._biographer.read(kept.owner)
        return is_new


def _require(scope: Scope, owner: Owner) -> None:
    if owner.kind == "user" and owner.id != scope.user_id:
        raise InvalidInputError(NOT_YOURS)
    if owner.kind == "group" and owner.id not in scope.readable_groups:
        raise InvalidInputError(NO_GROUP)
