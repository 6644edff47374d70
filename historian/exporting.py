"""Taking everything of one scope away: page by page, in an order that can be read in again."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from historian.audiences import known_audiences
from historian.clock import Clock
from historian.cursors import Cursors
from historian.database import Database
from historian.errors import NotFoundError
from historian.events import EventStore
from historian.group_takeout import GroupTakeout
from historian.model import Owner, Reach, Scope
from historian.pinned import kept_notes
from historian.profiles import ProfileStore
from historian.record import Record
from historian.takeout import (
    KeptMemo,
    KeptNote,
    KeptProfile,
    Line,
    about_line,
    event_line,
    memo_line,
    message_line,
    note_line,
    profile_line,
)
from historian.views import Memo

PARTS = ("about", "messages", "events", "memos", "pinned", "group memories", "profiles")
"""What an export goes through, in order."""
MAX_CHARACTERS = 4_000_000
"""Characters of messages after which a page ends, however few those are."""
_LOWEST = -(1 << 63)
_PLACE = struct.Struct(">Bq")
"""Which part, and the last row of it that was read."""


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Some lines, and the cursor of the next page; empty after the last one."""

    lines: tuple[Line, ...]
    cursor: str


class Exporter:
    """Reads everything that a scope may read of its own. Thread-safe; nothing is locked for longer than a page."""

    def __init__(
        self,
        database: Database,
        record: Record,
        events: EventStore,
        profiles: ProfileStore,
        cursors: Cursors,
        clock: Clock,
    ) -> None:
        self._database = database
        self._groups = GroupTakeout(database)
        self._record = record
        self._events = events
        self._profiles = profiles
        self._cursors = cursors
        self._clock = clock

    def page(self, scope: Scope, cursor: str, limit: int) -> ExportPage:
        """Return up to `limit` lines from `cursor` on; an empty one begins.

        Raises:
            InvalidInputError: the cursor is none of an export of this scope.
            StoreError: something cannot be read now.
        """
        bound_to = ["export", scope.user_id, scope.group_id, *sorted(scope.reach())]
        number, after = _PLACE.unpack(self._cursors.open(cursor, bound_to)) if cursor.strip() else (0, _LOWEST)
        lines, last = self._lines(PARTS[number], scope, after, limit)
        following = (number, last) if last is not None else (number + 1, _LOWEST)
        is_last = following[0] == len(PARTS)
        return ExportPage(tuple(lines), "" if is_last else self._cursors.seal(_PLACE.pack(*following), bound_to))

    def _lines(self, part: str, scope: Scope, after: int, limit: int) -> tuple[Sequence[Line], int | None]:
        if part == "about":
            return [about_line(scope.owner, self._clock.now())], None
        if part == "profiles":
            return self._profile(scope.owner), None
        if part == "group memories":
            return self._groups.lines(scope.owner, after, limit)
        read = {
            "messages": self._messages,
            "events": self._event_lines,
            "memos": self._memos,
            "pinned": self._notes,
        }
        return read[part](scope.reach(), after, limit)

    def _messages(self, reach: Reach, after: int, limit: int) -> tuple[Sequence[Line], int | None]:
        rows = self._rows("message_audiences", reach, after, limit)
        found = self._record.within(reach).rows(rows)
        aliases = self._aliases(rows)
        lines: list[Line] = []
        size = 0
        for row in rows:
            if row in found:
                lines.append(message_line(found[row], aliases.get(row, ())))
                size += len(found[row].message.content)
            if size > MAX_CHARACTERS:
                return lines, row
        return lines, rows[-1] if len(rows) == limit else None

    def _event_lines(self, reach: Reach, after: int, limit: int) -> tuple[Sequence[Line], int | None]:
        rows = self._rows("event_audiences", reach, after, limit)
        readable = self._events.within(reach)
        lines: list[Line] = []
        for stored in readable.rows(rows):
            messages = self._record.within(reach).rows(readable.message_rows(stored.row))
            evidence = [
                {"message_id": m.message.message_id, "conversation_id": m.message.conversation_id}
                for _, m in sorted(messages.items())
            ]
            lines.append(event_line(stored.event, evidence))
        return lines, rows[-1] if len(rows) == limit else None

    def _memos(self, reach: Reach, after: int, limit: int) -> tuple[Sequence[Line], int | None]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT row, owner_key, author_key, request_id, text, job_id, ts_ms, zone FROM memos"
                " WHERE row > ?1 AND (owner_key IN (SELECT value FROM json_each(?2))"
                " OR author_key IN (SELECT value FROM json_each(?2))) ORDER BY row LIMIT ?3",
                (after, json.dumps(sorted(reach)), limit),
            ).fetchall()
        lines = [memo_line(_memo(*row[1:])) for row in rows]
        return lines, rows[-1][0] if len(rows) == limit else None

    def _notes(self, reach: Reach, after: int, limit: int) -> tuple[Sequence[Line], int | None]:
        with self._database.read() as connection:
            rows = kept_notes(connection, reach, after, limit)
        lines = [note_line(KeptNote(owner, note)) for _, owner, note in rows]
        return lines, rows[-1][0] if len(rows) == limit else None

    def _profile(self, owner: Owner) -> Sequence[Line]:
        text = self._profiles.raw(owner)
        if text is None:
            return []
        history: list[tuple[str, str]] = []
        for revision in self._profiles.history(owner):
            try:
                history.append((revision.name, self._profiles.raw_revision(owner, revision.name)))
            except NotFoundError:  # dropped meanwhile, as old ones are
                continue
        return [profile_line(KeptProfile(owner, text, tuple(history)))]

    def _rows(self, table: str, reach: Reach, after: int, limit: int) -> list[int]:
        """Return the next rows of all audiences, each read from its index in order, and merged."""
        with self._database.read() as connection:
            numbers = known_audiences(connection, reach)
            one = f"SELECT row FROM (SELECT row FROM {table} WHERE audience_id = ? AND row > ? ORDER BY row LIMIT ?)"
            if not numbers:
                return []
            statement = f"{' UNION '.join([one] * len(numbers))} ORDER BY row LIMIT ?"
            values = [value for number in numbers for value in (number, after, limit)]
            return [row for (row,) in connection.execute(statement, [*values, limit])]

    def _aliases(self, rows: Sequence[int]) -> dict[int, list[str]]:
        with self._database.read() as connection:
            return _aliases(connection, rows)


def _aliases(connection: sqlite3.Connection, rows: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    known = connection.execute(
        "SELECT s.row, s.alias_id FROM json_each(?) AS j CROSS JOIN message_aliases AS s ON s.row = j.value"
        " ORDER BY s.alias_id",
        (json.dumps([*rows]),),
    )
    for row, alias in known:
        found.setdefault(row, []).append(alias)
    return found


def _memo(
    owner_key: str, author_key: str | None, request_id: str, text: str, job_id: str, ts_ms: int, zone: str
) -> KeptMemo:
    owner = Owner.of_key(owner_key)
    return KeptMemo(owner, author_key, request_id, Memo(text, job_id, datetime.fromtimestamp(ts_ms / 1000, UTC), zone))
