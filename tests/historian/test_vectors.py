from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from numpy.typing import NDArray

from historian.breaker import BreakerState
from historian.clock import FixedClock
from historian.errors import EmbeddingMismatchError, InvalidInputError, StoreError
from historian.matrices import Matrices, Matrix, Row, Window
from historian.model import Scope
from historian.vectors import VectorRecord, VectorStore

DIMENSION = 16
ANN = Scope("ann")
BOB = Scope("bob")
CLUB = Scope("ann", "club")

Open = Callable[..., AbstractContextManager[VectorStore]]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    @contextmanager
    def open_store(**changes: object) -> Iterator[VectorStore]:
        options: dict[str, object] = {"identity": "fake:a:16", "dimension": DIMENSION, **changes}
        store = VectorStore(tmp_path / "chroma", **options)  # type: ignore[arg-type]
        store.open()
        try:
            yield store
        finally:
            store.close()

    return open_store


def vector(seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)


def record(one: str, seed: int, owner: str = "user:ann", author: str | None = None, epoch: float = 0.0) -> VectorRecord:
    return VectorRecord(one, vector(seed), owner, author, epoch)


def found(store: VectorStore, scope: Scope, seed: int = 0, k: int = 50, **bounds: float) -> set[str]:
    return {one for one, _ in store.search("events", scope.reach(), vector(seed), k, **bounds)}


RECORDS = [
    record("ann private", 1),
    record("ann in club", 2, "group:club", "author:ann"),
    record("ann in other", 3, "group:other", "author:ann"),
    record("bob private", 4, "user:bob"),
    record("bob in club", 5, "group:club", "author:bob"),
    record("club itself", 6, "group:club"),
    record("trap", 7, "user:author:ann"),
]

both_ways = pytest.mark.parametrize(
    "limits", [{}, {"scan_limit": 0}, {"inline_limit": 0}], ids=["scanned", "asked of Chroma", "read in the background"]
)


@both_ways
def test_a_search_reads_its_reach_and_nothing_else(opened: Open, limits: dict[str, int]) -> None:
    """P48."""
    with opened(**limits) as store:
        store.upsert("events", RECORDS)
        for _ in range(3):
            assert found(store, ANN) == {"ann private", "ann in club", "ann in other"}
            assert found(store, BOB) == {"bob private", "bob in club"}
            assert found(store, CLUB) == {"ann in club", "bob in club", "club itself"}
            assert found(store, Scope("eve")) == set()
            assert found(store, Scope("ANN")) == set()
        assert store.search("events", frozenset(), vector(1), 10) == []
        assert store.search("events", frozenset({""}), vector(1), 10) == []


@both_ways
def test_bounds_of_time_are_hard_and_half_open(opened: Open, limits: dict[str, int]) -> None:
    with opened(**limits) as store:
        store.upsert("events", [record(str(i), i, epoch=float(i)) for i in range(10)])
        assert found(store, ANN, since_epoch=3, until_epoch=6) == {"3", "4", "5"}
        assert found(store, ANN, since_epoch=8.5) == {"9"}
        assert found(store, ANN, until_epoch=0) == set()


@both_ways
def test_the_nearest_come_first_with_their_cosines(opened: Open, limits: dict[str, int]) -> None:
    with opened(**limits) as store:
        store.upsert("events", [record(str(i), i) for i in range(40)])
        hits = store.search("events", ANN.reach(), vector(7) * 5, 5)
        assert len(hits) == 5
        assert hits[0] == ("7", pytest.approx(1.0, abs=1e-5))
        rows = np.stack([vector(i) / np.linalg.norm(vector(i)) for i in range(40)])
        cosines = rows @ (vector(7) / np.linalg.norm(vector(7)))
        assert [one for one, _ in hits] == [str(i) for i in np.argsort(-cosines)[:5]]
        assert [cosine for _, cosine in hits] == pytest.approx(sorted(cosines, reverse=True)[:5], abs=1e-5)


