"""Looking after SQLite: its pages, its references, and the word indexes beside the tables."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from historian.database import Database
from historian.events import EVENT_WORDS
from historian.finding import Finding, number
from historian.group_rows import GROUP_WORDS, SEARCHED
from historian.lexical import LexicalIndex
from historian.profile_index import PROFILE_WORDS
from historian.readable import MESSAGE_WORDS

_INDEX_ONLY = ("missing from index", "wrong # of entries in index")


class DatabaseCheck:
    """The file is whole, and every reference in it leads somewhere. Only SQLite's own indexes can be mended."""

    name = "database"

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, *, fix: bool) -> list[Finding]:
        """Return what SQLite says of itself. Nothing here needs to be mended at once."""
        del fix
        complaints = self._complaints()
        found: list[Finding] = []
        if complaints:
            only_indexes = _only_indexes(complaints)
            advice = "its indexes can be made again" if only_indexes else "restore it from a backup or an export"
            found.append(Finding(self.name, "error", f"The memory's database is damaged; {advice}.", only_indexes))
        with self._database.read() as connection:
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        if broken:
            sentence = f"{number(len(broken), 'reference')} in the database lead nowhere; some evidence is missing."
            found.append(Finding(self.name, "warning", sentence))
        return found

    def mend(self) -> None:
        """Make SQLite's indexes again where only they are damaged. Raises StoreError."""
        if _only_indexes(self._complaints()):
            with self._database.write() as connection:
                connection.execute("REINDEX")

    def _complaints(self) -> list[str]:
        with self._database.read() as connection:
            said = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
        return [] if said == ["ok"] else said


def _only_indexes(complaints: list[str]) -> bool:
    return bool(complaints) and all(any(sign in one for sign in _INDEX_ONLY) for one in complaints)


@dataclass(frozen=True, slots=True)
class _Indexed:
    """One indexed table: its texts, and where the audiences of a row stand."""

    words: LexicalIndex
    table: str
    audiences: str
    text: str = "text"
    role: str = "NULL"
    which: str = "TRUE"


_INDEXES = (
    _Indexed(MESSAGE_WORDS, "messages", "message_audiences", text="content", role="role"),
    _Indexed(EVENT_WORDS, "events", "event_audiences", which="same_as IS NULL"),
    _Indexed(PROFILE_WORDS, "profile_lines", "profile_line_audiences"),
    _Indexed(GROUP_WORDS, "group_memories", "group_memory_audiences", text=SEARCHED, which="status = 'active'"),
)


class WordsCheck:
    """Every text is found by its words, and nothing else is."""

    name = "words"

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, *, fix: bool) -> list[Finding]:
        """Return how the word indexes differ from the tables. Nothing here needs to be mended at once."""
        del fix
        found: list[Finding] = []
        with self._database.read() as connection:
            for index in _INDEXES:
                found += self._compare(connection, index)
        return found

    def mend(self) -> None:
        """Add what is missing, take out what is in excess, and make term lists anew that differ. Raises StoreError."""
        for index in _INDEXES:
            with self._database.write() as connection:
                rows, kept = _rows(connection, index), _kept(connection, index)
                stale = index.words.rows(connection) != kept
                for row in kept - rows:
                    index.words.remove(connection, row)
                for row in rows - kept:
                    _add(connection, index, row)
                if stale:
                    index.words.rebuild(connection)

    def _compare(self, connection: sqlite3.Connection, index: _Indexed) -> list[Finding]:
        rows, kept, listed = _rows(connection, index), _kept(connection, index), index.words.rows(connection)
        name = index.table.replace("_", " ")
        lost, left = len(rows - (kept & listed)), len((kept | listed) - rows)
        found: list[Finding] = []
        if lost:
            found.append(Finding(self.name, "error", f"{lost} of the {name} cannot be found by their words.", True))
        if left:
            sentence = f"The word index of the {name} has {number(left, 'entry', 'entries')} of texts that are gone."
            found.append(Finding(self.name, "warning", sentence, True))
        return found


def _rows(connection: sqlite3.Connection, index: _Indexed) -> set[int]:
    return {row for (row,) in connection.execute(f"SELECT row FROM {index.table} WHERE {index.which}")}


def _kept(connection: sqlite3.Connection, index: _Indexed) -> set[int]:
    return {row for (row,) in connection.execute(f"SELECT row FROM {index.table}_lexical")}


def _add(connection: sqlite3.Connection, index: _Indexed, row: int) -> None:
    text, role = connection.execute(
        f"SELECT {index.text}, {index.role} FROM {index.table} WHERE row = ?", (row,)
    ).fetchone()
    audiences = connection.execute(f"SELECT audience_id FROM {index.audiences} WHERE row = ?", (row,)).fetchall()
    index.words.add_numbered(connection, row, text, [audience for (audience,) in audiences], role)
