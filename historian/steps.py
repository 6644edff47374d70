"""Which step each running job is at; for status only, so it lives in memory."""

from __future__ import annotations

import threading


class Steps:
    """Job id → the step it is at. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at: dict[str, str] = {}

    def enter(self, job_id: str, step: str) -> None:
        """Note that a job begins a step."""
        with self._lock:
            self._at[job_id] = step

    def leave(self, job_id: str) -> None:
        """Note that a job is no longer being worked on."""
        with self._lock:
            self._at.pop(job_id, None)

    def of(self, job_id: str) -> str | None:
        """Return the step of a job, or None when nobody works on it."""
        with self._lock:
            return self._at.get(job_id)
