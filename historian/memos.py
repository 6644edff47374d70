"""Short-term memos: what the agent did in its last turns, per scope."""

from __future__ import annotations

from datetime import UTC, datetime

from historian.database import Database
from historian.model import Owner
from historian.views import Memo

KEEP = 200
"""Memos kept per owner; older ones go."""


class MemoStore:
    """The memos. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, owner: Owner, author_key: str | None, request_id: str, memo: Memo) -> bool:
        """Keep a memo once per job, let go of those beyond the newest 200 of its owner, and say whether it was new."""
        with self._database.join() as connection:
            added = connection.execute(
                "INSERT OR IGNORE INTO memos (owner_key, author_key, request_id, job_id, text, ts_ms, zone)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    owner.key,
                    author_key,
                    request_id,
                    memo.job_id,
                    memo.text,
                    int(memo.at.timestamp() * 1000),
                    memo.timezone,
                ),
            )
            connection.execute(
                "DELETE FROM memos WHERE row IN (SELECT row FROM memos WHERE owner_key = ?"
                " ORDER BY ts_ms DESC, row DESC LIMIT -1 OFFSET ?)",
                (owner.key, KEEP),
            )
        return added.rowcount > 0

    def newest(self, owner: Owner, limit: int) -> list[Memo]:
        """Return the newest memos of one owner, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT text, job_id, ts_ms, zone FROM memos WHERE owner_key = ? ORDER BY ts_ms DESC, row DESC LIMIT ?",
                (owner.key, limit),
            ).fetchall()
        return [
            Memo(text, job_id, datetime.fromtimestamp(ts_ms / 1000, UTC), zone) for text, job_id, ts_ms, zone in rows
        ]
