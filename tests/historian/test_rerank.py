"""Reranking against a real HTTP endpoint: by itself, and in the search for events and messages."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from historian.clock import SystemClock
from historian.errors import ModelError, ModelSettingsError, RetryableModelError
from historian.options import RerankOptions
from historian.rerank import HttpReranker
from tests.kit.endpoint import FakeEndpoint, Reply, failing
from tests.kit.home import Home, home

KEY = "jina-secret"


def about(*words: str) -> Callable[[str, str], float]:
    """Return a relevance that knows only whether a document has one of the words."""
    return lambda _, document: 0.9 if any(word in document for word in words) else 0.1


def asked_of(endpoint: FakeEndpoint) -> list[dict[str, Any]]:
    return [asked.body for asked in endpoint.asked if asked.path.endswith("/rerank")]


def scores(endpoint: FakeEndpoint, *texts: str, timeout: float = 5.0) -> list[float | None]:
    reranker = HttpReranker(RerankOptions(endpoint.base_url, KEY, "small", timeout), SystemClock())
    try:
        return reranker.scores("茶", texts)
    finally:
        reranker.close()


def test_scores_come_in_the_order_of_the_texts() -> None:
    with FakeEndpoint(relevance=about("tea")) as endpoint:
        assert scores(endpoint, "coffee", "tea", "") == [0.1, 0.9, 0.1]
        assert endpoint.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert asked_of(endpoint)[0] == {
            "model": "small",
            "query": "茶",
            "documents": ["coffee", "tea", "-"],
            "top_n": 3,
        }


def test_scores_without_bounds_become_shares_in_the_same_order() -> None:
    with FakeEndpoint(relevance=lambda _, text: {"a": 8.0, "b": -9.5, "c": 0.5}[text]) as endpoint:
        a, b, c = scores(endpoint, "a", "b", "c")
    assert a is not None
    assert b is not None
    assert c is not None
    assert 1 > a > c > b > 0


def test_a_server_that_calls_them_texts_is_asked_so() -> None:
    def tei(body: dict[str, Any]) -> object:
        if "texts" not in body:
            return failing(422, "missing field texts")
        return [{"index": 1, "score": 0.7}, {"index": 0, "score": 0.2}]

    with FakeEndpoint(routes={"/v1/rerank": tei}) as endpoint:
        assert scores(endpoint, "a", "b") == [0.2, 0.7]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (failing(401), ModelSettingsError),
        (failing(404), ModelSettingsError),
        (failing(429), RetryableModelError),
        (failing(503), RetryableModelError),
        (Reply(drop=True), RetryableModelError),
        (Reply(200, b"<html>"), RetryableModelError),
        (Reply(200, b'{"results": []}'), RetryableModelError),
        (Reply(200, b'{"results": [{"index": 7, "relevance_score": 1}]}'), RetryableModelError),
        (Reply(200, b'{"results": [{"index": 0, "relevance_score": NaN}]}'), RetryableModelError),
        (Reply(200, b'{"results": null}'), RetryableModelError),
    ],
)
def test_what_is_no_answer_is_an_error(reply: Reply, kind: type[ModelError]) -> None:
    with FakeEndpoint(relevance=about("tea")) as endpoint:
        endpoint.script(reply)
        with pytest.raises(kind) as caught:
            scores(endpoint, "a")
    assert KEY not in str(caught.value)


# ---- in the search


@asynccontextmanager
async def reranked_by(
    folder: Path, relevance: Callable[[str, str], float], toml: str = ""
) -> AsyncGenerator[tuple[Home, FakeEndpoint]]:
    with FakeEndpoint(relevance=relevance) as endpoint:
        written = f'[rerank]\nbase_url = "{endpoint.base_url}"\nmodel = "small"\ntimeout = 2\n{toml}'
        (folder / "shiguan.toml").write_text(written, encoding="utf-8")
        async with home(folder) as house:
            yield house, endpoint


FACTS = ("Ida likes tea with milk.", "Ida likes tea at night.", "Ida 喜欢在早上喝茶 tea。")


async def test_events_stand_in_the_order_of_the_reranker(tmp_path: Path) -> None:
    async with reranked_by(tmp_path, about("night")) as (house, endpoint), house.client() as alice:
        await alice.remember(*FACTS)
        found = (await alice.call("search_events", query="tea milk"))["events"]
        assert found[0]["text"] == FACTS[1]
        assert "rerank" in found[0]["found_by"]
        assert len(asked_of(endpoint)) == 1


async def test_messages_stand_in_the_order_of_the_reranker(tmp_path: Path) -> None:
    async with reranked_by(tmp_path, about("night")) as (house, _), house.client(toolsets=TOOLSETS) as alice:
        await said(alice)
        found = await alice.call("semantic_search", query_text="tea milk", top_k=2)
        assert found["items"][0]["content"] == FACTS[1]
        assert len(found["items"]) == 2
        assert found["degraded"] == []


TOOLSETS = ("host", "evidence")


async def said(person: Any) -> None:
    messages = [
        {"conversation_id": f"c{number}", "role": "user", "content": text, "ts": f"2026-02-21T10:0{number}:00+08:00"}
        for number, text in enumerate(FACTS)
    ]
    await person.call("messages_append", messages=messages)


@pytest.mark.parametrize("reply", [failing(500), failing(401), Reply(drop=True)], ids=["500", "401", "dropped"])
async def test_a_reranker_that_fails_is_named_and_the_order_is_the_ordinary_one(tmp_path: Path, reply: Reply) -> None:
    async with reranked_by(tmp_path, about("night")) as (house, endpoint), house.client(toolsets=TOOLSETS) as alice:
        await alice.remember(*FACTS)
        await said(alice)
        endpoint.script(reply, reply)
        events = await alice.call("search_events", query="tea milk")
        assert events["events"][0]["text"] == FACTS[0]
        assert any("reranking failed" in line for line in events["degraded"])
        messages = await alice.call("semantic_search", query_text="tea milk")
        assert messages["items"]
        assert any("reranking failed" in line for line in messages["degraded"])


async def test_the_status_names_a_reranker_that_is_out_of_order_and_since_when(tmp_path: Path) -> None:
    async with reranked_by(tmp_path, about("night")) as (house, endpoint), house.client() as alice:
        await alice.remember(*FACTS)
        endpoint.script(failing(401))
        await alice.call("search_events", query="tea milk")
        status = await alice.call("memory_status")
        [trouble] = [one for one in status["troubles"] if "reranking failed" in one["what"]]
        assert "check api_key" in trouble["what"]
        assert trouble["since"]
        assert trouble["what"] in status["degraded"]


@pytest.mark.parametrize("toml", ["[query]\nenable_rerank = false\n", "[query]\nrerank_candidate_multiplier = 1\n"])
async def test_reranking_can_be_switched_off(tmp_path: Path, toml: str) -> None:
    async with reranked_by(tmp_path, about("night"), toml) as (house, endpoint), house.client() as alice:
        await alice.remember(*FACTS)
        assert (await alice.texts("tea milk"))[0] == FACTS[0]
        assert asked_of(endpoint) == []


async def test_so_many_candidates_are_reranked_as_is_set(tmp_path: Path) -> None:
    toml = "[query]\nrerank_candidate_multiplier = 2\n"
    async with reranked_by(tmp_path, about("night"), toml) as (house, endpoint), house.client() as alice:
        await alice.remember(*FACTS)
        assert len(await alice.texts("tea milk", top_k=1)) == 1
        assert [len(body["documents"]) for body in asked_of(endpoint)] == [2]


async def test_a_reranker_answers_and_time_still_counts(tmp_path: Path) -> None:
    async with reranked_by(tmp_path, lambda *_: 0.5) as (house, _), house.client() as alice:
        await alice.remember(*FACTS)
        found = (await alice.call("search_events", query="Ida likes tea"))["events"]
        assert found[0]["score"] > 0.5