@both_ways
def test_what_was_written_is_found_at_once_and_what_was_deleted_is_not(opened: Open, limits: dict[str, int]) -> None:
    """P10."""
    with opened(**limits) as store:
        for i in range(40):
            store.upsert("events", [record(str(i), i)])
            assert store.search("events", ANN.reach(), vector(i), 1)[0][0] == str(i)
        store.delete("events", [str(i) for i in range(0, 40, 2)])
        store.delete("events", ["never there"])
        assert found(store, ANN) == {str(i) for i in range(1, 40, 2)}
        assert set(store.ids("events")) == found(store, ANN)
        assert store.count("events") == 20


@both_ways
def test_a_record_that_changes_hands_is_no_longer_read_by_the_former(opened: Open, limits: dict[str, int]) -> None:
    with opened(**limits) as store:
        store.upsert("events", [record("a", 1, "group:club", "author:ann")])
        assert found(store, ANN) == found(store, CLUB) == {"a"}
        store.upsert("events", [record("a", 1, "user:bob")])
        assert found(store, ANN) == found(store, CLUB) == set()
        assert found(store, BOB) == {"a"}


def test_of_equal_ids_in_one_call_the_last_counts(opened: Open) -> None:
    with opened() as store:
        store.upsert("events", [record("a", 1), record("a", 2)])
        assert store.count("events") == 1
        assert store.search("events", ANN.reach(), vector(2), 1)[0][1] == pytest.approx(1.0, abs=1e-5)


def test_more_records_than_chroma_takes_at_once_are_written(opened: Open) -> None:
    with opened() as store:
        store.upsert("events", [record(str(i), i) for i in range(5600)])
        assert store.count("events") == 5600
        assert len(found(store, ANN, k=6000)) == 5600


def test_vectors_survive_a_restart(opened: Open) -> None:
    with opened() as store:
        store.upsert("events", RECORDS)
        store.upsert("profiles", [record("user:ann", 1)])
    with opened() as store:
        assert found(store, ANN) == {"ann private", "ann in club", "ann in other"}
        assert store.ids("profiles") == ["user:ann"]
        assert store.ids("messages") == []


@pytest.mark.parametrize("change", [{"identity": "fake:b:16"}, {"identity": "fake:a:8", "dimension": 8}])
def test_vectors_of_another_model_are_neither_mixed_nor_deleted(opened: Open, change: dict[str, object]) -> None:
    """P84, P87."""
    with opened() as store:
        store.upsert("events", RECORDS)
    with pytest.raises(EmbeddingMismatchError, match="shiguan reindex"), opened(**change):
        pytest.fail("must not open")
    with opened() as store:
        assert store.count("events") == len(RECORDS)
        assert found(store, BOB) == {"bob private", "bob in club"}


def test_one_command_makes_the_vectors_of_another_model_anew(opened: Open, tmp_path: Path) -> None:
    """P86."""
    with opened() as store:
        store.upsert("events", RECORDS)
    store = VectorStore(tmp_path / "chroma", identity="fake:b:8", dimension=8)
    store.open(allow_mismatch=True)
    short = np.ones(8, dtype=np.float32)
    assert store.mismatched() == ["events"]
    with pytest.raises(EmbeddingMismatchError, match="shiguan reindex"):
        store.search("events", ANN.reach(), short, 3)
    with pytest.raises(EmbeddingMismatchError):
        store.upsert("events", [VectorRecord("a", short, "user:ann", None, 0.0)])
    assert store.count("events") == len(RECORDS)
    assert store.breaker.state is BreakerState.READY
    store.rebuild("events")
    assert store.mismatched() == store.ids("events") == []
    store.upsert("events", [VectorRecord("a", short, "user:ann", None, 0.0)])
    store.close()
    with opened(identity="fake:b:8", dimension=8) as store:
        assert store.ids("events") == ["a"]


def test_a_vector_of_another_length_is_refused(opened: Open) -> None:
    with opened() as store:
        with pytest.raises(EmbeddingMismatchError):
            store.upsert("events", [VectorRecord("a", np.ones(8, dtype=np.float32), "user:ann", None, 0.0)])
        with pytest.raises(EmbeddingMismatchError):
            store.search("events", ANN.reach(), np.ones(8, dtype=np.float32), 3)


