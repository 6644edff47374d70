from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from historian.clock import FixedClock
from historian.embed import Embedder
from historian.embed_fake import HashingEmbedder
from historian.engine import Engine
from historian.errors import EmbeddingMismatchError, PermanentModelError, RetryableModelError, StoreError
from historian.vectors import VectorRecord, VectorStore

Opener = Callable[[Embedder], VectorStore]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 11, 28, tzinfo=UTC))


@pytest.fixture
def opener(tmp_path: Path) -> Opener:
    def open_store(embedder: Embedder) -> VectorStore:
        store = VectorStore(tmp_path / "chroma", identity=embedder.identity, dimension=embedder.dimension)
        store.open()
        return store

    return open_store


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_while_loading_is_stuck_nothing_waits_for_it(opener: Opener, gate: threading.Event) -> None:
    """P41, P42, P44."""
    embedder = HashingEmbedder(gate=gate)
    engine = Engine(embedder, opener)
    assert engine.state == "cold"
    before = time.perf_counter()
    engine.start()
    engine.start()
    assert embedder.loading.wait(30)
    assert engine.state == "loading"
    with pytest.raises(RetryableModelError, match="warming up"):
        engine.embed_query("你好")
    with pytest.raises(StoreError, match="warming up"):
        _ = engine.vectors
    assert not engine.wait(0.01)
    assert time.perf_counter() - before < 5
    gate.set()
    assert engine.wait(60)
    assert (engine.state, engine.failure) == ("ready", None)
    assert engine.ready.is_set()
    assert engine.vectors.count("events") == 0
    engine.close()


def test_everything_slow_happens_in_one_other_thread() -> None:
    threads: list[threading.Thread] = []

    class Watched(HashingEmbedder):
        def load(self) -> None:
            threads.append(threading.current_thread())

    def open_store(embedder: Embedder) -> VectorStore:
        threads.append(threading.current_thread())
        raise StoreError("no store today")

    engine = Engine(Watched(), open_store)
    engine.start()
    assert not engine.wait(30)
    assert len({thread.ident for thread in threads}) == 1
    assert threading.current_thread() not in threads
    engine.close()


def test_queries_are_embedded_once_and_remembered(opener: Opener) -> None:
    embedder = HashingEmbedder()
    engine = Engine(embedder, opener, cache_size=2)
    engine.start()
    assert engine.wait(60)
    first = engine.embed_query("a")
    assert first.shape == (64,)
    assert np.array_equal(engine.embed_query("a"), first)
    assert embedder.calls == 1
    engine.embed_query("b")
    engine.embed_query("c")
    engine.embed_query("a")
    assert embedder.calls == 4
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1
    engine.close()


def test_a_failure_is_told_in_one_sentence(opener: Opener) -> None:
    engine = Engine(HashingEmbedder(failures=[PermanentModelError("The key was refused.")]), opener)
    engine.start()
    assert not engine.wait(30)
    assert (engine.state, engine.failure) == ("failed", "The key was refused.")
    with pytest.raises(PermanentModelError, match="key was refused"):
        engine.embed_query("a")
    with pytest.raises(StoreError, match="key was refused"):
        _ = engine.vectors
    engine.close()


def test_a_failure_that_may_pass_is_tried_again_after_a_delay(opener: Opener, clock: FixedClock) -> None:
    """P84: an endpoint that was down at the start does not stay down for ever, and nothing else takes its place."""
    engine = Engine(HashingEmbedder(failures=[RetryableModelError("The endpoint is away.")]), opener, clock=clock)
    engine.start()
    assert not engine.wait(30)
    with pytest.raises(RetryableModelError, match="away"):
        engine.embed_query("a")
    assert engine.state == "failed"
    clock.advance(seconds=6)
    engine.wait(0)
    assert engine.ready.wait(60)
    assert engine.embed_query("a").shape == (64,)
    engine.close()


def test_nobody_waits_for_a_second_attempt(opener: Opener, clock: FixedClock) -> None:
    gate = threading.Event()
    gate.set()
    embedder = HashingEmbedder(gate=gate, failures=[RetryableModelError("The endpoint is away.")])
    engine = Engine(embedder, opener, clock=clock)
    engine.start()
    assert not engine.wait(30)
    gate.clear()
    clock.advance(seconds=6)
    before = time.perf_counter()
    assert not engine.wait(30)
    assert engine.state == "loading"
    assert not engine.wait(30)
    assert time.perf_counter() - before < 10
    gate.set()
    assert engine.ready.wait(60)
    engine.close()


