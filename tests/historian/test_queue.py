"""The durable queue in one process."""

from __future__ import annotations

import errno
import json
import os
import random
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from historian.clock import FixedClock
from historian.durable import Disk, FailingDisk
from historian.errors import InvalidInputError, NotFoundError, StoreError
from historian.job import UNREADABLE, Job, JobIds
from historian.liveness import HEARTBEAT_STALE_SECONDS, Claimer, process_start
from historian.queue import Queue

Opener = Callable[..., Queue]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 3, 1, 12, tzinfo=UTC))


@pytest.fixture
def open_queue(tmp_path: Path, clock: FixedClock) -> Iterator[Opener]:
    opened: list[Queue] = []

    def opener(**options: object) -> Queue:
        queue = Queue(tmp_path, clock=clock, rng=random.Random(7), **options)  # type: ignore[arg-type]
        opened.append(queue)
        return queue

    yield opener
    for queue in opened:
        queue.close()


@pytest.fixture
def queue(open_queue: Opener) -> Queue:
    return open_queue()


def take(queue: Queue, busy: tuple[str, ...] = ()) -> Job:
    job = queue.claim(busy)
    assert job is not None
    return job


def drain(queue: Queue) -> list[str]:
    done: list[str] = []
    while (job := queue.claim()) is not None:
        done.append(job.job_id)
        queue.finish(job)
    return done


# ---- documents


@pytest.mark.parametrize("text", ["记忆 memory", "half \ud800 a pair", "nul \x00 inside", "é 😀", "line\nfeed"])
def test_any_text_comes_back_as_it_was_sent(open_queue: Opener, text: str) -> None:
    sent = open_queue().enqueue("write", text, {text: [text, None, 1.5]})
    got = take(open_queue())
    assert got == sent
    assert got.payload == {text: [text, None, 1.5]}
    assert got.lane == text


def test_a_job_file_is_one_versioned_utf8_document_for_its_owner_only(queue: Queue, tmp_path: Path) -> None:
    job = queue.enqueue("write", "u", {"文": 1})
    path = tmp_path / "pending" / f"{job.job_id}.json"
    assert json.loads(path.read_text("utf-8"))["schema"] == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert job.created_at == "2026-03-01T12:00:00.000000Z"


@pytest.mark.parametrize("payload", [{"a": {1, 2}}, {"a": float("nan")}, [1], "text", {"a": object()}])
def test_a_payload_that_is_not_a_json_object_is_refused_and_leaves_nothing(
    queue: Queue, tmp_path: Path, payload: object
) -> None:
    with pytest.raises(InvalidInputError):
        queue.enqueue("write", "u", payload)  # type: ignore[arg-type]
    assert list((tmp_path / "pending").iterdir()) == []


@pytest.mark.parametrize("job_id", ["../x", "a/b", "A", "", "a" * 65, "a.b", "\x00"])
def test_an_impossible_job_id_is_refused(queue: Queue, job_id: str) -> None:
    with pytest.raises(InvalidInputError):
        queue.enqueue("write", "u", {}, job_id=job_id) if job_id else queue.enqueue("", "u", {})
    assert queue.get(job_id) is None
    with pytest.raises(NotFoundError):
        queue.discard(job_id)