@pytest.mark.parametrize("bad", [np.zeros(DIMENSION), np.full(DIMENSION, np.nan), np.full(DIMENSION, np.inf)])
def test_a_vector_without_direction_is_refused(opened: Open, bad: NDArray[np.float32]) -> None:
    with opened() as store, pytest.raises(InvalidInputError):
        store.upsert("events", [VectorRecord("a", bad.astype(np.float32), "user:ann", None, 0.0)])


def test_a_dropped_collection_is_empty_and_can_be_filled_again(opened: Open) -> None:
    with opened() as store:
        store.upsert("events", RECORDS)
        store.upsert("messages", RECORDS)
        assert found(store, BOB)
        store.drop("events")
        store.drop("events")
        assert found(store, BOB) == set()
        assert store.count("messages") == len(RECORDS)
        store.upsert("events", RECORDS[:1])
        assert found(store, ANN) == {"ann private"}


def test_only_ids_vectors_and_scalars_reach_the_disk(opened: Open, tmp_path: Path) -> None:
    with opened() as store:
        store.upsert("events", [record("a", 1, "group:club", "author:ann", 5.0)])
    settings = Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(path=str(tmp_path / "chroma"), settings=settings)
    collection = client.get_collection("events", embedding_function=None)
    kept = collection.get(include=["metadatas", "documents", "uris"])
    assert kept["metadatas"] == [{"owner": "group:club", "author": "author:ann", "epoch": 5.0, "model": "fake:a:16"}]
    assert (kept["documents"], kept["uris"]) == ([None], [None])
    assert collection._model.configuration_json["hnsw"]["sync_threshold"] == 100
    assert collection._model.configuration_json["hnsw"]["space"] == "cosine"
    client.close()  # type: ignore[attr-defined]


@both_ways
def test_fifty_searches_at_once_during_writes_are_all_right(opened: Open, limits: dict[str, int]) -> None:
    """P21."""
    with opened(**limits) as store:
        store.upsert("events", [record(f"ann{i}", i) for i in range(200)])
        store.upsert("events", [record(f"bob{i}", i, "user:bob") for i in range(50)])
        begun = threading.Barrier(51)

        def search(i: int) -> None:
            begun.wait(30)
            for j in range(3):
                seed = (i * 7 + j) % 200
                hits = store.search("events", ANN.reach(), vector(seed), 3)
                assert hits[0] == (f"ann{seed}", pytest.approx(1.0, abs=1e-4))
                assert all(one.startswith("ann") for one, _ in hits)

        def write() -> None:
            begun.wait(30)
            for i in range(1000, 1060, 4):
                store.upsert("events", [record(f"ann{j}", j) for j in range(i, i + 4)])
                store.delete("events", [f"ann{i}"])

        with ThreadPoolExecutor(51) as pool:
            for task in [pool.submit(write), *(pool.submit(search, i) for i in range(50))]:
                task.result(60)
        assert store.count("events") == 295
        assert len(found(store, ANN, k=500)) == 245


def test_a_store_that_cannot_be_opened_says_so_and_fails_fast_until_a_probe_succeeds(tmp_path: Path) -> None:
    clock = FixedClock(datetime(2026, 11, 28, tzinfo=UTC))
    path = tmp_path / "chroma"
    path.write_text("a file where the folder should be")
    store = VectorStore(path, identity="fake:a:16", dimension=DIMENSION, clock=clock)
    with pytest.raises(StoreError, match="cannot do its work") as raised:
        store.open()
    assert str(tmp_path) not in str(raised.value)
    assert store.breaker.state is BreakerState.FAILED
    path.unlink()
    with pytest.raises(StoreError, match="not available"):
        store.open()
    clock.advance(seconds=2)
    store.open()
    assert store.breaker.state is BreakerState.READY
    store.close()


def test_a_store_that_is_not_open_says_so(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "chroma", identity="fake:a:16", dimension=DIMENSION)
    with pytest.raises(StoreError, match="not open"):
        store.count("events")
    store.close()


