"""Ranked lists that somebody may be paging through: rows and scores only, bounded, and there again after a restart.

They stand in a file of their own that nothing waits for and that may be deleted at any time: what is lost with it is
the rest of lists that were begun.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from historian.durable import DiskErrors
from historian.errors import StoreError
from historian.lexical_query import Mode

KEPT = 500
"""Lists that are kept; the oldest makes room."""
ID_BYTES = 9

_TABLE = (
    "CREATE TABLE IF NOT EXISTS rankings"
    " (number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, rows BLOB, scores BLOB, about TEXT)"
)


@dataclass(frozen=True, slots=True)
class Ranking:
    """A list that was ranked once: rows best first, with their scores.

    `stand_ins` maps those rows whose message may move to another one to its id. `older` is the row before which the
    search goes on when the list is used up; None where it ends. `capped` says that more matched than are listed,
    `total` how many matched at all where that is known.
    """

    rows: Sequence[int]
    scores: Sequence[float]
    mode: Mode
    stand_ins: Mapping[int, str] = field(default_factory=dict[int, str])
    older: int | None = None
    capped: bool = False
    total: int | None = None


class Rankings:
    """Keeps ranked lists by a random id. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def keep(self, ranking: Ranking) -> bytes:
        """Keep a list and return its id, `ID_BYTES` long.

        Raises:
            StoreError: the file cannot be written.
        """
        made = secrets.token_bytes(ID_BYTES)
        moving = {str(row): message_id for row, message_id in ranking.stand_ins.items()}
        about = json.dumps([ranking.mode, moving, ranking.older, ranking.capped, ranking.total])
        values = (made, array("q", ranking.rows).tobytes(), array("d", ranking.scores).tobytes(), about)
        with self._lock:
            try:
                connection = self._opened()
                with connection:
                    cursor = connection.execute(
                        "INSERT INTO rankings (id, rows, scores, about) VALUES (?, ?, ?, ?)", values
                    )
                    connection.execute("DELETE FROM rankings WHERE number <= ?", ((cursor.lastrowid or 0) - KEPT,))
            except sqlite3.Error as error:
                raise StoreError(
                    "The rest of this list cannot be kept now; ask for fewer at once, or try again."
                ) from error
        return made

    def get(self, ranking_id: bytes) -> Ranking | None:
        """Return a list, or None where it is no longer kept."""
        with self._lock:
            try:
                found = (
                    self._opened()
                    .execute("SELECT rows, scores, about FROM rankings WHERE id = ?", (ranking_id,))
                    .fetchone()
                )
            except sqlite3.Error:
                return None
        if found is None:
            return None
        rows, scores = array("q", found[0]), array("d", found[1])
        mode, moving, *rest = json.loads(found[2])
        return Ranking(rows, scores, mode, {int(row): known for row, known in moving.items()}, *rest)

    def forget(self) -> None:
        """Forget all lists; the file is made anew when the next one is kept. Raises StoreError."""
        self.close()
        with self._lock, DiskErrors():
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file. It opens again when it is used."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _opened(self) -> sqlite3.Connection:
        """Open the file when it is first needed; one that is damaged is begun anew."""
        if self._connection is None:
            try:
                self._connection = self._connected()
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                with suppress(OSError):
                    self._path.unlink(missing_ok=True)
                self._connection = self._connected()
        return self._connection

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=2, check_same_thread=False)
        try:
            self._path.chmod(0o600)
            for pragma in ("journal_mode = MEMORY", "synchronous = OFF"):
                connection.execute(f"PRAGMA {pragma}").fetchone()
            connection.execute(_TABLE)
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection
