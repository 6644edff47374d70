"""Changing jobs that nobody works on: for taking out what is to be forgotten."""

from __future__ import annotations

from historian.durable import publish, stage
from historian.job import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    for state, job_id, made in _changes(files, view, change):
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


def foresee(files: QueueFiles, view: QueueView, change: Callable[[Job], Job | None]) -> tuple[int, int]:
    """Return how many jobs `revise` would remove and change. Needs the queue's mutex."""
    made = [new for _, _, new in _changes(files, view, change)]
    removed = made.count(None)
    return removed, len(made) - removed


def _changes(
    files: QueueFiles, view: QueueView, change: Callable[[Job], Job | None]
) -> Iterator[tuple[State, str, Job | None]]:
    """Yield the jobs of which `change` makes something else, by state and id, with what it makes of them."""
    for state in _STATES:
        for job_id in files.names(state):
            job = view.load(state, job_id)
            if job is not None and (made := change(job)) != job:
                yield state, job_id, made


def purge(files: QueueFiles, means: Callable[[bytes], bool]) -> list[str]:
    """Remove the originals of files that were no jobs, with what names them, where `means` says so of their bytes.

    Needs the queue's mutex. Return their ids. Links and folders are left alone.
    """
    removed = originals(files, means)
    for job_id in removed:
        files.remove("failed", job_id)
    if removed:
        files.sync("failed")
    return removed


def originals(files: QueueFiles, means: Callable[[bytes], bool]) -> list[str]:
    """Return the ids of kept files that were no jobs, where `means` says so of their bytes."""
    kept = ((job_id, files.original(job_id)) for job_id in files.names("failed", ".poison"))
    return [job_id for job_id, data in kept if data is not None and means(data)]
