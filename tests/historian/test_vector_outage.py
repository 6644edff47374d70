"""The vector store breaks while it is in use, and comes back: its breaker, its callers, and the log meanwhile."""

from __future__ import annotations

import logging
import shutil
from datetime import UTC, datetime
from pathlib import Path

import anyio
import numpy as np
import pytest

from historian.breaker import BreakerState
from historian.clock import FixedClock
from historian.complaints import Complaints
from historian.errors import StoreError
from historian.vectors import VectorRecord, VectorStore
from tests.kit.home import home

DIMENSION = 8


def record(name: str) -> VectorRecord:
    vector = np.ones(DIMENSION, dtype=np.float32)
    vector[hash(name) % DIMENSION] = 3.0
    return VectorRecord(id=name, vector=vector, owner="user:ann", author=None, epoch=1.0)


class Outage:
    """Takes the database file away from under a running store, and brings it back."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "chroma.sqlite3"
        self._kept = folder.with_name("kept.sqlite3")

    def begin(self) -> None:
        shutil.copy(self._file, self._kept)
        self._file.unlink()
        self._file.mkdir()

    def end(self) -> None:
        self._file.rmdir()
        shutil.copy(self._kept, self._file)


def test_a_store_whose_file_goes_away_and_comes_back_works_again_by_itself(tmp_path: Path) -> None:
    clock = FixedClock(datetime(2026, 11, 28, tzinfo=UTC))
    store = VectorStore(tmp_path / "chroma", identity="fake:a:8", dimension=DIMENSION, clock=clock)
    store.open()
    store.upsert("events", [record("a")])
    outage = Outage(tmp_path / "chroma")
    outage.begin()
    with pytest.raises(StoreError):
        store.upsert("events", [record("b")])
    assert store.breaker.state is BreakerState.FAILED
    for _ in range(100):
        with pytest.raises(StoreError, match="not available"):
            store.search("events", frozenset({"user:ann"}), np.ones(DIMENSION), 5)
    clock.advance(seconds=2)
    with pytest.raises(StoreError):
        store.count("events")
    assert store.breaker.state is BreakerState.FAILED
    outage.end()
    clock.advance(seconds=60)
    store.upsert("events", [record("c")])
    assert store.breaker.state is BreakerState.READY
    assert store.openings == 1
    assert sorted(store.ids("events")) == ["a", "c"]
    store.close()


def test_a_thousand_failures_are_one_line_in_the_log_and_one_more_when_it_is_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    complaints = Complaints(logging.getLogger("historian.test"))
    with caplog.at_level(logging.INFO):
        for _ in range(1000):
            complaints.say("vectors wait", StoreError("The vector store is not available."))
        for _ in range(1000):
            complaints.over("vectors wait")
    assert [record.message for record in caplog.records] == [
        "vectors wait: The vector store is not available.",
        "vectors wait: well again",
    ]


async def test_an_outage_of_the_vectors_keeps_writes_degrades_reads_visibly_and_ends_by_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = FixedClock(datetime(2026, 11, 28, tzinfo=UTC))
    async with home(tmp_path, clock=clock) as house, house.client() as alice:
        await alice.remember("Bo lives in Bern.")
        assert await alice.texts("Bern") == ["Bo lives in Bern."]
        outage = Outage(tmp_path / "chroma")
        outage.begin()
        with caplog.at_level(logging.WARNING):
            await alice.remember("Ann lives in Bern.")
            found = await alice.call("search_events", query="Bern")
            while not found["degraded"]:
                found = await alice.call("search_events", query="Bern")
            for _ in range(20):
                found = await alice.call("search_events", query="Bern")
        assert {one["text"] for one in found["events"]} == {"Bo lives in Bern.", "Ann lives in Bern."}
        assert "words were searched" in found["degraded"][0]
        assert any("vector store failed" in what for what in (await alice.call("memory_status"))["degraded"])
        said = [one.message for one in caplog.records if one.name.startswith("historian")]
        assert len(said) <= 6, said
        outage.end()
        clock.advance(seconds=120)
        with anyio.fail_after(60):
            while found["degraded"] or (await alice.call("memory_status"))["unembedded"]:
                found = await alice.call("search_events", query="Bern")
        assert (await alice.call("memory_status"))["degraded"] == []
