"""Changing jobs that nobody works on: for taking out what is to be forgotten."""

from __future__ import annotations

from historian.durable import publish, stage
from historian.job import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from historian.job import Job, State
    from historian.queue_files import QueueFiles
    from historian.queue_view import QueueView

_STATES: tuple[State, ...] = ("pending", "failed")


def revise(files: QueueFiles, view: QueueView, change: Callable[[Job], Job | None]) -> tuple[list[str], int]:
    """Replace each job by what `change` makes of it, and remove it where that is None. Needs the queue's mutex.

    Return the ids of those that were removed, and how many changed.
    """
    removed: list[str] = []
    changed = 0
    for state in _STATES:
        for job_id in files.names(state):
            job = view.load(state, job_id)
            made = None if job is None else change(job)
            if job is None or made == job:
                continue
            if made is None:
                files.remove(state, job_id)
                view.lanes.drop(job_id)
                removed.append(job_id)
            else:
                staged = stage(files.folders[state], encode(made), disk=files.disk)
                publish(staged, files.path(state, job_id), files.disk)
                changed += 1
    files.sync(*_STATES)
    return removed, changed


def purge(files: QueueFiles, means: Callable[[bytes], bool]) -> list[str]:
    """Remove the originals of files that were no jobs, with what names them, where `means` says so of their bytes.

    Needs the queue's mutex. Return their ids. Links and folders are left alone.
    """
    removed: list[str] = []
    for job_id in files.names("failed", ".poison"):
        data = files.original(job_id)
        if data is not None and means(data):
            files.remove("failed", job_id)
            removed.append(job_id)
    if removed:
        files.sync("failed")
    return removed
