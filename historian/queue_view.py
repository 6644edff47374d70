"""What one process knows of the queue without listing its folders: from own steps, the journal, rarely a scan."""

from __future__ import annotations

import time
from collections import deque

from historian.job import PoisonError
from historian.lanes import Lanes
from historian.queue_failed import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from historian.clock import Clock
    from historian.job import Job, State
    from historian.journal import Journal
    from historian.queue_files import QueueFiles

_SCAN_EVERY_SECONDS = 1.0
_QUIET_SECONDS = 2.0
"""Folder times may be this coarse: one that is older and unchanged proves that nothing was added."""


class QueueView:
    """All methods but `arrived` need the queue's mutex. Being out of date is harmless: every claim checks the file."""

    def __init__(self, files: QueueFiles, journal: Journal, clock: Clock) -> None:
        self.lanes = Lanes()
        self._files = files
        self._journal = journal
        self._clock = clock
        self._arrivals: deque[Job] = deque()
        self._scanned_at = float("-inf")
        self._scanned_state = (0, 0.0)

    def arrived(self, job: Job) -> None:
        """Note a job that this process has just made pending. Takes no lock."""
        self._arrivals.append(job)

    def catch_up(self, lock_file: int) -> None:
        """Learn what happened since the last call."""
        while self._arrivals:
            job = self._arrivals.popleft()
            if job.job_id not in self.lanes.running:
                self.lanes.put_pending(job.job_id, job.lane, job.not_before)
        touched = self._journal.news(lock_file)
        if touched is None:
            self.scan()
            return
        for job_id in touched:
            self.look_at(job_id)
        if time.monotonic() - self._scanned_at > _SCAN_EVERY_SECONDS:
            self.scan_if_changed()

    def look_at(self, job_id: str) -> None:
        """Find out where one job is now."""
        job = self.load("processing", job_id)
        if job is not None:
            self.lanes.put_running(job_id, job.lane)
            return
        job = self.load("pending", job_id)
        if job is not None:
            self.lanes.put_pending(job_id, job.lane, job.not_before)
        else:
            self.lanes.drop(job_id)

    def load(self, state: State, job_id: str) -> Job | None:
        """Return the job that lies there, or None; anything that is not a job goes to failed/ at once."""
        try:
            return self._files.load(state, job_id)
        except PoisonError as error:
            self._files.quarantine(state, job_id, str(error), iso(self._clock.now()))
            return None

    def find(self, job_id: str) -> tuple[State, Job] | None:
        """Return the state and the job of that id, or None."""
        for state in ("processing", "pending", "failed"):
            job = self.load(state, job_id)
            if job is not None:
                return state, job
        return None

    def scan_if_changed(self) -> bool:
        """Scan unless the folder of pending jobs has provably not changed since the last scan; tell whether it did."""
        modified, scanned = self._scanned_state
        if self._files.modified("pending") == modified and scanned - modified / 1e9 > _QUIET_SECONDS:
            self._scanned_at = time.monotonic()
            return False
        self.scan()
        return True

    def scan(self) -> None:
        """List both folders and read documents that are new. Of two copies of a job the one in processing counts."""
        self._scanned_state = (self._files.modified("pending"), time.time())
        processing = self._files.names("processing")
        pending = self._files.names("pending")
        for job_id in set(self.lanes.running).difference(processing):
            self.lanes.drop(job_id)
        for job_id in processing:
            if job_id not in self.lanes.running and (job := self.load("processing", job_id)) is not None:
                self.lanes.put_running(job_id, job.lane)
        for job_id in set(self.lanes.pending).difference(pending):
            self.lanes.drop(job_id)
        for job_id in pending:
            if job_id in self.lanes.running:
                self._files.remove("pending", job_id)
            elif job_id not in self.lanes.pending and (job := self.load("pending", job_id)) is not None:
                self.lanes.put_pending(job_id, job.lane, job.not_before)
        self._scanned_at = time.monotonic()
