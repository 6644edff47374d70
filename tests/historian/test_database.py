"""One file, one writer at a time, any number of readers, across threads and processes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from historian.database import Database
from historian.durable import FailingDisk
from historian.errors import StoreError, UnreadyStoreError
from historian.schema import MIGRATIONS

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memory.sqlite3"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(path)
    yield opened
    opened.close()


def put(database: Database, key: str, value: str = "x") -> None:
    with database.write() as connection:
        connection.execute("INSERT INTO settings (key, value) VALUES (?, ?)", (key, value))


def keys(database: Database) -> list[str]:
    with database.read() as connection:
        return [key for (key,) in connection.execute("SELECT key FROM settings ORDER BY key")]


def child(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_new_file_is_private_durable_and_complete(database: Database, path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
    put(database, "a")
    for beside in path.parent.iterdir():
        assert beside.stat().st_mode & 0o077 == 0, beside.name
    with database.write() as connection:
        pragmas = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "user_version", "busy_timeout")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "secure_delete": 1,
        "user_version": len(MIGRATIONS),
        "busy_timeout": 5000,
    }


def test_what_was_written_is_there_after_reopening(database: Database, path: Path) -> None:
    put(database, "a")
    database.close()
    again = Database(path)
    assert keys(again) == ["a"]
    again.close()


def test_a_block_that_raises_leaves_nothing(database: Database) -> None:
    with pytest.raises(ValueError, match="no"), database.write() as connection:
        connection.execute("INSERT INTO settings (key, value) VALUES ('a', 'x')")
        raise ValueError("no")
    assert keys(database) == []
    put(database, "b")
    assert keys(database) == ["b"]


def test_an_inner_block_is_undone_alone_and_commits_with_the_outer_one(database: Database) -> None:
    with database.write() as connection:
        put(database, "inner")
        with pytest.raises(sqlite3.IntegrityError):
            put(database, "inner")
        connection.execute("INSERT INTO settings (key, value) VALUES ('outer', 'x')")
        assert keys(database) == []
    assert keys(database) == ["inner", "outer"]


def test_a_reader_sees_one_snapshot_and_cannot_write(database: Database) -> None:
    put(database, "a")
    with database.read() as connection:
        count = "SELECT count(*) FROM settings"
        before = connection.execute(count).fetchone()
        put(database, "b")
        assert connection.execute(count).fetchone() == before
        with pytest.raises(sqlite3.OperationalError):
            connection.execute("DELETE FROM settings")
    assert keys(database) == ["a", "b"]


def test_what_is_asked_in_one_statement_is_of_the_last_commit_and_holds_nothing_afterwards(database: Database) -> None:
    asked = "SELECT key, count(*) OVER () FROM settings ORDER BY key"
    assert database.ask(asked) is None
    put(database, "a")
    put(database, "b")
    assert database.ask(asked) == ("a", 2)
    put(database, "c")
    assert database.ask(asked + " LIMIT ?", [9]) == ("a", 3)
    with database.write() as connection:  # a statement that was left half read would keep the log from being emptied
        connection.execute("DELETE FROM settings")
    database.checkpoint()
    assert database.ask("SELECT count(*) FROM settings") == (0,)


def test_what_is_asked_in_a_snapshot_is_of_its_moment(database: Database) -> None:
    put(database, "a")
    with database.snapshot():
        assert keys(database) == ["a"]
        put(database, "b")
        assert database.ask("SELECT count(*) FROM settings") == (1,)
    assert database.ask("SELECT count(*) FROM settings") == (2,)


def test_a_question_that_cannot_be_answered_becomes_a_store_error(database: Database) -> None:
    with pytest.raises(StoreError):
        database.ask("SELECT nothing FROM nowhere")
    with pytest.raises(StoreError):
        database.ask("DELETE FROM settings RETURNING key")
    database.close()
    with pytest.raises(StoreError, match="closed"):
        database.ask("SELECT 1")


def test_a_statement_that_fails_in_a_reader_becomes_a_store_error(database: Database) -> None:
    with pytest.raises(StoreError), database.read() as connection:
        connection.execute("DELETE FROM settings")
    assert keys(database) == []


def test_many_threads_read_and_write_without_losing_a_row(database: Database) -> None:
    """P21: fifty readers beside four writers in one process."""
    done: list[range] = []

    def run(work: range, *, writes: bool) -> None:
        for number in work:
            if writes:
                put(database, f"{number:04}")
            else:
                found = keys(database)
                assert found == sorted(found)
        done.append(work)

    shares = [range(first, first + 25) for first in range(0, 100, 25)]
    threads = [threading.Thread(target=run, args=(share,), kwargs={"writes": True}) for share in shares]
    threads += [threading.Thread(target=run, args=(range(4),), kwargs={"writes": False}) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 54
    assert len(keys(database)) == 100


def test_a_closed_database_says_so_and_closing_twice_is_fine(database: Database) -> None:
    with database.read() as lent:
        lent.execute("SELECT 1").fetchone()
        database.close()
        database.close()
    with pytest.raises(StoreError, match="closed"), database.read():
        pass
    with pytest.raises(StoreError, match="closed"), database.write():
        pass
    with pytest.raises(StoreError, match="closed"):
        database.checkpoint()


def test_a_damaged_file_is_named_in_one_sentence_without_its_path(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database, but long enough to be taken for one" * 100)
    with pytest.raises(StoreError) as caught:
        Database(path)
    assert "damaged" in str(caught.value)
    assert str(path.parent) not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be opened"):
        Database(tmp_path / "file" / "memory.sqlite3")


def test_a_full_disk_fails_the_write_and_keeps_what_was_there(database: Database) -> None:
    put(database, "a")
    with database.write() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}").fetchone()
    with pytest.raises(UnreadyStoreError, match="disk is full"):
        put(database, "b", "x" * 100_000)
    assert keys(database) == ["a"]
    put(database, "c")


def test_a_newer_schema_is_refused_and_left_alone(database: Database, path: Path) -> None:
    with database.write() as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    database.close()
    with pytest.raises(StoreError, match="newer version"):
        Database(path)


def test_deleted_text_is_gone_from_the_file_after_a_checkpoint(database: Database, path: Path) -> None:
    put(database, "a", "needle-in-haystack")
    database.checkpoint()
    assert b"needle-in-haystack" in path.read_bytes()
    with database.write() as connection:
        connection.execute("DELETE FROM settings")
    database.checkpoint()
    for file in path.parent.iterdir():
        assert b"needle-in-haystack" not in file.read_bytes(), file.name


FIRST_START = """
import sys
from pathlib import Path
from historian.database import Database
from historian.durable import FailingDisk
print("ready", flush=True)
sys.stdin.readline()
database = Database(Path(sys.argv[1]))
with database.write() as connection:
    connection.execute("INSERT INTO settings (key, value) VALUES (?, 'x')", (sys.argv[2],))