def test_vectors_of_another_model_are_reported_and_not_tried_again(
    opener: Opener, clock: FixedClock, tmp_path: Path
) -> None:
    """P84, P87."""
    before = Engine(HashingEmbedder(name="former"), opener)
    before.start()
    assert before.wait(60)
    record = VectorRecord("a", before.embed_query("a"), "user:ann", None, 0.0)
    before.vectors.upsert("events", [record])
    before.close()
    engine = Engine(HashingEmbedder(name="present"), opener, clock=clock)
    engine.start()
    assert not engine.wait(60)
    assert engine.failure is not None
    assert "shiguan reindex" in engine.failure
    clock.advance(seconds=1000)
    with pytest.raises(EmbeddingMismatchError):
        _ = engine.vectors
    assert engine.state == "failed"
    engine.close()


def test_an_unforeseen_error_while_loading_does_not_leave_anyone_waiting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def open_store(embedder: Embedder) -> VectorStore:
        raise OSError("/secret/path is broken")

    engine = Engine(HashingEmbedder(), open_store)
    with caplog.at_level(logging.CRITICAL):
        engine.start()
        assert not engine.wait(30)
    assert engine.failure is not None
    assert "/secret" not in engine.failure
    engine.close()


def test_an_engine_closed_while_loading_leaves_no_open_store(opener: Opener, gate: threading.Event) -> None:
    opened: list[VectorStore] = []

    def open_store(embedder: Embedder) -> VectorStore:
        opened.append(opener(embedder))
        return opened[0]

    engine = Engine(HashingEmbedder(gate=gate), open_store, close_seconds=0.05)
    engine.start()
    engine.close()
    gate.set()
    assert not engine.wait(60)
    assert engine.state == "cold"
    with pytest.raises(StoreError, match="not open"):
        opened[0].count("events")


def test_an_engine_can_be_closed_cold_and_started_again_after(opener: Opener) -> None:
    engine = Engine(HashingEmbedder(), opener)
    engine.close()
    for _ in range(2):
        engine.start()
        assert engine.wait(60)
        engine.close()
        assert engine.state == "cold"


class ClosingSlowly(VectorStore):
    """A store that is being closed until it is let go, as one with a reader in it."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        super().__init__(path, identity=embedder.identity, dimension=embedder.dimension)
        self.closing, self.go = threading.Event(), threading.Event()

    def close(self) -> None:
        self.closing.set()
        assert self.go.wait(30)
        super().close()


def test_nobody_starts_it_while_it_is_paused_from_the_moment_it_closes(tmp_path: Path) -> None:
    """P102: what wipes the vectors writes their file anew; a search that opened it meanwhile damaged it."""
    opened: list[ClosingSlowly] = []

    def open_store(embedder: Embedder) -> VectorStore:
        opened.append(ClosingSlowly(tmp_path / "chroma", embedder))
        opened[-1].open()
        return opened[-1]

    engine = Engine(HashingEmbedder(), open_store)
    engine.start()
    assert engine.wait(30)
    pausing = threading.Thread(target=engine.pause)
    pausing.start()
    assert opened[0].closing.wait(30)
    engine.start()
    assert engine.state == "loading"
    assert not engine.wait(0)
    opened[0].go.set()
    pausing.join(30)
    engine.start()
    assert len(opened) == 1
    engine.resume()
    assert engine.wait(30)
    assert len(opened) == 2
    opened[1].go.set()
    engine.close()


def test_a_pause_waits_for_loading_and_for_the_pause_of_another(opener: Opener, gate: threading.Event) -> None:
    engine = Engine(HashingEmbedder(gate=gate), opener)
    engine.start()
    pauses = [threading.Thread(target=engine.pause) for _ in range(2)]
    for thread in pauses:
        thread.start()
    assert [thread.is_alive() for thread in pauses] == [True, True]
    gate.set()
    while all(thread.is_alive() for thread in pauses):
        threading.Event().wait(0.001)
    assert engine.state == "loading"
    with pytest.raises(StoreError):
        _ = engine.vectors
    engine.resume()
    for thread in pauses:
        thread.join(30)
    assert engine.state == "loading"
    engine.resume()
    assert engine.wait(30)
    engine.close()
