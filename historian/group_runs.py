"""The runs in which groups evolved: what they covered, so that no message is covered twice, and which one is under way.

That only one runs is held by a lock of the kernel for each group, which ends with its process, however that ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from historian.database import Database
from historian.durable import DiskErrors
from historian.errors import ConflictError
from historian.hold import try_lock
from historian.messages import instant_of
from historian.model import Owner

_INTERRUPTED = "It was interrupted; nothing was changed."


@dataclass(frozen=True, slots=True)
class LastRun:
    """The newest run of a group. Times are epoch milliseconds; `covered_row` is the newest message of any run."""

    started_ms: int
    state: str
    covered_row: int | None


class GroupRuns:
    """Begins and ends runs. Thread-safe, also across processes."""

    def __init__(self, database: Database, folder: Path) -> None:
        """`folder` is where the lock files stand; it is made when the first one is."""
        self._database = database
        self._folder = folder

    @contextmanager
    def alone(self, group: Owner) -> Generator[None]:
        """Run a block as the only run of this group.

        Raises:
            ConflictError: another thread or process runs it; the sentence says since when.
            StoreError: the lock file cannot be made.
        """
        with DiskErrors():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._lock_file(group), os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            if not try_lock(descriptor):
                raise ConflictError(self._running(group))
            yield
        finally:
            os.close(descriptor)

    def last(self, group: Owner) -> LastRun | None:
        """Return the newest run of a group, or None."""
        with self._database.read() as connection:
            newest = connection.execute(
                "SELECT started_ms, state FROM group_runs WHERE owner_key = ? ORDER BY started_ms DESC LIMIT 1",
                (group.key,),
            ).fetchone()
            (covered,) = connection.execute(
                "SELECT max(until_row) FROM group_runs WHERE owner_key = ? AND state = 'done'", (group.key,)
            ).fetchone()
        return None if newest is None else LastRun(newest[0], newest[1], covered)

    def begin(self, group: Owner, now_ms: int) -> str:
        """Note that a run begins and return its id; one that is still said to run is that of a dead process.

        Needs `alone`.
        """
        run_id = f"gr_{uuid.uuid4().hex[:20]}"
        with self._database.write() as connection:
            connection.execute(
                "UPDATE group_runs SET state = 'failed', finished_ms = ?, error = ?"
                " WHERE owner_key = ? AND state = 'running'",
                (now_ms, _INTERRUPTED, group.key),
            )
            connection.execute(
                "INSERT INTO group_runs (run_id, owner_key, state, started_ms) VALUES (?, ?, 'running', ?)",
                (run_id, group.key, now_ms),
            )
        return run_id

    def fail(self, run_id: str, now_ms: int, reason: str) -> None:
        """Note that a run failed."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE group_runs SET state = 'failed', finished_ms = ?, error = ? WHERE run_id = ?",
                (now_ms, reason, run_id),
            )

    def _lock_file(self, group: Owner) -> Path:
        return self._folder / f"{hashlib.sha256(group.key.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.lock"

    def _running(self, group: Owner) -> str:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT max(started_ms) FROM group_runs WHERE owner_key = ? AND state = 'running'", (group.key,)
            ).fetchone()
        began = datetime.now(UTC) if found[0] is None else instant_of(found[0])
        since = began.isoformat(timespec="seconds")
        return f"The memory of this group is already evolving, running since {since}; wait until it is done."


def finish(
    connection: sqlite3.Connection,
    run_id: str,
    now_ms: int,
    *,
    rows: tuple[int, int],
    messages: int,
    stats: Mapping[str, int],
) -> None:
    """Note what a run covered, inside the transaction of its changes. `rows` are the first and last message."""
    connection.execute(
        "UPDATE group_runs SET state = 'done', finished_ms = ?, since_row = ?, until_row = ?, messages = ?, stats = ?"
        " WHERE run_id = ?",
        (now_ms, *rows, messages, json.dumps(dict(stats)), run_id),
    )
