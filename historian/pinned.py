"""Pinned notes: the few facts that somebody keeps by hand, per scope, so that they are there in every turn."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from historian.clock import Clock
from historian.database import Database
from historian.errors import ConflictError, InvalidInputError, NotFoundError
from historian.guard import Guard
from historian.live import LiveOptions
from historian.messages import epoch_ms, instant_of
from historian.model import Owner, Reach, Scope
from historian.options import ContextOptions
from historian.text import require_text
from historian.tombstones import Tombstones

NO_NOTE = "There is no pinned note {!r} in this scope; memory_list shows those that are there."
_COLUMNS = "note_id, text, created_ms, updated_ms, author_key"


@dataclass(frozen=True, slots=True)
class PinnedNote:
    """One note. Its id is unique within its scope; times are aware, `author_key` says who pinned it in a group."""

    note_id: str
    text: str
    created_at: datetime
    updated_at: datetime
    author_key: str | None = None


@dataclass(frozen=True, slots=True)
class Pinned:
    """What became of pinning: the note, and whether it is new or was there already."""

    note: PinnedNote
    is_new: bool
    notes: tuple[str, ...] = ()


class PinnedStore:
    """All pinned notes. Thread-safe; whoever calls it says whose."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self, owner: Owner) -> list[PinnedNote]:
        """Return the notes of one owner, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM pinned WHERE owner_key = ? ORDER BY row", (owner.key,)
            ).fetchall()
        return [_note(*row) for row in rows]

    def add(self, owner: Owner, author_key: str | None, text: str, now: datetime, most: int) -> Pinned:
        """Keep a note, unless one says exactly this already.

        Raises:
            ConflictError: there are `most` notes; none is let go of for a new one.
            StoreError: the database cannot be written now.
        """
        with self._database.write() as connection:
            known = _saying(connection, owner, text)
            if known is not None:
                return Pinned(known, is_new=False)
            (count,) = connection.execute("SELECT count(*) FROM pinned WHERE owner_key = ?", (owner.key,)).fetchone()
            if count >= most:
                raise ConflictError(
                    f"The list of pinned notes is full with {count} of {most}; delete or update one of them first."
                )
            Tombstones(connection, owner.key).lift("pinned", text)
            note = PinnedNote(_next_id(connection, owner), text, now, now, author_key)
            _insert(connection, owner, note)
        return Pinned(note, is_new=True)

    def update(self, owner: Owner, note_id: str, text: str, now: datetime) -> PinnedNote:
        """Let a note say something else.

        Raises:
            NotFoundError: there is no such note.
            ConflictError: another note says exactly this.
        """
        with self._database.write() as connection:
            known = _saying(connection, owner, text)
            if known is not None and known.note_id != note_id:
                raise ConflictError(f"The pinned note {known.note_id!r} says exactly this; delete one of the two.")
            changed = connection.execute(
                f"UPDATE pinned SET text = ?, updated_ms = ? WHERE owner_key = ? AND note_id = ? RETURNING {_COLUMNS}",
                (text, epoch_ms(now), owner.key, note_id),
            ).fetchone()
            if changed is None:
                raise NotFoundError(NO_NOTE.format(note_id))
        return _note(*changed)

    def delete(self, owner: Owner, note_id: str) -> bool:
        """Let go of a note, and say whether it was there still; letting go of one that is gone is no error.

        Raises:
            NotFoundError: there never was such a note.
        """
        with self._database.write() as connection:
            gone = connection.execute(
                "DELETE FROM pinned WHERE owner_key = ? AND note_id = ? RETURNING note_id", (owner.key, note_id)
            ).fetchone()
            if gone is None and not _was_given(connection, owner, note_id):
                raise NotFoundError(NO_NOTE.format(note_id))
        return gone is not None

    def put_back(self, owner: Owner, note: PinnedNote) -> bool:
        """Take in a note of an export, and say whether it is new; where its id is taken it gets another one."""
        with self._database.write() as connection:
            if _saying(connection, owner, note.text) is not None:
                return False
            taken = connection.execute(
                "SELECT 1 FROM pinned WHERE owner_key = ? AND note_id = ?", (owner.key, note.note_id)
            ).fetchone()
            keeps_id = taken is None and _reserve(connection, owner, note.note_id)
            _insert(connection, owner, note if keeps_id else replace(note, note_id=_next_id(connection, owner)))
        return True


class NoteKeeper:
    """Leads to the pinned notes of a request."""

    def __init__(self, store: PinnedStore, options: LiveOptions, clock: Clock) -> None:
        self._store = store
        self._options = options
        self._clock = clock

    def of(self, scope: Scope, guard: Callable[[], Guard]) -> ScopedNotes:
        """Return the notes of one scope; `guard` looks through what is written."""
        return ScopedNotes(self._store, scope, guard, self._options.now.context, self._clock)


class ScopedNotes:
    """The pinned notes of one request: its own in private, those of the group in a group."""

    def __init__(
        self, store: PinnedStore, scope: Scope, guard: Callable[[], Guard], options: ContextOptions, clock: Clock
    ) -> None:
        self._store = store
        self._scope = scope
        self._guard = guard
        self._options = options
        self._clock = clock

    def list(self) -> Sequence[PinnedNote]:
        """Return the notes, oldest first."""
        return self._store.list(self._scope.owner)

    @property
    def most(self) -> int:
        """How many notes there may be."""
        return self._options.pinned_max

    def add(self, text: str) -> Pinned:
        """Pin a note; one that says exactly this already is given back instead.

        Raises:
            InvalidInputError: it is empty or too long.
            ConflictError: the list is full.
        """
        checked, notes = self._checked(text)
        author = f"author:{self._scope.user_id}"
        made = self._store.add(self._scope.owner, author, checked, self._clock.now(), self._options.pinned_max)
        return Pinned(made.note, made.is_new, notes)

    def update(self, note_id: str, text: str) -> Pinned:
        """Let a note say something else. Raises as `add`, and NotFoundError where there is no such note."""
        checked, notes = self._checked(text)
        return Pinned(self._store.update(self._scope.owner, note_id, checked, self._clock.now()), False, notes)

    def delete(self, note_id: str) -> bool:
        """Let go of a note, and say whether it was there still. Raises NotFoundError where there never was one."""
        return self._store.delete(self._scope.owner, note_id)

    def _checked(self, text: str) -> tuple[str, tuple[str, ...]]:
        checked = require_text(text, "text", limit=self._options.pinned_note_max_len)
        if not checked:
            raise InvalidInputError("text is empty; send the fact to keep, as one sentence.")
        guard = self._guard()
        return guard.text(checked, "text"), guard.notes


def kept_notes(
    connection: sqlite3.Connection, reach: Reach, after: int, limit: int
) -> list[tuple[int, Owner, PinnedNote]]:
    """Return the next notes behind row `after` that are, or were written by whom, the reach is of; with their rows."""
    rows = connection.execute(
        f"SELECT row, owner_key, {_COLUMNS} FROM pinned WHERE row > ?1 AND (owner_key IN (SELECT value FROM"
        " json_each(?2)) OR author_key IN (SELECT value FROM json_each(?2))) ORDER BY row LIMIT ?3",
        (after, json.dumps(sorted(reach)), limit),
    )
    return [(row, Owner.of_key(owner_key), _note(*columns)) for row, owner_key, *columns in rows]


def _saying(connection: sqlite3.Connection, owner: Owner, text: str) -> PinnedNote | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM pinned WHERE owner_key = ? AND text = ?", (owner.key, text)
    ).fetchone()
    return _note(*row) if row else None


def _next_id(connection: sqlite3.Connection, owner: Owner) -> str:
    """Return an id that no note of this owner ever had: short, since it stands in every turn."""
    (number,) = connection.execute(
        "INSERT INTO pinned_numbers (owner_key, last) VALUES (?, 1)"
        " ON CONFLICT (owner_key) DO UPDATE SET last = last + 1 RETURNING last",
        (owner.key,),
    ).fetchone()
    return f"p{number}"


def _was_given(connection: sqlite3.Connection, owner: Owner, note_id: str) -> bool:
    """Say whether a note of this owner had this id once."""
    number = _number(note_id)
    found = connection.execute("SELECT last FROM pinned_numbers WHERE owner_key = ?", (owner.key,)).fetchone()
    return number is not None and found is not None and 1 <= number <= found[0]


def _number(note_id: str) -> int | None:
    """Return the number in an id of ours."""
    is_ours = note_id[:1] == "p" and note_id[1:].isascii() and note_id[1:].isdigit() and len(note_id) < 12
    return int(note_id[1:]) if is_ours else None


def _reserve(connection: sqlite3.Connection, owner: Owner, note_id: str) -> bool:
    """Say whether an id is one of ours, and see to it that it is not given again."""
    number = _number(note_id)
    if number is None:
        return False
    connection.execute(
        "INSERT INTO pinned_numbers (owner_key, last) VALUES (?, ?)"
        " ON CONFLICT (owner_key) DO UPDATE SET last = max(last, excluded.last)",
        (owner.key, number),
    )
    return True


def _insert(connection: sqlite3.Connection, owner: Owner, note: PinnedNote) -> None:
    connection.execute(
        f"INSERT INTO pinned (owner_key, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
        (owner.key, note.note_id, note.text, epoch_ms(note.created_at), epoch_ms(note.updated_at), note.author_key),
    )


def _note(note_id: str, text: str, created_ms: int, updated_ms: int, author_key: str | None) -> PinnedNote:
    return PinnedNote(note_id, text, instant_of(created_ms), instant_of(updated_ms), author_key)
