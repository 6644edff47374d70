"""The folders of the queue: `pending`, `processing` and `failed`, one document per job, and how files get in and out.

Beside `processing/{id}.json` lies `{id}.claim`, which says who works on it; beside `failed/{id}.json` may lie
`{id}.poison`, the untouched original of something that was not a job.
"""

# ruff: noqa: PTH103, PTH108, PTH112, PTH114, PTH116, PTH208
from __future__ import annotations

import errno
import os
import stat

from historian.durable import Disk, DiskErrors, FolderSync, write_durably
from historian.errors import StoreError, UnreadyStoreError
from historian.job import STATES, UNREADABLE, Job, JobIds, PoisonError, decode, encode, is_job_id
from historian.liveness import Claimer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from historian.job import State

_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class QueueFiles:
    """Paths and single steps. Whoever calls a changing step holds the queue's mutex, except for adding to `pending`."""

    def __init__(self, root: str, disk: Disk) -> None:
        self.root = root
        self.disk = disk
        self.folders: dict[State, str] = {state: f"{root}{os.sep}{state}" for state in STATES}
        with DiskErrors():
            for folder in self.folders.values():
                if not os.path.isdir(folder):
                    os.makedirs(root, 0o700, exist_ok=True)
                    os.makedirs(folder, 0o700, exist_ok=True)
                    disk.flush_folder(root)
        self.syncs: dict[State, FolderSync] = {state: FolderSync(self.folders[state], disk) for state in STATES}

    def path(self, state: State, job_id: str, suffix: str = ".json") -> str:
        """Return where a file of the job lies."""
        return f"{self.folders[state]}{os.sep}{job_id}{suffix}"

    def names(self, state: State, suffix: str = ".json") -> list[str]:
        """Return the sorted names, without suffix, of all entries that end in `suffix`."""
        cut = -len(suffix)
        with DiskErrors():
            return sorted(name[:cut] for name in os.listdir(self.folders[state]) if name.endswith(suffix))

    def exists(self, state: State, job_id: str, suffix: str = ".json") -> bool:
        """Tell whether there is anything of that name."""
        return os.path.lexists(self.path(state, job_id, suffix))

    def modified(self, state: State) -> int:
        """Return when a name was last added or removed, in nanoseconds since the epoch."""
        with DiskErrors():
            return os.stat(self.folders[state]).st_mtime_ns

    def load(self, state: State, job_id: str) -> Job | None:
        """Return the job, or None when there is no such file.

        Raises:
            PoisonError: something else lies there.
        """
        if not is_job_id(job_id):
            raise PoisonError("The file name is not a job id.")
        data = _read_regular(self.path(state, job_id))
        if data is None:
            return None
        job = decode(data, job_id)
        # a job that was brought back from failed/ still tells in its document why it was there
        return job if state == "failed" or job.reason is None else job.but(reason=None, failed_at=None)

    def original(self, job_id: str) -> bytes | None:
        """Return what lies in `failed` as the original of a file that was no job; None where it is no regular file."""
        try:
            return _read_regular(self.path("failed", job_id, ".poison"))
        except PoisonError:
            return None

    def move(self, source: State, target: State, job_id: str) -> None:
        """Rename a document from one folder to another; one of that name in the target is replaced."""
        with DiskErrors():
            self.disk.replace(self.path(source, job_id), self.path(target, job_id))

    def remove(self, state: State, job_id: str) -> None:
        """Remove a document and what lies beside it."""
        with DiskErrors():
            self.disk.unlink(self.path(state, job_id))
            if state == "processing":
                self.disk.unlink(self.path(state, job_id, ".claim"))
            elif state == "failed":
                _remove_anything(self.path(state, job_id, ".poison"))

    def sync(self, *states: State) -> None:
        """Return once the names in these folders are on the medium."""
        for state in states:
            self.syncs[state].sync()

    def write_claim(self, job_id: str, claimer: Claimer, now: float) -> None:
        """Note who is about to work on the job. Not flushed: after a power cut no claim is valid anyway."""
        path = self.path("processing", job_id, ".claim")
        with DiskErrors():
            self.disk.unlink(path)
            descriptor = self.disk.create(path, 0o600)
            try:
                self.disk.write(descriptor, claimer.encode())
            finally:
                os.close(descriptor)
            os.utime(path, (now, now))

    def read_claim(self, job_id: str) -> tuple[Claimer, float] | None:
        """Return who works on the job and the epoch seconds of the last heartbeat, or None when nobody does."""
        path = self.path("processing", job_id, ".claim")
        try:
            data = _read_regular(path)
            claimer = None if data is None else Claimer.decode(data)
            return None if claimer is None else (claimer, os.stat(path).st_mtime)
        except (PoisonError, FileNotFoundError):
            return None

    def touch_claim(self, job_id: str, now: float) -> bool:
        """Set the heartbeat; false when the claim is gone."""
        try:
            with DiskErrors():
                os.utime(self.path("processing", job_id, ".claim"), (now, now))
        except StoreError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return False
            raise
        return True

    def quarantine(self, state: State, name: str, reason: str, at: str) -> Job:
        """Move `{name}.json`, whatever it is, out of the way and write a failure document that names it.

        The move comes first, so that a full disk cannot keep it in the way; `adopt` makes up for a missing document.
        """
        taken = self.exists("failed", name, ".poison") or (state != "failed" and self.exists("failed", name))
        job_id = name if is_job_id(name) and not taken else JobIds.new()
        with DiskErrors():
            self.disk.replace(self.path(state, name), self.path("failed", job_id, ".poison"))
            if state == "processing":
                self.disk.unlink(self.path(state, name, ".claim"))
        return self.adopt(job_id, reason, at, {"name": f"{name}.json", "found_in": state})

    def adopt(self, job_id: str, reason: str, at: str, about: dict[str, object]) -> Job:
        """Write the failure document for `failed/{job_id}.poison`; on a full disk the next sweep tries again."""
        payload = about | {"original": f"{job_id}.poison"}
        job = Job(job_id, UNREADABLE, UNREADABLE, payload, created_at=at, reason=reason, failed_at=at)
        try:
            write_durably(self.path("failed", job_id), encode(job), sync=self.syncs["failed"], disk=self.disk)
        except StoreError:
            return job
        return job


def _read_regular(path: str) -> bytes | None:
    """Return the content of a regular file, or None when there is none. Follows no link, waits for no pipe."""
    try:
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ENFILE, errno.EMFILE):
            raise UnreadyStoreError("Too many files are open; raise the limit or close some and try again.") from error
        raise PoisonError("The file is a link, or it may not be read.") from error
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise PoisonError("This is not a file.")
        with DiskErrors():
            return _read_all(descriptor, about.st_size)
    finally:
        os.close(descriptor)


def _read_all(descriptor: int, size: int) -> bytes:
    parts: list[bytes] = []
    while part := os.read(descriptor, max(size, 1 << 12) + 1):
        parts.append(part)
    return b"".join(parts)


def _remove_anything(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil

        shutil.rmtree(path)
        return
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
