"""The lines of the profile files as searchable rows, each with its own audiences: derived from the files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

from historian.audiences import audience_ids, known_audiences
from historian.database import Database
from historian.lexical import LexicalIndex
from historian.model import EntityType, Owner, Reach
from historian.profile import PRIVATE, Profile, ProfileLine

PROFILE_WORDS = LexicalIndex("profile_lines", table="profile_lines", time="t.epoch_ms")
"""The word index over profile lines."""
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class IndexedLine:
    """One line of a profile as search finds it."""

    row: int
    entity_type: EntityType
    entity_id: str
    text: str
    at: datetime


def line_audiences(entity: Owner, shown_in: str) -> tuple[str, ...]:
    """Return who may read a line: its person in private, or the group it was said in and the person it is about."""
    if shown_in == PRIVATE:
        return (entity.key,)
    return (shown_in, f"author:{entity.id}") if entity.kind == "user" else (shown_in,)


class ProfileIndex:
    """Keeps the rows in step with the files. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def transaction(self) -> AbstractContextManager[object]:
        """Make all of a block durable together with what is refreshed in it."""
        return self._database.write()

    def refresh(
        self, entity: Owner, profile: Profile | None, digest: str | None, *, is_written: bool = False
    ) -> list[int]:
        """Make the rows of one entity those of its profile, if the file changed; return the rows that are gone.

        Of a file that `is_written` just now nobody needs to ask whether it changed.
        """
        if not is_written and self.digest(entity) == digest:
            return []
        wanted = {line.key: line for line in profile.lines} if profile else {}
        with self._database.join() as connection:
            known = self._rows(connection, entity)
            gone = [row for key, row in known.items() if key not in wanted]
            for row in gone:
                _remove(connection, row)
            for line in (line for key, line in wanted.items() if key not in known):
                _add(connection, entity, line)
            connection.execute(
                "INSERT OR REPLACE INTO profile_files (entity_type, entity_id, name, digest) VALUES (?, ?, ?, ?)",
                (entity.kind, entity.id, profile.name if profile else None, digest or ""),
            )
        return gone

    def digest(self, entity: Owner) -> str | None:
        """Return the digest of the file that the rows were made from, or None where there are none."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT digest FROM profile_files WHERE entity_type = ? AND entity_id = ?", (entity.kind, entity.id)
            ).fetchone()
        return str(row[0]) or None if row else None

    def entities(self) -> tuple[Owner, ...]:
        """Return whose lines are known."""
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT entity_type, entity_id FROM profile_files WHERE digest != ''"
                " UNION SELECT entity_type, entity_id FROM profile_lines"
            ).fetchall()
        return tuple(Owner(kind, identifier) for kind, identifier in found)

    def keys(self, entity: Owner) -> set[tuple[str, str]]:
        """Return the text of each line of one entity, and where it is shown."""
        with self._database.read() as connection:
            return set(self._rows(connection, entity))

    def forget(self, entity: Owner) -> None:
        """Have the rows of one entity compared with its file at the next `refresh`, whatever its digest."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE profile_files SET digest = '?' WHERE entity_type = ? AND entity_id = ?",
                (entity.kind, entity.id),
            )

    def lines(self, reach: Reach, rows: Iterable[int]) -> dict[int, IndexedLine]:
        """Return those of `rows` that the reach may read."""
        with self._database.read() as connection:
            audiences = known_audiences(connection, reach)
            marks = ", ".join("?" * len(audiences))
            found = [
                connection.execute(
                    "SELECT row, entity_type, entity_id, text, epoch_ms FROM profile_lines l WHERE row = ? AND EXISTS"
                    f" (SELECT 1 FROM profile_line_audiences a WHERE a.row = l.row AND a.audience_id IN ({marks}))",
                    (row, *audiences),
                ).fetchone()
                for row in rows
            ]
        return {
            row[0]: IndexedLine(row[0], row[1], row[2], row[3], datetime.fromtimestamp(row[4] / 1000, UTC))
            for row in found
            if row
        }

    @staticmethod
    def _rows(connection: sqlite3.Connection, entity: Owner) -> dict[tuple[str, str], int]:
        (rows,) = connection.execute(  # all at once: row by row, other threads would run in between
            "SELECT json_group_array(json_array(text, shown_in, row)) FROM profile_lines"
            " WHERE entity_type = ? AND entity_id = ?",
            (entity.kind, entity.id),
        ).fetchone()
        return {(text, shown_in): row for text, shown_in, row in json.loads(rows)}


def _remove(connection: sqlite3.Connection, row: int) -> None:
    PROFILE_WORDS.remove(connection, row)
    connection.execute("DELETE FROM profile_line_audiences WHERE row = ?", (row,))
    connection.execute("DELETE FROM profile_lines WHERE row = ?", (row,))


def _add(connection: sqlite3.Connection, entity: Owner, line: ProfileLine) -> None:
    audiences = audience_ids(connection, line_audiences(entity, line.shown_in))
    at = int((line.last_seen or _NEVER).timestamp() * 1000)
    cursor = connection.execute(
        "INSERT INTO profile_lines (entity_type, entity_id, shown_in, text, epoch_ms) VALUES (?, ?, ?, ?, ?)",
        (entity.kind, entity.id, line.shown_in, line.text, at),
    )
    row = int(cursor.lastrowid or 0)
    connection.executemany(
        "INSERT INTO profile_line_audiences (audience_id, row) VALUES (?, ?)", [(number, row) for number in audiences]
    )
    PROFILE_WORDS.add_numbered(connection, row, line.text, audiences)