database.close()
print("done", flush=True)
"""


@pytest.mark.process
def test_first_starts_at_the_same_time_all_come_up(path: Path) -> None:
    """P11: four processes create the schema of one empty folder at once."""
    children = [child(FIRST_START, str(path), str(number)) for number in range(4)]
    for one in children:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in children:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    outcomes = [one.communicate(timeout=30) for one in children]
    assert [out for out, _ in outcomes] == ["done\n"] * 4, outcomes
    database = Database(path)
    assert keys(database) == ["0", "1", "2", "3"]
    database.close()


WRITER = """
import sys
from pathlib import Path
from historian.database import Database
from historian.durable import FailingDisk
database = Database(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(int(sys.argv[2])):
    with database.write() as connection:
        connection.execute("INSERT INTO settings (key, value) VALUES (?, 'x')", (f"{sys.argv[3]}{number:04}",))
database.close()
print("done", flush=True)
"""


@pytest.mark.process
def test_readers_never_meet_a_locked_database_while_others_write(database: Database, path: Path) -> None:
    """P15, P16: two processes write, this one reads and writes in a loop; nobody is turned away, no row is lost."""
    children = [child(WRITER, str(path), "60", name) for name in "ab"]
    own = 0
    while any(one.poll() is None for one in children):
        found = keys(database)
        assert len(found) >= own
        if own < 60:
            put(database, f"c{own:04}")
            own += 1
    for one in children:
        assert one.communicate(timeout=30) == ("ready\ndone\n", "")
    assert len(keys(database)) == 120 + own


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("INSERT INTO settings (key, value) VALUES ('held', 'x')")
print("holding", flush=True)
sys.stdin.readline()
connection.close()
"""


@pytest.mark.process
def test_a_second_opener_reads_at_once_and_its_write_gives_up_in_seconds(database: Database, path: Path) -> None:
    """P9: another process sits in a write transaction; opening and reading do not wait, writing says "in use"."""
    put(database, "a")
    holder = child(HOLDER, str(path))
    assert holder.stdout is not None
    assert holder.stdout.readline() == "holding\n"
    start = time.monotonic()
    second = Database(path)
    assert keys(second) == ["a"]
    assert time.monotonic() - start < 1
    with pytest.raises(UnreadyStoreError, match="in use by another process"):
        put(second, "b")
    assert time.monotonic() - start < 10
    holder.communicate("go\n", timeout=30)
    put(second, "b")
    assert keys(second) == ["a", "b"]
    second.close()


@pytest.mark.process
def test_what_was_committed_survives_a_kill(path: Path) -> None:
    """A writer is killed at an arbitrary instant; what it committed is there and the file is sound."""
    writer = child(WRITER, str(path), "100000", "k")
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    time.sleep(0.3)
    writer.kill()
    writer.communicate(timeout=30)
    database = Database(path)
    found = keys(database)
    assert found == [f"k{number:04}" for number in range(len(found))]
    with database.read() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_file_is_a_store_error(database: Database, path: Path) -> None:
    database.close()
    path.chmod(0o400)
    with pytest.raises(StoreError):
        Database(path)


# ---- durable together


class CountingDisk(FailingDisk):
    """Counts the flushes, and fails at them while `broken`."""

    def __init__(self) -> None:
        super().__init__(at="flush")
        self.broken = False
        self.flushes = 0

    def flush(self, descriptor: int) -> None:
        self.flushes += 1
        super().flush(descriptor)


def level(database: Database) -> int:
    """Return how durable the next commit of this thread is: 2 before it returns, 1 with the next flush."""
    with database.write() as connection:
        return int(connection.execute("PRAGMA synchronous").fetchone()[0])


def test_what_is_written_lazily_is_seen_at_once_and_flushed_once_for_all_of_the_block(path: Path) -> None:
    disk = CountingDisk()
    database, other = Database(path, disk=disk), Database(path)
    with database.lazily():
        for key in "abc":
            put(database, key)
            assert key in keys(other)
        assert disk.flushes == 0
    assert disk.flushes == 1
    database.close()
    other.close()


def test_other_threads_stay_durable_while_one_writes_lazily(database: Database) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert level(database) == 2
        with database.lazily():
            assert [level(database), pool.submit(level, database).result(), level(database)] == [1, 2, 1]
        assert level(database) == 2


def test_a_block_whose_flush_fails_says_so_and_one_that_fails_is_lazy_no_more(path: Path) -> None:
    disk = CountingDisk()
    database = Database(path, disk=disk)
    disk.broken = True
    with pytest.raises(StoreError, match="disk is full"), database.lazily():
        put(database, "a")
    with pytest.raises(RuntimeError), database.lazily():
        raise RuntimeError
    assert level(database) == 2
    disk.broken = False
    database.flush()
    assert keys(database) == ["a"]
    database.close()


def test_a_joined_block_that_raises_takes_the_whole_transaction_along(database: Database) -> None:
    with pytest.raises(ValueError, match="no"), database.write():
        put(database, "a")
        with database.join() as connection:
            connection.execute("INSERT INTO settings (key, value) VALUES ('b', 'x')")
            raise ValueError("no")
    assert keys(database) == []


def test_a_transaction_is_not_kept_whose_joined_block_raised_even_where_that_was_caught(database: Database) -> None:
    with pytest.raises(StoreError), database.write():
        put(database, "a")
        with pytest.raises(ValueError, match="no"), database.join():
            raise ValueError("no")
    assert keys(database) == []
    put(database, "b")
    assert keys(database) == ["b"]


def test_a_joined_block_is_undone_with_the_inner_block_around_it(database: Database) -> None:
    with database.write():
        put(database, "a")
        with pytest.raises(ValueError, match="no"), database.write():
            with database.join() as connection:
                connection.execute("INSERT INTO settings (key, value) VALUES ('b', 'x')")
            raise ValueError("no")
    assert keys(database) == ["a"]


def test_a_joined_block_alone_is_a_transaction_of_its_own(database: Database) -> None:
    with pytest.raises(ValueError, match="no"), database.join() as connection:
        connection.execute("INSERT INTO settings (key, value) VALUES ('a', 'x')")
        raise ValueError("no")
    with database.join():
        put(database, "b")
    assert keys(database) == ["b"]


def test_all_that_is_read_in_a_snapshot_is_of_one_moment_in_this_thread_only(database: Database) -> None:
    put(database, "a")
    with database.snapshot():
        with database.snapshot():
            assert keys(database) == ["a"]
        put(database, "b")
        assert keys(database) == ["a"]
        seen: list[list[str]] = []
        other = threading.Thread(target=lambda: seen.append(keys(database)))
        other.start()
        other.join()
        assert seen == [["a", "b"]]
    assert keys(database) == ["a", "b"]
