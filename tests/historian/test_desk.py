"""Turns that are handed in at once: written together, answered one by one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from historian.bell import Bell
from historian.clock import SystemClock
from historian.closing import Closing, TurnCloser
from historian.corrections import Corrections
from historian.database import Database
from historian.desk import AT_ONCE, Desk
from historian.durable import Disk
from historian.errors import InvalidInputError
from historian.foreground import Foreground
from historian.model import Scope
from historian.options import HistorianOptions
from historian.queue import Queue
from historian.receipts import ReceiptStore
from historian.returned import ReturnedTexts
from historian.session import Session
from historian.turn import Receipt, Turn

SECONDS = 20


class GatedDisk(Disk):
    """A disk whose file flushes wait for `go`. Counts the flushes of the folder."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.waiting = threading.Semaphore(0)
        self.folder_flushes = 0

    def flush(self, descriptor: int) -> None:
        self.waiting.release()
        assert self.go.wait(SECONDS)
        super().flush(descriptor)

    def flush_folder(self, folder: str) -> None:
        self.folder_flushes += 1
        super().flush_folder(folder)


class Room:
    """A desk over a real queue whose disk can be held up."""

    def __init__(self, desk: Desk, queue: Queue, disk: GatedDisk) -> None:
        self.desk = desk
        self.queue = queue
        self.disk = disk
        self.receipts: dict[str, Receipt] = {}

    async def hand_in(self, memo: str) -> None:
        options = HistorianOptions()
        closing = Closing(Scope("alice"), Session(), lambda: (Turn.checked(options, memo=memo), ""))
        self.receipts[memo] = await self.desk.hand_in(closing)

    async def writers_wait(self) -> None:
        """Return when as many turns wait for the disk as are written at once."""
        for _ in range(AT_ONCE):
            acquired = await anyio.to_thread.run_sync(partial(self.disk.waiting.acquire, timeout=SECONDS))
            assert acquired

    def pending(self) -> set[str]:
        return {job.job_id for job in self.queue.jobs("pending")}


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with opened(tmp_path) as made:
        yield made


@contextmanager
def opened(folder: Path) -> Iterator[Room]:
    disk, clock = GatedDisk(), SystemClock()
    database, queue = Database(folder / "shiguan.db"), Queue(folder / "queues", clock=clock, disk=disk)
    disk.folder_flushes = 0
    desk = Desk(
        TurnCloser(queue, ReceiptStore(database), ReturnedTexts(database, clock), Corrections(), clock),
        Bell(),
        Foreground(),
    )
    try:
        yield Room(desk, queue, disk)
    finally:
        queue.close()
        database.close()


async def test_turns_that_come_while_others_are_written_are_written_together(room: Room) -> None:
    memos = [f"Memo {number}." for number in range(40)]
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            for memo in memos:
                tasks.start_soon(room.hand_in, memo)
            await room.writers_wait()
            assert not room.receipts, "nothing is acknowledged before it is on the disk"
            room.disk.go.set()
    assert {receipt.job_id for receipt in room.receipts.values()} == room.pending()
    assert len(room.pending()) == len(memos)
    assert room.disk.folder_flushes <= AT_ONCE + 2


async def test_a_client_that_gives_up_takes_nobody_along(room: Room) -> None:
    """The one that writes for others, one whose turn is next, and one far behind are cancelled."""
    memos = [f"Memo {number}." for number in range(10)]
    scopes = {memo: anyio.CancelScope() for memo in memos}

    async def cancellable(memo: str) -> None:
        with scopes[memo]:
            await room.hand_in(memo)

    given_up = {memos[0], memos[AT_ONCE], memos[7]}
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            for memo in memos:
                tasks.start_soon(cancellable, memo)
            await room.writers_wait()
            for memo in given_up:
                scopes[memo].cancel()
            await anyio.lowlevel.checkpoint()
            room.disk.go.set()
    assert set(room.receipts) >= set(memos) - given_up
    assert {receipt.job_id for receipt in room.receipts.values()} <= room.pending()
    # what was being written is kept, for the client may ask again; what only waited was never taken
    assert len(room.pending()) == len(memos) - 2


async def test_a_turn_that_is_wrong_is_refused_and_stops_no_other(room: Room) -> None:
    refused: list[str] = []

    def wrong() -> tuple[Turn, str]:
        raise InvalidInputError("This is wrong; mend it.")

    async def hand_in_wrong() -> None:
        with pytest.raises(InvalidInputError) as caught:
            await room.desk.hand_in(Closing(Scope("alice"), Session(), wrong))
        refused.append(str(caught.value))

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            for number in range(5):
                tasks.start_soon(room.hand_in, f"Memo {number}.")
                tasks.start_soon(hand_in_wrong)
            room.disk.go.set()
    assert refused == ["This is wrong; mend it."] * 5
    assert len(room.pending()) == len(room.receipts) == 5


async def test_the_same_turn_many_times_in_one_heap_is_one_job(room: Room) -> None:
    """P33: also when the repeats are written together with the first."""
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(room.hand_in, f"Memo {number}.")
            for _ in range(6):
                tasks.start_soon(room.hand_in, "The same.")
            await room.writers_wait()
            room.disk.go.set()
    assert len(room.pending()) == 4
    assert room.receipts["The same."].job_id in room.pending()