def test_ids_strictly_increase_also_across_threads() -> None:
    made: list[list[str]] = [[] for _ in range(4)]
    threads = [threading.Thread(target=lambda m=m: m.extend(JobIds.new() for _ in range(500))) for m in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(ids == sorted(ids) for ids in made)
    assert len({job_id for ids in made for job_id in ids}) == 2000


def test_a_job_is_frozen() -> None:
    job = Job("a", "k", "l", {})
    with pytest.raises(AttributeError):
        job.step = "x"  # type: ignore[misc]
    assert job.but(step="x").step == "x"
    assert job == Job("a", "k", "l", {})


# ---- order


def test_jobs_come_in_the_order_they_were_sent_and_one_per_lane_at_a_time(queue: Queue) -> None:
    ids = [queue.enqueue("k", lane, {}).job_id for lane in ("a", "a", "b", "c")]
    first, second = take(queue), take(queue, ("c",))
    assert [first.job_id, second.job_id] == [ids[0], ids[2]]
    assert queue.claim(("c",)) is None
    queue.finish(first)
    assert take(queue, ("c",)).job_id == ids[1]
    assert take(queue).job_id == ids[3]


def test_a_job_in_back_off_holds_up_its_lane_and_no_other(queue: Queue, clock: FixedClock) -> None:
    head = queue.enqueue("k", "a", {})
    queue.enqueue("k", "a", {})
    other = queue.enqueue("k", "b", {})
    assert queue.retry(take(queue), "it failed") is not None
    assert take(queue).job_id == other.job_id
    assert queue.claim() is None
    due = queue.next_due()
    assert due is not None
    clock.advance(seconds=due)
    assert take(queue).job_id == head.job_id


def test_what_another_process_adds_or_moves_is_seen_at_the_next_claim(open_queue: Opener, clock: FixedClock) -> None:
    ours, theirs = open_queue(), open_queue()
    assert ours.claim() is None
    first = theirs.enqueue("k", "a", {})
    second = ours.enqueue("k", "a", {})
    job = take(theirs)
    assert job.job_id == first.job_id
    assert ours.claim() is None, "the lane is busy elsewhere"
    theirs.retry(job, "failed")
    assert ours.claim() is None, "its head is in back-off"
    clock.advance(seconds=5)
    assert take(ours).job_id == first.job_id
    assert theirs.claim() is None
    assert second.job_id > first.job_id


def test_a_file_dropped_in_by_hand_is_found(queue: Queue, tmp_path: Path) -> None:
    assert queue.claim() is None
    document = {"schema": 1, "kind": "k", "lane": "l", "payload": {}, "created_at": "", "attempts": 0}
    text = json.dumps(document | {"job_id": "by-hand", "not_before": None, "errors": [], "step": ""})
    (tmp_path / "pending" / "by-hand.json").write_text(text, "utf-8")
    assert take(queue).job_id == "by-hand"


def test_the_journal_starts_again_when_it_is_long_and_nobody_misses_anything(
    open_queue: Opener, tmp_path: Path
) -> None:
    ours, theirs = open_queue(), open_queue()
    assert ours.claim() is None
    with (tmp_path / ".journal").open("ab") as journal:
        journal.write(b"x" * (1 << 20) + b"\n")
    first = theirs.enqueue("k", "a", {})
    assert take(theirs).job_id == first.job_id
    assert (tmp_path / ".journal").stat().st_size < 1000
    assert ours.claim() is None
    second = theirs.enqueue("k", "b", {})
    assert take(ours).job_id == second.job_id


def test_what_another_process_finishes_is_seen_though_this_one_had_added_it(open_queue: Opener) -> None:
    """Own lines that a first look passes over are not taken for the lines of others later."""
    ours, theirs = open_queue(), open_queue()
    first, second = ours.enqueue("k", "a", {}), ours.enqueue("k", "a", {})
    claimed = take(theirs)
    assert claimed.job_id == first.job_id
    ours.enqueue("k", "b", {})
    assert ours.waiting() == 2
    theirs.finish(claimed)
    assert take(ours).job_id == second.job_id


# ---- retries


def test_the_first_retry_comes_within_five_seconds_and_later_ones_later(open_queue: Opener, clock: FixedClock) -> None:
    queue = open_queue(base_delay=60.0, max_retries=2)
    queue.enqueue("k", "a", {})
    waits: list[float] = []
    for number in range(2):
        back = queue.retry(take(queue), f"error {number}")
        assert back is not None
        assert back.attempts == number + 1
        wait = queue.next_due()
        assert wait is not None
        waits.append(wait)
        clock.advance(seconds=wait)
    assert 0 < waits[0] <= 5 < waits[1] <= 300
    assert queue.retry(take(queue), "error 2") is None
    (failed,) = queue.jobs("failed")
    assert (failed.attempts, failed.reason, failed.errors) == (3, "error 2", ("error 0", "error 1", "error 2"))


def test_with_no_retries_the_first_failure_is_the_last(open_queue: Opener) -> None:
    queue = open_queue(max_retries=0)
    queue.enqueue("k", "a", {})
    assert queue.retry(take(queue), "no") is None
    assert queue.stats().failed == 1


def test_an_endpoint_that_names_a_time_is_not_asked_earlier(queue: Queue, clock: FixedClock) -> None:
    queue.enqueue("k", "a", {})
    queue.retry(take(queue), "429", retry_after=90.0)
    due = queue.next_due()
    assert due is not None
    assert 90.0 <= due < 90.1
    clock.advance(seconds=89)
    assert queue.claim() is None
    clock.advance(seconds=1.1)
    take(queue)


def test_an_outage_costs_no_attempt_however_long(queue: Queue, clock: FixedClock) -> None:
    queue.enqueue("k", "a", {})
    for _ in range(10):
        queue.postpone(take(queue), 30, "The model is away.")
        clock.advance(seconds=30.1)
    job = take(queue)
    assert (job.attempts, job.errors) == (0, ("The model is away.",))


def test_the_errors_kept_are_few_and_short(open_queue: Opener, clock: FixedClock) -> None:
    queue = open_queue(max_retries=50)
    queue.enqueue("k", "a", {})
    for number in range(9):
        queue.retry(take(queue), f"{number}" + "x" * 9000)
        clock.advance(seconds=400)
    errors = take(queue).errors
    assert [error[0] for error in errors] == ["4", "5", "6", "7", "8"]
    assert max(map(len, errors)) == 500


def test_a_step_is_found_again_after_a_crash(open_queue: Opener) -> None:
    before = open_queue()
    before.enqueue("k", "a", {})
    job = take(before)
    assert before.set_step(job, "drafted").step == "drafted"
    before.close()
    after = open_queue()
    assert after.recover() == [job.job_id]
    assert take(after).step == "drafted"


def test_the_same_id_twice_is_one_job_wherever_it_is(open_queue: Opener) -> None:
    """P83: replaying an event does not make a second job."""
    queue = open_queue(max_retries=0)
    first = queue.enqueue("k", "a", {"n": 1}, job_id="event-1")
    assert queue.enqueue("k", "a", {"n": 2}, job_id="event-1") == first
    job = take(queue)
    assert open_queue().enqueue("k", "a", {"n": 3}, job_id="event-1").payload == {"n": 1}
    queue.park(job, "no use")
    assert queue.enqueue("k", "a", {}, job_id="event-1").reason == "no use"
    stats = queue.stats()
    assert (stats.pending, stats.processing, stats.failed) == (0, 0, 1)


# ---- failed jobs


def test_a_parked_job_has_a_reason_and_can_be_tried_again_with_a_fresh_count(queue: Queue) -> None:
    job = queue.enqueue("k", "a", {})
    queue.retry(take(queue), "first")
    with pytest.raises(NotFoundError):
        queue.retry_failed(job.job_id)
    clock_free = queue.get(job.job_id)
    assert clock_free is not None
    assert clock_free[0] == "pending"
    other = queue.enqueue("k", "b", {})
    queue.park(take(queue), "The key is wrong.")
    found = queue.get(other.job_id)
    assert found is not None
    assert (found[0], found[1].reason) == ("failed", "The key is wrong.")
    assert queue.retry_failed() == [other.job_id]
    again = take(queue)
    assert (again.job_id, again.attempts, again.reason) == (other.job_id, 0, None)


def test_failed_jobs_can_be_thrown_away_one_or_all(queue: Queue) -> None:
    for lane in "abc":
        queue.enqueue("k", lane, {})
        queue.park(take(queue), "no")
    one = queue.jobs("failed")[0].job_id
    assert queue.discard(one) == [one]
    with pytest.raises(NotFoundError):
        queue.discard(one)
    assert len(queue.discard()) == 2
    assert queue.stats().failed == 0


def test_failed_jobs_are_kept_for_so_many_days_and_up_to_so_many(open_queue: Opener, clock: FixedClock) -> None:
    queue = open_queue(failed_max_age_days=30, failed_max_files=3)
    parked: list[str] = []
    for number in range(6):
        parked.append(queue.enqueue("k", str(number), {}).job_id)
        queue.park(take(queue), "no")
        clock.advance(seconds=86_400)
    assert queue.sweep() == 3
    assert [job.job_id for job in queue.jobs("failed")] == parked[3:]
    clock.advance(seconds=27.5 * 86_400)
    queue.sweep()
    assert [job.job_id for job in queue.jobs("failed")] == parked[4:]


def test_jobs_that_are_not_ours_are_not_found(queue: Queue) -> None:
    job = queue.enqueue("k", "a", {})
    for step in (queue.finish, queue.heartbeat, lambda j: queue.retry(j, "x"), lambda j: queue.park(j, "x")):
        with pytest.raises(NotFoundError):
            step(job)
    queue.finish(take(queue))
    with pytest.raises(NotFoundError):
        queue.finish(job)


def test_stats_tell_how_long_the_oldest_has_waited(queue: Queue, clock: FixedClock) -> None:
    queue.enqueue("k", "a", {})
    clock.advance(seconds=42)
    queue.enqueue("k", "b", {})
    assert queue.stats().oldest_pending_age == 42


# ---- poison


def poison(folder: Path, good: bytes) -> dict[str, Path]:
    """Put one of each kind of rubbish into `folder`."""
    files = {
        "half": good[: len(good) // 2],
        "empty": b"",
        "latin": b'{"a":"\xe9"}',
        "utf16": good.decode().encode("utf-16"),
        "list": b"[]",
        "deep": b"[" * 200_000,
        "schema": good.replace(b'"schema":1', b'"schema":2'),
        "truth": good.replace(b'"schema":1', b'"schema":true'),
        "othername": good,
        "infinite": good.replace(b'"not_before":null', b'"not_before":Infinity'),
        "UPPER case": b"{}",
    }
    for name, data in files.items():
        (folder / f"{name}.json").write_bytes(data)
    (folder / "folder.json").mkdir()
    (folder / "folder.json" / "inside").write_bytes(b"kept")
    (folder / "link.json").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.json")
    return {name: folder / f"{name}.json" for name in (*files, "folder", "link", "pipe")}


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
@pytest.mark.parametrize("state", ["pending", "processing"])
def test_rubbish_goes_to_failed_with_a_reason_and_the_good_jobs_run(
    open_queue: Opener, tmp_path: Path, state: str
) -> None:
    """P13: half a line, not UTF-8, a folder or a link in the way; the others work on."""
    queue = open_queue()
    good = queue.enqueue("k", "a", {}).job_id
    bad = poison(tmp_path / state, (tmp_path / "pending" / f"{good}.json").read_bytes())
    assert open_queue().recover() == []
    assert drain(queue) == [good]
    assert not any(os.path.lexists(path) for path in bad.values())
    failed = queue.jobs("failed")
    assert len(failed) == len(bad)
    for job in failed:
        assert job.reason
        assert job.kind == UNREADABLE
        assert os.path.lexists(tmp_path / "failed" / str(job.payload["original"]))
    assert (tmp_path / "failed" / "latin.poison").read_bytes() == b'{"a":"\xe9"}'
    with pytest.raises(InvalidInputError):
        queue.retry_failed("latin")
    assert queue.retry_failed() == []
    queue.discard()
    assert list((tmp_path / "failed").iterdir()) == []


def test_a_damaged_failure_document_is_kept_and_told(queue: Queue, tmp_path: Path) -> None:
    """P13: rubbish in failed/ does not hide the other failed jobs."""
    queue.enqueue("k", "a", {})
    parked = queue.park(take(queue), "no")
    (tmp_path / "failed" / "torn.json").write_bytes(b'{"schema"')
    (tmp_path / "failed" / "orphan.poison").write_bytes(b"?")
    queue.sweep()
    assert {job.job_id for job in queue.jobs("failed")} == {parked.job_id, "torn", "orphan"}
    assert (tmp_path / "failed" / "torn.poison").read_bytes() == b'{"schema"'


# ---- concurrency, crashes, disks


def test_twenty_enqueues_at_once_give_twenty_whole_files(queue: Queue, tmp_path: Path) -> None:
    """P12: concurrent producers never mix or overwrite each other's documents."""
    barrier = threading.Barrier(20)

    def produce(number: int) -> None:
        barrier.wait(10)
        queue.enqueue("k", "a", {"n": number})

    threads = [threading.Thread(target=produce, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    documents = [json.loads(path.read_bytes()) for path in (tmp_path / "pending").glob("*.json")]
    assert sorted(document["payload"]["n"] for document in documents) == list(range(20))
    assert len(drain(queue)) == 20


def test_400_pending_jobs_drain_in_order_after_a_restart(open_queue: Opener) -> None:
    """P30: a backlog survives a restart and is worked off."""
    before = open_queue()
    ids = [before.enqueue("k", "a", {"n": number}).job_id for number in range(400)]
    held = take(before)
    before.close()
    after = open_queue()
    assert after.recover() == [held.job_id]
    assert drain(after) == ids


def test_a_full_disk_refuses_the_job_in_one_sentence_and_loses_none(open_queue: Opener, tmp_path: Path) -> None:
    disk = FailingDisk(errno.ENOSPC)
    disk.broken = False
    queue = open_queue(disk=disk)
    held = queue.enqueue("k", "a", {})
    other = queue.enqueue("k", "b", {})
    job = take(queue)
    disk.broken = True
    with pytest.raises(StoreError, match="disk is full"):
        queue.enqueue("k", "c", {})
    with pytest.raises(StoreError, match="disk is full"):
        queue.retry(job, "x")
    with pytest.raises(StoreError, match="disk is full"):
        queue.claim()
    assert not list(tmp_path.rglob("*.tmp"))
    queue.finish(job)
    disk.broken = False
    assert drain(queue) == [other.job_id]
    assert held.job_id == job.job_id


class DyingDisk(Disk):
    """Dies at the n-th changing system call, and stays dead."""

    def __init__(self) -> None:
        self.left = 10**9

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt("killed")

    def create(self, path: str, mode: int) -> int:
        self._step()
        return super().create(path, mode)

    def write(self, descriptor: int, data: bytes) -> None:
        self._step()
        super().write(descriptor, data)

    def replace(self, source: str, target: str) -> None:
        self._step()
        super().replace(source, target)

    def unlink(self, path: str) -> None:
        self._step()
        super().unlink(path)

    def flush_folder(self, folder: str) -> None:
        self._step()
        super().flush_folder(folder)


ACTIONS: dict[str, Callable[[Queue], object]] = {
    "claim": lambda q: q.claim(),
    "finish": lambda q: q.finish(take(q)),
    "retry": lambda q: q.retry(take(q), "x"),
    "last retry": lambda q: q.retry(take(q), "x"),
    "park": lambda q: q.park(take(q), "x"),
    "postpone": lambda q: q.postpone(take(q), 1, "x"),
    "step": lambda q: q.set_step(take(q), "x"),
    "retry failed": lambda q: [q.park(take(q), "x"), q.retry_failed()],
    "replay": lambda q: q.enqueue("k", "a", {}, job_id="given"),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_a_death_between_any_two_system_calls_leaves_exactly_one_copy(
    tmp_path: Path, clock: FixedClock, name: str
) -> None:
    for calls in range(60):
        root = tmp_path / str(calls)
        disk = DyingDisk()
        first = Queue(root, clock=clock, disk=disk, max_retries=0 if name == "last retry" else 3)
        job_id = first.enqueue("k", "a", {}).job_id
        disk.left = calls
        survived = False
        try:
            ACTIONS[name](first)
            survived = True
        except (KeyboardInterrupt, AssertionError):
            pass
        first.close()
        second = Queue(root, clock=clock)
        second.recover()
        copies = list(root.rglob(f"{job_id}.json"))
        assert len(copies) == 1 or (name == "finish" and not copies), (calls, copies)
        if copies and copies[0].parent.name == "pending":
            clock.advance(seconds=600)
            assert job_id in drain(second)
        elif copies:
            assert json.loads(copies[0].read_bytes())["reason"]
        second.close()
        if survived:
            break
    else:
        pytest.fail("the action never got through")


class RecordingDisk(Disk):
    """Notes what is done in which order, and refuses to create the files whose number is in `refused`."""

    def __init__(self, refused: Collection[int] = ()) -> None:
        self.steps: list[str] = []
        self.refused = refused
        self.created = 0

    def create(self, path: str, mode: int) -> int:
        self.created += 1
        if self.created - 1 in self.refused:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().create(path, mode)

    def flush(self, descriptor: int) -> None:
        super().flush(descriptor)
        self.steps.append("flush")

    def replace(self, source: str, target: str) -> None:
        super().replace(source, target)
        self.steps.append("replace")

    def flush_folder(self, folder: str) -> None:
        super().flush_folder(folder)
        self.steps.append("flush folder")


def test_jobs_that_are_added_together_are_flushed_then_renamed_and_share_the_flush_of_the_folder(
    open_queue: Opener,
) -> None:
    disk = RecordingDisk()
    queue = open_queue(disk=disk)
    disk.steps.clear()
    added = queue.enqueue_all("k", [(f"lane {number}", {"n": number}) for number in range(20)])
    assert disk.steps == ["flush"] * 20 + ["replace"] * 20 + ["flush folder"]
    assert [job.payload["n"] for job in added if isinstance(job, Job)] == list(range(20))
    assert drain(queue) == [job.job_id for job in added if isinstance(job, Job)]


def test_of_jobs_that_are_added_together_those_the_disk_refuses_stop_no_other(
    open_queue: Opener, tmp_path: Path
) -> None:
    queue = open_queue(disk=RecordingDisk(refused={1, 3}))
    added = queue.enqueue_all("k", [("a", {"n": number}) for number in range(5)])
    assert [isinstance(job, StoreError) for job in added] == [False, True, False, True, False]
    assert not list(tmp_path.rglob("*.tmp"))
    assert drain(queue) == [job.job_id for job in added if isinstance(job, Job)]


def test_where_the_folder_cannot_be_flushed_none_of_the_jobs_is_acknowledged(open_queue: Opener) -> None:
    disk = FailingDisk(errno.EIO, at="flush_folder")
    disk.broken = False
    queue = open_queue(disk=disk)
    disk.broken = True
    assert all(isinstance(job, StoreError) for job in queue.enqueue_all("k", [("a", {}), ("b", {})]))


def test_a_death_while_jobs_are_added_together_leaves_whole_files_only(tmp_path: Path, clock: FixedClock) -> None:
    for calls in range(60):
        root, disk = tmp_path / str(calls), DyingDisk()
        first = Queue(root, clock=clock, disk=disk)
        disk.left = calls
        added: list[Job | StoreError] = []
        with suppress(KeyboardInterrupt):
            added = first.enqueue_all("k", [("a", {"n": number}) for number in range(4)])
        first.close()
        second = Queue(root, clock=clock)
        second.recover()
        kept = [job.payload["n"] for job in second.jobs("pending")]
        assert not second.jobs("failed")
        assert kept == list(range(len(kept)))
        second.close()
        if added:
            assert kept == [0, 1, 2, 3]
            break
    else:
        pytest.fail("the jobs never got through")


def test_of_two_copies_the_one_being_processed_counts(open_queue: Opener, tmp_path: Path) -> None:
    queue = open_queue()
    job = queue.enqueue("k", "a", {})
    document = (tmp_path / "pending" / f"{job.job_id}.json").read_bytes()
    held = take(queue)
    (tmp_path / "pending" / f"{job.job_id}.json").write_bytes(document)
    other = open_queue()
    assert other.claim() is None
    queue.finish(held)
    assert other.claim() is None
    assert queue.claim() is None


# ---- liveness


def test_a_job_of_an_open_queue_of_this_process_is_not_stolen(open_queue: Opener) -> None:
    holder, other = open_queue(), open_queue()
    holder.enqueue("k", "a", {})
    job = take(holder)
    assert other.recover() == []
    assert holder.recover() == []
    holder.close()
    assert other.recover() == [job.job_id]
    with pytest.raises(StoreError):
        holder.finish(job)


def claim_as(tmp_path: Path, job_id: str, **changes: object) -> None:
    """Rewrite the claim as if somebody else had made it."""
    path = tmp_path / "processing" / f"{job_id}.claim"
    when = path.stat().st_mtime
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes), "utf-8")
    os.utime(path, (when, when))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("changes", "abandoned"),
    [
        ({"pid": 2**22 - 3, "start": "5"}, True),
        ({"pid": os.getppid(), "start": process_start(os.getppid())}, False),
        ({"pid": os.getppid(), "start": "1"}, os.getppid() != 1),
        ({"boot": "another boot"}, True),
        ({"host": "another host", "pid": 1}, False),
        ({"space": "another container"}, False),
    ],
)
def test_only_a_claimer_that_is_dead_or_whose_pid_was_given_away_is_robbed(
    open_queue: Opener, tmp_path: Path, changes: dict[str, object], abandoned: bool
) -> None:
    queue = open_queue()
    queue.enqueue("k", "a", {})
    job = take(queue)
    claim_as(tmp_path, job.job_id, **changes)
    assert (queue.recover() == [job.job_id]) is abandoned


def test_a_claimer_elsewhere_keeps_its_job_as_long_as_its_heart_beats(
    open_queue: Opener, tmp_path: Path, clock: FixedClock
) -> None:
    queue = open_queue()
    queue.enqueue("k", "a", {})
    job = take(queue)
    claim_as(tmp_path, job.job_id, host="another host")
    clock.advance(seconds=HEARTBEAT_STALE_SECONDS - 1)
    queue.heartbeat(job)
    clock.advance(seconds=HEARTBEAT_STALE_SECONDS - 1)
    assert queue.recover() == []
    clock.advance(seconds=2)
    assert queue.recover() == [job.job_id]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_killed_process_that_nobody_has_waited_for_counts_as_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        start = process_start(child.pid)
        me = Claimer.here("me")
        claimer = Claimer(me.host, me.boot, me.space, child.pid, str(start), "it")
        assert claimer.is_alive(me, 10**6)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not claimer.is_alive(me, 0)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b'{"host":1}'])
def test_a_claim_that_cannot_be_read_is_no_claim(open_queue: Opener, tmp_path: Path, data: bytes) -> None:
    queue = open_queue()
    queue.enqueue("k", "a", {})
    job = take(queue)
    (tmp_path / "processing" / f"{job.job_id}.claim").write_bytes(data)
    assert open_queue().recover() == [job.job_id]


def test_a_hook_loads_no_heavy_module() -> None:
    """The import budget: nothing that costs a host's hook milliseconds is loaded."""
    code = "import sys, historian.queue; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(Path.cwd())!r}); {code}"],
                          capture_output=True, text=True, check=True, timeout=30)  # fmt: skip
    loaded = set(done.stdout.split())
    assert not loaded & {"anyio", "pydantic", "dataclasses", "inspect", "typing", "pathlib", "asyncio", "logging",
                         "datetime", "hashlib", "random", "chromadb", "openai", "numpy"}  # fmt: skip
