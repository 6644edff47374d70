"""Every setting of ranking changes what it says it changes, and takes effect at once; so does each role's own model."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from historian.chat import ROLES, Role
from historian.clock import FixedClock, SystemClock
from historian.embed_fake import HashingEmbedder
from historian.errors import NotConfiguredError
from historian.model import Scope
from historian.options import QueryOptions
from historian.session import Session
from prompts import load
from server.composition import open_household
from server.models import make_embedder, make_models
from server.settings import load_settings
from tests.kit.chat import ChatAsked, ScriptedModel
from tests.kit.endpoint import FakeEndpoint
from tests.kit.home import Home, Person, home

NOON = datetime(2026, 5, 10, 4, tzinfo=UTC)
DAY = 86_400.0
FACTS = tuple(f"Ida drinks tea number {number} 茶。" for number in range(15))
QUERY = "Ida tea 茶"

Measure = Callable[[Home, Person], Awaitable[float]]


@asynccontextmanager
async def after_30_days(folder: Path, rerank: str) -> AsyncGenerator[tuple[Home, Person]]:
    """Alice, who told fifteen facts a month ago, and four groups of hers, whose profiles have one line each."""
    (folder / "shiguan.toml").write_text(rerank, "utf-8")
    clock = FixedClock(NOON)
    async with home(folder, clock=clock) as house, house.client(groups=[f"g{n}" for n in range(10)]) as alice:
        await alice.remember(*FACTS)
        for number in range(10):
            async with house.client(group=f"g{number}") as there:
                await there.remember(f"Group {number} meets for tea 茶。")
        clock.advance(seconds=30 * DAY)
        yield house, alice


async def asked_for(house: Home, alice: Person) -> float:
    return len((await alice.call("search_events", query=QUERY))["events"])


async def profiles(house: Home, alice: Person) -> float:
    return len((await alice.call("search_profiles", query="tea 茶 meets"))["profiles"])


async def best(house: Home, alice: Person) -> float:
    return float((await alice.call("search_events", query=QUERY, top_k=1))["events"][0]["score"])


async def found_below_the_floor(house: Home, alice: Person) -> float:
    """Events that are near by meaning only."""
    found = (await alice.call("search_events", query="Idaho drinkable teapot numbering", top_k=50))["events"]
    return len([event for event in found if event["found_by"] == ["semantic"]])


def offered(house: Home) -> list[float]:
    """The scores of what is offered with a turn."""
    memory = house.household.memory.of(Scope("alice"), Session(timezone="Asia/Shanghai"))
    return [event.score for event in memory.search_events(QUERY, automatic=True).events]


async def offered_count(house: Home, alice: Person) -> float:
    return len(offered(house))


async def offered_best(house: Home, alice: Person) -> float:
    return offered(house)[0]


def in_ratio(before: float, after: float, *, boost: float, half_life: float) -> bool:
    """Say whether the scores differ as the lift of a month does, by default 0.2 with 60 days."""
    return after / before == pytest.approx((1 + boost * 0.5 ** (30 / half_life)) / (1 + 0.2 * 0.5**0.5), rel=1e-4)


CASES: dict[str, tuple[object, Measure, Callable[[float, float], bool]]] = {
    "tool_default_top_k": (5, asked_for, lambda before, after: (before, after) == (12, 5)),
    "auto_top_k": (7, offered_count, lambda before, after: (before, after) == (3, 7)),
    "profile_top_k": (4, profiles, lambda before, after: (before, after) == (8, 4)),
    "time_decay_enabled": (False, best, lambda before, after: in_ratio(before, after, boost=0, half_life=60)),
    "time_decay_boost": (1.0, best, lambda before, after: in_ratio(before, after, boost=1, half_life=60)),
    "time_decay_half_life_days_tool": (
        15,
        best,
        lambda before, after: in_ratio(before, after, boost=0.2, half_life=15),
    ),
    "time_decay_half_life_days_auto": (
        60,
        offered_best,
        lambda before, after: after / before == pytest.approx((1 + 0.2 * 0.5**0.5) / (1 + 0.2 * 0.5 ** (30 / 14))),
    ),
    "time_decay_min_similarity": (0.99, found_below_the_floor, lambda before, after: before > 0 and after == 0),
}
RERANKED: dict[str, tuple[object, int]] = {"enable_rerank": (False, 0), "rerank_candidate_multiplier": (2, 2)}
"""Value, and how many texts the reranker is sent then for one result; by default three."""


def test_each_setting_of_ranking_is_tried_here() -> None:
    assert {field.name for field in dataclasses.fields(QueryOptions)} == {*CASES, *RERANKED}


async def test_each_setting_of_ranking_changes_what_it_says_and_at_once(tmp_path: Path) -> None:
    async with after_30_days(tmp_path, "") as (house, alice):
        for name, (value, measure, is_right) in CASES.items():
            before = await measure(house, alice)
            await set_to(house, tmp_path, name, value)
            after = await measure(house, alice)
            assert is_right(before, after), (name, before, after)
            await set_to(house, tmp_path, name, getattr(QueryOptions(), name))


async def test_each_setting_of_reranking_changes_what_is_sent(tmp_path: Path) -> None:
    with FakeEndpoint(relevance=lambda _, text: 0.9 if "number 3" in text else 0.2) as endpoint:
        served = f'[rerank]\nbase_url = "{endpoint.base_url}"\nmodel = "small"\n'
        async with after_30_days(tmp_path, served) as (house, alice):
            for name, (value, count) in RERANKED.items():
                for given, expected in ((getattr(QueryOptions(), name), 3), (value, count)):
                    await set_to(house, tmp_path, name, given, served)
                    endpoint.asked.clear()
                    found = (await alice.call("search_events", query=QUERY, top_k=1))["events"]
                    sent = [asked.body["documents"] for asked in endpoint.asked if asked.path.endswith("/rerank")]
                    assert [len(texts) for texts in sent if isinstance(texts, list)] == [expected] * bool(expected)
                    assert ("rerank" in found[0]["found_by"]) is bool(expected)


async def set_to(house: Home, folder: Path, name: str, value: object, rest: str = "") -> None:
    """Write one setting of `[query]` and wait until it is read."""
    (folder / "shiguan.toml").write_text(f"{rest}[query]\n{name} = {json.dumps(value)}\n", "utf-8")
    wanted = dataclasses.replace(QueryOptions(), **{name: value})
    with anyio.fail_after(30):
        while True:
            if house.household.live.query == wanted:
                return
            await anyio.sleep(0.02)


# ---- the roles


class Word(BaseModel):
    """What the models of this test are asked for."""

    word: str


def answering(name: str) -> tuple[ScriptedModel, FakeEndpoint]:
    def answer(asked: ChatAsked) -> object:
        return {"word": name}

    model = ScriptedModel(answer)
    return model, FakeEndpoint(chat=model)


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_have_a_model_an_address_a_key_a_length_and_a_patience_of_its_own(
    tmp_path: Path, role: Role
) -> None:
    prompt = load("capture.retry", "en").render(violations=["It is empty."])
    (common, first), (own, second) = answering("common"), answering("own")
    with first, second:
        toml = (
            f'[chat]\nbase_url = "{first.base_url}"\nmodel = "large"\napi_key = "common-key"\nmax_tokens = 700\n'
            f'[chat.{role}]\nbase_url = "{second.base_url}"\nmodel = "small"\napi_key = "own-key"\nmax_tokens = 300\n'
            "timeout = 0.3\n"
        )
        (tmp_path / "shiguan.toml").write_text(toml, "utf-8")
        chat = make_models(load_settings({"data_dir": tmp_path, "user": "alice"}, {}), SystemClock(), _ignore).chat
        try:
            said = {one: chat.answer(one, prompt, Word).value.word for one in ROLES}
        finally:
            chat.close()
        assert said == {one: "own" if one == role else "common" for one in ROLES}
        assert {_wants(asked) for asked in own.asked} == {("small", 300)}
        assert {_wants(asked) for asked in common.asked} == {("large", 700)}
        assert {asked.headers["authorization"] for asked in second.asked} == {"Bearer own-key"}
        assert {asked.headers["authorization"] for asked in first.asked} == {"Bearer common-key"}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_that_is_served_elsewhere_does_not_take_the_common_key_along(tmp_path: Path, role: Role) -> None:
    prompt = load("capture.retry", "en").render(violations=["It is empty."])
    (_, first), (_, second) = answering("common"), answering("own")
    with first, second:
        toml = f'[chat]\nbase_url = "{first.base_url}"\nmodel = "large"\napi_key = "common-key"\n'
        toml += f'[chat.{role}]\nbase_url = "{second.base_url}"\n'
        (tmp_path / "shiguan.toml").write_text(toml, "utf-8")
        chat = make_models(load_settings({"data_dir": tmp_path, "user": "alice"}, {}), SystemClock(), _ignore).chat
        try:
            assert chat.answer(role, prompt, Word).value.word == "own"
        finally:
            chat.close()
        assert all("common-key" not in asked.headers.get("authorization", "") for asked in second.asked)


@pytest.mark.parametrize(
    "toml",
    [
        '[chat]\nmodel = "small"\n',
        '[chat]\nbase_url = "http://127.0.0.1:9/v1"\n[chat.merge]\nbase_url = ""\nmodel = "m"\n',
    ],
)
def test_a_chat_model_with_neither_address_nor_key_is_refused_and_nothing_is_sent_to_openai(
    tmp_path: Path, toml: str
) -> None:
    (tmp_path / "shiguan.toml").write_text(toml)
    settings = load_settings({"data_dir": tmp_path, "user": "alice"}, {})
    with pytest.raises(NotConfiguredError, match=r"set chat\.base_url, or chat\.api_key for OpenAI\."):
        make_models(settings, SystemClock(), _ignore)


@pytest.mark.parametrize(("table", "hint"), [('base_url = "http://127.0.0.1:9/v1"', True), ("", False)])
def test_an_address_of_a_chat_model_without_the_model_is_told_what_is_missing(
    tmp_path: Path, table: str, hint: bool
) -> None:
    (tmp_path / "shiguan.toml").write_text(f"[chat]\n{table}\n")
    household = open_household(load_settings({"data_dir": tmp_path, "user": "alice"}, {}), embedder=HashingEmbedder())
    try:
        (told,) = household.health.offline()
    finally:
        household.close()
    assert ("chat.base_url is set, so set chat.model too" in told) is hint


def test_a_chat_model_with_a_key_only_is_that_of_openai(tmp_path: Path) -> None:
    (tmp_path / "shiguan.toml").write_text('[chat]\nmodel = "small"\napi_key = "k"\n')
    settings = load_settings({"data_dir": tmp_path, "user": "alice"}, {})
    assert make_models(settings, SystemClock(), _ignore).chat.configured("rewrite")


def test_an_embedding_model_with_neither_address_nor_key_is_refused_and_nothing_is_sent_to_openai(
    tmp_path: Path,
) -> None:
    file = tmp_path / "shiguan.toml"
    file.write_text('[embedding]\nprovider = "openai"\nmodel = "small"\n')
    with pytest.raises(NotConfiguredError, match=r"set embedding\.base_url, or embedding\.api_key for OpenAI\."):
        make_embedder(load_settings({"data_dir": tmp_path, "user": "alice"}, {}))
    for enough in ('base_url = "http://127.0.0.1:9/v1"', 'api_key = "k"'):
        file.write_text(f'[embedding]\nprovider = "openai"\nmodel = "small"\n{enough}\n')
        assert make_embedder(load_settings({"data_dir": tmp_path, "user": "alice"}, {})).identity == "openai:small:?"


def _wants(asked: ChatAsked) -> tuple[Any, Any]:
    body = asked.body
    return body["model"], body.get("max_completion_tokens", body.get("max_tokens"))


def _ignore(call: object) -> None:
    """Count nothing."""
