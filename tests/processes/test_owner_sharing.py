"""Many clients on one folder: nothing is lost, nothing is there twice, and everybody sees it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings

from tests.kit.clients import Client, House, at_once, say, size_of

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]
CLIENTS = 8
FIXED_BYTES = 2_000_000
"""What an empty folder may take once its owner has left: database, word index, empty Chroma collections, the log."""
VECTOR_BYTES = 512 * 4
"""One vector is payload too: it is what the search by meaning needs."""


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    with House(tmp_path / "data", env={"SHIGUAN_TOOLSETS": "host"}) as made:
        yield made


def marker(writer: int, number: int) -> str:
    """Return a word that stands in no other text, and that no other marker begins with."""
    return f"qx{writer:02d}z{number:04d}k"


def fact(writer: int, number: int) -> str:
    mark = marker(writer, number)
    if number % 2:
        return f"Gardener {mark} planted {number + 3} quince trees near Lund on 2024-03-{number % 28 + 1:02d}."
    return f"园丁{mark}于2024年3月{number % 28 + 1}日在隆德种下了{number + 3}棵木瓜树。"


def write(client: Client, writer: int, count: int, stored: list[int]) -> None:
    """Close `count` turns and append `count` messages, searching meanwhile; note the bytes that were handed over."""
    for number in range(count):
        text = fact(writer, number)
        assert client.call("end", observations=[text], force=True)["queued"]
        message = {
            "message_id": f"m-{marker(writer, number)}",
            "conversation_id": f"c{writer}",
            "role": "user",
            "content": f"said {text}",
            "ts": f"2024-03-01T08:{number // 60 % 60:02d}:{number % 60:02d}+08:00",
        }
        assert client.call("messages_append", messages=[message])["inserted"] == 1
        if number % 4 == 3:
            client.call("search_events", query=f"quince trees {number}", top_k=3)
        stored.append(2 * len(text.encode()) + len(json.dumps(message)))


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.soak)])
def test_what_many_clients_write_at_once_is_found_exactly_once_from_every_client(house: House, count: int) -> None:
    """P1, P3, P10, P15, P16, P26: two protocol eras, both languages, appends, ends and searches mixed."""
    house.folder.mkdir(mode=0o700)
    (house.folder / "shiguan.toml").write_text("[profile]\nmax_lines = 20\n", "utf-8")  # long ones are slow to write
    clients = [house.client("--user", "alice") for _ in range(CLIENTS)]
    for number, client in enumerate(clients):
        client.initialize() if number % 2 else client.discover()
    stored: list[int] = []
    total = CLIENTS * count
    begun = time.monotonic()
    at_once(*(lambda n=n: write(clients[n], n, count, stored) for n in range(CLIENTS)))
    wrote = time.monotonic() - begun
    house.embedded(clients[0], seconds=60 + total)
    drained = time.monotonic() - begun
    assert house.count("SELECT count(*) FROM events WHERE same_as IS NULL") == total
    assert house.count("SELECT count(DISTINCT text) FROM events") == total
    assert house.count("SELECT count(*) FROM messages") == total
    assert house.count("SELECT count(*) FROM events WHERE embedded_by IS NULL") == 0
    at_once(*(lambda n=n: look_up(clients[n], n, count) for n in range(CLIENTS)))
    assert not [
        name for name in ("pending", "processing", "failed") if [*(house.folder / "queues" / name).glob("*.json")]
    ]
    assert house.owners() == [house.owner()]
    for client in clients:
        assert client.leave() == 0
    house.command("owner", "stop")  # which empties the write-ahead log
    assert strays(house.folder / "chroma", "events", house.numbers("SELECT row FROM events")) == []
    assert strays(house.folder / "chroma", "messages", house.numbers("SELECT row FROM messages")) == []
    payload = sum(stored) + total * VECTOR_BYTES
    size = size_of(house.folder)
    say(
        f"{CLIENTS} clients × {count}: written in {wrote:.1f} s, drained after {drained:.1f} s; "
        f"payload {payload / 1e6:.2f} MB, folder {size / 1e6:.2f} MB"
    )
    assert size < 10 * payload + FIXED_BYTES


def strays(folder: Path, collection: str, rows: Sequence[int]) -> list[str]:
    """Return ids that have no vector, vectors of nothing, and ids of which another vector is nearer than their own."""
    client = chromadb.PersistentClient(path=str(folder), settings=Settings(anonymized_telemetry=False))
    found = client.get_collection(collection, embedding_function=None)
    vectors = found.get(include=["embeddings"])
    held = dict(zip(vectors["ids"], np.asarray(vectors["embeddings"]), strict=True))
    sample = list(held)[:: max(1, len(held) // 40)]
    asked = [held[one].tolist() for one in sample]
    answer = found.query(query_embeddings=asked, n_results=1, include=["embeddings"])["embeddings"]
    nearest = [np.asarray(one)[0] for one in answer or []]
    client.close()  # type: ignore[attr-defined]
    lost = [one for one, near in zip(sample, nearest, strict=True) if not np.allclose(near, held[one], atol=1e-4)]
    return sorted({str(row) for row in rows} ^ held.keys()) + lost


def look_up(client: Client, reader: int, count: int) -> None:
    """Find the markers of every writer, spread over the readers so that each reader meets each writer."""
    step = max(1, count // 10)
    for writer in range(CLIENTS):
        for number in range((reader + writer) % step, count, step):
            texts = client.texts(marker(writer, number), top_k=5)
            assert [text for text in texts if marker(writer, number) in text] == [fact(writer, number)], texts


def test_a_long_lived_reader_finds_by_meaning_what_another_client_wrote_later(house: House) -> None:
    """P10: the reader searched before, so that its view of the index is an old one."""
    reader, writer = house.ready(), house.client()
    writer.discover()
    reader.ready()
    assert reader.texts("quince trees in Lund") == []
    receipt = writer.call("end", observations=["Marlene planted 12 quince trees in Lund on 2024-03-02."], force=True)
    writer.settled(receipt["job_id"])
    house.embedded(writer)
    found = reader.call("search_events", query="plantting quinces Lundt")
    assert not found["degraded"]
    assert [("Marlene" in event["text"], "semantic" in event["found_by"]) for event in found["events"]] == [
        (True, True)
    ]


def test_twenty_ends_at_once_in_one_session_make_twenty_jobs(house: House) -> None:
    """P12."""
    client = house.ready()
    numbers = [client.send_call("end", observations=[fact(1, number)], force=True) for number in range(20)]
    jobs = {client.answer(number)["structuredContent"]["job_id"] for number in numbers}
    assert len(jobs) == 20
    for job in jobs:
        client.settled(job)
    assert house.count("SELECT count(*) FROM events WHERE same_as IS NULL") == 20


def test_readers_at_the_same_time_do_not_lock_each_other_out(house: House) -> None:
    """P15, P16: eight clients search and read profiles in a loop while one writes."""
    clients = [house.ready() for _ in range(4)]

    def read(client: Client) -> None:
        for number in range(25):
            client.call("search_events", query=f"quince {number}")
            client.call("get_profile")

    stored: list[int] = []
    at_once(*(lambda c=c: read(c) for c in clients[1:]), lambda: write(clients[0], 0, 10, stored))
    assert house.count("SELECT count(*) FROM messages") == 10


def test_clients_of_different_people_share_the_owner_but_not_the_memory(house: House) -> None:
    """P45, P48 through the owner."""
    alice, bob = house.ready("--user", "alice"), house.ready("--user", "bob")
    receipt = alice.call("end", observations=["Alice keeps her spare key under the fig tree."], force=True)
    alice.settled(receipt["job_id"])
    assert alice.texts("spare key fig tree")
    assert bob.texts("spare key fig tree") == []
    assert "no job" in bob.refused("memory_status", job_id=receipt["job_id"])
    assert house.owners() == [house.owner()]


def test_each_client_has_its_own_toolsets(house: House) -> None:
    bare = house.ready(env={"SHIGUAN_TOOLSETS": ""})
    hosted = house.ready()
    assert "messages_append" not in json.dumps(bare.request("tools/list"))
    assert "messages_append" in json.dumps(hosted.request("tools/list"))