def test_chroma_says_nothing_on_stdout_and_sends_no_telemetry(tmp_path: Path) -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.getaddrinfo = socket.socket.connect = refuse\n"
        "from pathlib import Path\nimport numpy as np\n"
        "from historian.vectors import VectorRecord, VectorStore\n"
        "assert 'chromadb' not in sys.modules and 'numpy' in sys.modules\n"
        "store = VectorStore(Path(sys.argv[1]), identity='fake:a:4', dimension=4)\n"
        "store.open()\nv = np.ones(4, dtype=np.float32)\n"
        "store.upsert('events', [VectorRecord('a', v, 'user:u', None, 0.0)])\n"
        "assert store.search('events', frozenset({'user:u'}), v, 1)\nstore.close()\n"
    )
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path / "chroma")],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (answer.returncode, answer.stdout) == (0, ""), answer.stderr


# ------------------------------------------------------------------------------------------- matrices


def rows(*seeds: int) -> list[Row]:
    return [Row(str(seed), vector(seed) / np.linalg.norm(vector(seed)), float(seed)) for seed in seeds]


def test_a_matrix_keeps_its_size_when_the_same_rows_come_again() -> None:
    matrix = Matrix(DIMENSION)
    for _ in range(200):
        matrix.upsert(rows(1, 2, 3))
    assert len(matrix) == 3
    assert matrix.nbytes < 40 * DIMENSION * 4 + 40 * 130
    assert [one for one, _ in matrix.search(vector(2), 1, Window())] == ["2"]


def test_the_least_recently_used_matrices_leave() -> None:
    one = Matrix(DIMENSION, rows(*range(100))).nbytes
    matrices = Matrices(DIMENSION, max_bytes=int(2.5 * one))
    for name in ("a", "b"):
        matrices.load(("events", name), lambda: rows(*range(100)))
    assert matrices.get(("events", "a")) is not None
    matrices.load(("events", "c"), lambda: rows(*range(100)))
    assert [matrices.get(("events", name)) is not None for name in "abc"] == [True, False, True]
    assert matrices.nbytes <= 2.5 * one


def test_what_is_written_while_a_matrix_loads_is_in_it() -> None:
    matrices = Matrices(DIMENSION, max_bytes=2**20)
    reading, written = threading.Event(), threading.Event()

    def read() -> list[Row]:
        stale = rows(1, 2)
        reading.set()
        assert written.wait(30)
        return stale

    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(matrices.load, ("events", "user:ann"), read)
        assert reading.wait(30)
        matrices.upsert("events", [(rows(3)[0], frozenset({"user:ann"})), (rows(4)[0], frozenset({"user:bob"}))])
        matrices.delete("events", ["1"])
        matrices.upsert("messages", [(rows(5)[0], frozenset({"user:ann"}))])
        assert matrices.load(("events", "user:ann"), lambda: rows(9)) is None
        written.set()
        matrix = loading.result(30)
    assert matrix is not None
    assert {one for one, _ in matrix.search(vector(1), 9, Window())} == {"2", "3"}
    assert matrices.get(("events", "user:ann")) is matrix


def test_a_matrix_that_could_not_be_read_is_not_remembered() -> None:
    matrices = Matrices(DIMENSION, max_bytes=2**20)

    def fail() -> list[Row]:
        raise StoreError("broken")

    with pytest.raises(StoreError):
        matrices.load(("events", "a"), fail)
    assert matrices.get(("events", "a"), wait=1) is None
    assert matrices.load(("events", "a"), lambda: rows(1)) is not None


@pytest.mark.parametrize("dimension", [16, 384, 512, 1024])
def test_which_of_equal_vectors_are_nearest_does_not_depend_on_where_they_stand(dimension: int) -> None:
    chance = np.random.default_rng(dimension)
    alike, query = chance.standard_normal((2, dimension)).astype(np.float32)
    near = [Row(str(number), alike, 0.0) for number in range(8, 108)]
    far = [Row(str(number), -alike, 0.0) for number in range(200, 203)]
    answers: set[tuple[tuple[str, float], ...]] = set()
    for others in range(4):
        some = [*near, *far[:others]]
        chance.shuffle(some)  # type: ignore[arg-type]
        matrix = Matrix(dimension, some)
        sign = np.float32(1 if alike @ query > 0 else -1)
        found = matrix.search(sign * query, 10, Window())
        assert matrix.compare(sign * query, [one for one, _ in found]) == dict(found)
        answers.add(tuple(found))
    assert [[one for one, _ in found] for found in answers] == [[str(number) for number in range(107, 97, -1)]]
