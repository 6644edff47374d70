"""Commands and clients on one folder at the same time; and what the owner and its clients weigh."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from tests.kit.clients import Client, House, at_once, resident, say, together

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    with House(tmp_path / "data", env={"SHIGUAN_TOOLSETS": "host"}) as made:
        yield made


def chat(path: Path, count: int, name: str) -> Path:
    """Write a file of messages, half of them Chinese."""
    texts = ["今天在隆德的花园里种了木瓜树", "planted another quince tree in Lund today"]
    lines = [
        {
            "message_id": f"{name}-{number}",
            "conversation_id": name,
            "role": "user",
            "content": f"{texts[number % 2]} {name}{number:05d}",
            "ts": 1_709_366_400 + number,
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def turn(client: Client, number: int) -> None:
    text = f"Gardener qx{number:03d}k planted quinces on 2024-03-02."
    assert client.call("end", observations=[text], force=True)["queued"]


def test_an_import_and_working_clients_share_the_folder(house: House, tmp_path: Path) -> None:
    """P2: server, import and hook at the same time; all succeed, and there is one owner."""
    source = chat(tmp_path / "chat.jsonl", 1200, "a")
    clients = [house.ready(), house.ready()]

    def work(client: Client, base: int) -> None:
        for number in range(15):
            turn(client, base + number)
            client.call("search_events", query="quince")

    logged: list[bytes] = []
    importing = lambda: logged.append(house.command("import", str(source)).stdout)  # noqa: E731
    with together(importing, *(lambda n=n: work(clients[n], 100 * n) for n in range(2))):
        for number in range(3):
            house.command("log", f"a hook says {number}", "--message-id", f"hook-{number}")
    assert logged == [b"1200 imported, 0 known already, 0 refused.\n"]
    house.embedded(clients[0])
    assert house.count("SELECT count(*) FROM messages") == 1203
    assert house.count("SELECT count(*) FROM events WHERE same_as IS NULL") == 30
    assert house.owners() == [house.owner()]


def test_two_imports_of_one_file_at_once_import_it_once(house: House, tmp_path: Path) -> None:
    """P4: also as the very first thing that happens to a folder."""
    source = chat(tmp_path / "chat.jsonl", 1500, "b")
    said: list[str] = []
    at_once(*[lambda: said.append(house.command("import", str(source)).stdout.decode())] * 2)
    counts = [[int(word) for word in line.split() if word.isdigit()] for line in said]
    assert [sum(numbers) for numbers in zip(*counts, strict=True)] == [1500, 1500, 0]
    assert house.count("SELECT count(*) FROM messages") == 1500
    assert house.owners() == [house.owner()]


@pytest.mark.parametrize("reader_first", [True, False])
def test_reader_and_writer_may_come_and_go_in_any_order(house: House, reader_first: bool) -> None:
    """P6."""
    reader, writer = house.ready(), house.ready()
    writer.settled(writer.call("end", observations=["Marlene planted quinces on 2024-03-02."])["job_id"])
    assert reader.texts("quinces")
    for client in (reader, writer) if reader_first else (writer, reader):
        assert client.leave() == 0
        assert b"events" in house.command("status").stdout
    assert house.ready().texts("quinces")


@pytest.mark.parametrize("known", [True, False], ids=["a folder in use", "a new folder"])
def test_a_client_answers_while_another_process_holds_a_write_transaction(house: House, known: bool) -> None:
    """P9: initialize comes at once, a write says in one sentence what is wrong, and all is well afterwards."""
    if known:
        house.ready().leave()
        house.command("owner", "stop")
    else:
        house.folder.mkdir(mode=0o700)
    with closing(sqlite3.connect(house.folder / "memory.sqlite3", isolation_level=None)) as intruder:
        intruder.execute("PRAGMA journal_mode = WAL").fetchone()
        intruder.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        client = house.client()
        if known:
            client.initialize()
            took = time.monotonic() - begun
            say(f"initialize answered after {took:.2f} s while the store is locked")
            assert took < 30  # that it is answered at all says it: the lock is held until long after
            message = {"conversation_id": "c", "role": "user", "content": "hello", "ts": 1_709_366_400}
            assert "in use by another process" in client.refused("messages_append", messages=[message])
        else:
            assert client.wait_exit() == 1
            say(f"a client of a new folder that is locked ended after {time.monotonic() - begun:.2f} s")
            assert "in use by another process" in client.stderr
            assert client.stderr.count("\n") == 1
        intruder.execute("ROLLBACK")
    after = house.ready()
    message = {"conversation_id": "c", "role": "user", "content": "hello again", "ts": 1_709_366_401}
    assert after.call("messages_append", messages=[message])["inserted"] == 1


def test_the_queue_and_a_reindex_are_reached_through_the_owner(house: House) -> None:
    client = house.ready()
    for number in range(5):
        turn(client, number)
    house.embedded(client)
    assert house.command("queue", "list").stdout == b""
    assert b"have a new vector" in house.command("reindex").stdout
    house.embedded(client)
    assert client.texts("quinces")
    assert house.owners() == [house.owner()]


def test_an_owner_is_seen_and_stopped_while_the_settings_are_wrong(house: House) -> None:
    with house.ready():
        (house.folder / "shiguan.toml").write_text('timezone = "Mars/Olympus"\nuser = ""\n[[', encoding="utf-8")
        assert f"Owner {house.owner()}".encode() in house.command("owner", "status").stdout
        assert b"has left" in house.command("owner", "stop").stdout


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [5_000, pytest.param(20_000, marks=pytest.mark.soak)])
def test_memory_does_not_grow_with_the_record_and_a_further_client_is_light(
    house: House, tmp_path: Path, count: int
) -> None:
    """P95, P96: the owner is weighed empty and full, and each client beside it."""
    first = house.ready()
    first.ready()
    owner = house.owner()
    empty = resident(owner)
    house.command("import", str(chat(tmp_path / "chat.jsonl", count, "c")))
    house.embedded(first)
    full = resident(owner)
    clients = [house.ready() for _ in range(3)]
    for client in clients:
        client.call("memory_status")
        client.call("search_events", query="quince")
    weights = [resident(client.pid) for client in clients]
    say(f"owner {empty:.0f} → {full:.0f} MB with {count} messages; clients {', '.join(f'{w:.1f}' for w in weights)} MB")
    assert full - empty < 60 + count * 0.004
    assert max(weights) < 20
