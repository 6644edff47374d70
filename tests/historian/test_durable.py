"""Files that survive a crash."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from historian.durable import (
    ORPHANED_SECONDS,
    Disk,
    FailingDisk,
    FolderSync,
    store_error,
    sweep_temporaries,
    write_durably,
)
from historian.errors import StoreError, UnreadyStoreError
from historian.hold import try_lock

FULL_DISK = """
import resource, signal, sys
from historian.durable import write_durably
from historian.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_durably(sys.argv[1], b"x" * 5000)
except StoreError as error:
    print(error)
"""


class SlowFolderDisk(Disk):
    """A disk whose folder flush waits until it is let go, and counts."""

    def __init__(self) -> None:
        self.flushes = 0
        self.entered = threading.Event()
        self.go = threading.Event()

    def flush_folder(self, folder: str) -> None:
        self.flushes += 1
        self.entered.set()
        assert self.go.wait(10)


def test_what_was_written_is_there_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    target = tmp_path / "记忆.json"
    write_durably(target, "一".encode())
    write_durably(target, "二 two".encode())
    assert target.read_text("utf-8") == "二 two"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["记忆.json"]


@pytest.mark.parametrize("at", ["create", "write", "flush", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_failing_disk_gives_one_sentence_and_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, at: str, code: int
) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    with pytest.raises(StoreError) as caught:
        write_durably(target, b"new content", disk=FailingDisk(code, at))
    assert str(caught.value).count(".") == 1
    assert str(tmp_path) not in str(caught.value)
    assert target.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_a_real_refusal_to_write_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "a.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert done.stdout.startswith("The disk is full"), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="could not be used"):
        write_durably(tmp_path / "nowhere" / "a.json", b"")


def test_callers_that_arrive_during_a_flush_share_one_later_flush() -> None:
    disk = SlowFolderDisk()
    folder = FolderSync("unused", disk)
    first = threading.Thread(target=folder.sync)
    first.start()
    assert disk.entered.wait(10)
    # these renamed after the first flush had begun, so it does not count for them
    tickets = [folder.ticket() for _ in range(20)]
    late = [threading.Thread(target=folder.sync, args=(ticket,)) for ticket in tickets]
    for thread in late:
        thread.start()
    disk.go.set()
    for thread in (first, *late):
        thread.join(10)
    assert disk.flushes == 2
    folder.sync(tickets[0])
    assert disk.flushes == 2, "an old ticket is covered already"
    folder.sync()
    assert disk.flushes == 3


def test_a_failed_folder_flush_is_told_and_the_next_caller_tries_again(tmp_path: Path) -> None:
    disk = FailingDisk(errno.EIO, "flush_folder")
    folder = FolderSync(tmp_path, disk)
    with pytest.raises(StoreError):
        folder.sync()
    disk.broken = False
    folder.sync()


def test_a_temporary_goes_soon_where_its_process_is_gone_and_stays_where_it_lives(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    gone, lives = (tmp_path / f".~{pid:08x}{'0' * 8}.tmp" for pid in (ended.pid, os.getpid()))
    for path in (gone, lives):
        path.write_bytes(b"half")
    assert sweep_temporaries(tmp_path, 3600) == 0
    for path in (gone, lives):
        os.utime(path, (path.stat().st_mtime - 2 * ORPHANED_SECONDS,) * 2)
    assert sweep_temporaries(tmp_path, 3600) == 1
    assert lives.exists()


def test_a_full_disk_is_nobodys_fault_and_a_file_too_large_is_its_own() -> None:
    """P15, P27: what is refused to everybody may be done again as it is."""
    assert isinstance(store_error(OSError(errno.ENOSPC, "full")), UnreadyStoreError)
    for code in (errno.EFBIG, errno.ENAMETOOLONG, errno.EACCES):
        assert not isinstance(store_error(OSError(code, "no")), UnreadyStoreError)


def test_only_old_temporaries_of_ours_are_swept(tmp_path: Path) -> None:
    old, young, foreign = (tmp_path / name for name in (f".~{'a' * 16}.tmp", f".~{'b' * 16}.tmp", "c.tmp"))
    for path in (old, young, foreign):
        path.write_bytes(b"half")
    for path in (old, foreign):
        os.utime(path, (1, 1))
    assert sweep_temporaries(tmp_path, 60) == 1
    assert not old.exists()
    assert young.exists()
    assert foreign.exists()


def test_a_file_system_without_locks_is_named_and_not_taken_for_one_whose_lock_is_held(tmp_path: Path) -> None:
    """Two open files of one process exclude each other; a closed one stands for what cannot be locked at all."""
    path = tmp_path / "lock"
    first, second = (os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2))
    assert try_lock(first)
    assert not try_lock(second)
    os.close(first)
    assert try_lock(second)
    os.close(second)
    with pytest.raises(StoreError, match="could not be used"):
        try_lock(second)
    for code in (errno.ENOLCK, errno.EOPNOTSUPP):
        assert "cannot be locked; put it on a local disk" in str(store_error(OSError(code, "no locks")))
