"""Removing from the disk what deleting leaves there: free pages, logs of databases, index files, and lines of a log."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from historian.chroma import CLOSING_SECONDS
from historian.database import Database
from historian.descriptors import wait_until_let_go
from historian.durable import DiskErrors
from historian.engine import Engine
from historian.errors import StoreError
from historian.indexer import Indexer
from historian.rankings import Rankings
from historian.scrubbing import DATABASE, tidy
from historian.trial import Trial

LOADING_SECONDS = 120.0
_LOGS = "owner.log*"
_HEAD = re.compile(rb"^\S+ \S+ [A-Z]+ [\w.]+: ")
"""Time, level and logger of a line."""
_SHORTEST = 6
"""Characters of a name that is looked for in logs: shorter ones stand in any line."""


class Wiper:
    """Wipes one data folder. Nothing that is still there is lost; the lists that somebody pages through begin anew."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        engine: Engine,
        indexer: Indexer,
        rankings: Rankings,
        trial: Trial,
    ) -> None:
        self._folder = folder
        self._database = database
        self._engine = engine
        self._indexer = indexer
        self._rankings = rankings
        self._trial = trial
        self._wiping = threading.Lock()

    def wipe(self, names: Iterable[str]) -> None:
        """Wipe everything; lines of logs that have one of the names go too.

        Raises:
            StoreError: something cannot be wiped now; what was wiped stays so.
        """
        with self._wiping:
            self._rankings.forget()
            self._database.compact()
            wipe_logs(self._folder, names)
            self._wipe_vectors()

    def _wipe_vectors(self) -> None:
        file = self._trial.folder / DATABASE
        self._trial.clear()
        if not file.exists():
            return
        self._engine.start()
        self._wait_for_the_engine()
        self._indexer.wipe()
        self._engine.pause()
        try:
            if not wait_until_let_go(file, CLOSING_SECONDS):  # two libraries in one file would damage it
                raise StoreError("The vectors are still being read, so that they cannot be written anew; try again.")
            tidy(self._trial.folder)
            _compact(file)
        finally:
            self._engine.resume()
        # opening writes stray memory once more and scrubs it: nothing is left only when that is over
        self._wait_for_the_engine()

    def _wait_for_the_engine(self) -> None:
        if not self._engine.wait(LOADING_SECONDS):
            raise StoreError(self._engine.failure or "The search by meaning does not start; see the log.")


def wipe_logs(folder: Path, names: Iterable[str]) -> int:
    """Take the lines that tell of one of the names out of the logs, in place; return how many those are.

    Clients choose names: one that is `WARNING`, or a part of other words, does not choose whose lines go.
    """
    wanted = [re.escape(name.encode()) for name in names if len(name) >= _SHORTEST]
    named = re.compile(rb"(?<![\w-])(?:" + b"|".join(wanted) + rb")(?![\w-])")
    gone = 0
    for path in sorted(folder.glob(_LOGS)) if wanted else ():
        with DiskErrors(), path.open("r+b") as log:
            lines = log.readlines()
            kept = [line for line in lines if not named.search(_HEAD.sub(b"", line, count=1))]
            if len(kept) < len(lines):
                gone += len(lines) - len(kept)
                log.seek(0)
                log.writelines(kept)
                log.truncate()
    return gone


def _compact(file: Path) -> None:
    try:
        with closing(sqlite3.connect(file, timeout=5, isolation_level=None)) as connection:
            connection.execute("PRAGMA secure_delete = ON").fetchone()
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise StoreError("The vectors cannot be written anew now; free some space and try again.") from error
