"""What became of each job: the ledger that outlives the queue's files."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from historian.database import Database
from historian.model import Owner
from historian.views import CaptureDecision, JobState

_COLUMNS = "job_id, state, step, attempts, error, created_ms, end_seq, receipt_json"


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """One job as the ledger knows it. `decision` says what was decided about an exchange that was considered."""

    job_id: str
    state: JobState
    step: str | None
    attempts: int
    error: str | None
    created_at: datetime
    end_seq: int
    decision: CaptureDecision | None = None


class ReceiptStore:
    """The ledger. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(
        self, job_id: str, owner: Owner, *, mark: str, request_id: str, created_at: datetime, end_seq: int | None = None
    ) -> ReceiptRow:
        """Enter a job once and return its row; a repeated call returns what stands there. Joins a transaction.

        The `end_seq` of the row is the one that the host named, if no other content of this owner and request has it,
        and else the next one, so that two different `end` calls of one request never share event ids.
        """
        with self._database.join() as connection:
            known = _row(connection, job_id)
            if known is not None:
                return known
            sequence = _sequence(connection, owner, request_id, mark, end_seq)
            created_ms = int(created_at.timestamp() * 1000)
            connection.execute(
                "INSERT INTO receipts"
                " (job_id, owner_key, fingerprint, request_id, end_seq, state, receipt_json, created_ms)"
                " VALUES (?, ?, ?, ?, ?, 'processing', '{}', ?)",
                (job_id, owner.key, mark, request_id, sequence, created_ms),
            )
        return _made((job_id, "processing", None, 0, None, created_ms, sequence, "{}"))

    def foresee(
        self, job_id: str, owner: Owner, *, mark: str, request_id: str, end_seq: int | None = None
    ) -> tuple[bool, int]:
        """Return whether a job is entered already, and the `end_seq` that it has or will have."""
        with self._database.read() as connection:
            known = _row(connection, job_id)
            if known is not None:
                return True, known.end_seq
            return False, _sequence(connection, owner, request_id, mark, end_seq)

    def settle(self, job_id: str, state: JobState, *, error: str | None, attempts: int, now: datetime) -> None:
        """Record the outcome of a job. Joins a transaction."""
        with self._database.join() as connection:
            connection.execute(
                "UPDATE receipts SET state = ?, error = ?, attempts = ?, finished_ms = ? WHERE job_id = ?",
                (state, error, attempts, int(now.timestamp() * 1000), job_id),
            )

    def decide(self, job_id: str, decision: CaptureDecision) -> None:
        """Record what was decided about an exchange."""
        document = json.dumps({"capture": asdict(decision)}, ensure_ascii=False)
        with self._database.write() as connection:
            connection.execute("UPDATE receipts SET receipt_json = ? WHERE job_id = ?", (document, job_id))

    def get(self, job_id: str, owner: Owner) -> ReceiptRow | None:
        """Return a job of this owner, or None."""
        with self._database.read() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM receipts WHERE job_id = ? AND owner_key = ?", (job_id, owner.key)
            ).fetchone()
        return _made(row) if row else None

    def left_nothing(self, job_id: str) -> bool:
        """Say whether a closed turn is done and has no event any more: all that came of it was forgotten."""
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT 1 FROM receipts AS r WHERE r.job_id = ? AND r.state = 'done' AND NOT EXISTS (SELECT 1"
                " FROM events AS e WHERE e.owner_key = r.owner_key AND e.request_id = r.request_id"
                " AND e.end_seq = r.end_seq)",
                (job_id,),
            ).fetchone()
        return found is not None

    def waits(self, owner: Owner, since_ms: int, step_ms: int) -> dict[int, tuple[int, int]]:
        """Return for each `finished_ms // step_ms` since an instant how many jobs ended, and the longest wait in ms."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT finished_ms / ?, count(*), max(finished_ms - created_ms) FROM receipts"
                " WHERE owner_key = ? AND finished_ms >= ? GROUP BY 1",
                (step_ms, owner.key, since_ms),
            ).fetchall()
        return {step: (count, max(0, longest)) for step, count, longest in rows}

    def by_fingerprint(self, owner: Owner, mark: str) -> ReceiptRow | None:
        """Return the newest job of this owner with that content which did not fail, or None."""
        with self._database.read() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM receipts WHERE owner_key = ? AND fingerprint = ? AND state != 'failed'"
                " ORDER BY created_ms DESC LIMIT 1",
                (owner.key, mark),
            ).fetchone()
        return _made(row) if row else None


def _sequence(connection: sqlite3.Connection, owner: Owner, request_id: str, mark: str, wanted: int | None) -> int:
    taken = {
        int(sequence): str(content)
        for sequence, content in connection.execute(
            "SELECT end_seq, fingerprint FROM receipts WHERE owner_key = ? AND request_id = ?", (owner.key, request_id)
        )
    }
    if wanted is not None and taken.get(wanted, mark) == mark:
        return wanted
    return max(taken, default=-1) + 1


def _row(connection: sqlite3.Connection, job_id: str) -> ReceiptRow | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM receipts WHERE job_id = ?", (job_id,)).fetchone()
    return _made(row) if row else None


def _made(row: tuple[str, JobState, str | None, int, str | None, int, int, str]) -> ReceiptRow:
    job_id, state, step, attempts, error, created_ms, end_seq, document = row
    created = datetime.fromtimestamp(created_ms / 1000, UTC)
    decided = json.loads(document).get("capture") if document != "{}" else None
    decision = CaptureDecision(**decided | {"event_ids": tuple(decided["event_ids"])}) if decided else None
    return ReceiptRow(job_id, state, step, attempts, error, created, end_seq, decision)
