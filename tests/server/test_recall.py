"""recall: a chat model over real HTTP looks through the record within a budget, and only what is proven comes out."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from tests.kit.chat import Answer, ChatAsked, Said, ScriptedModel
from tests.kit.home import Home, Person
from tests.kit.recalled import Line, doubts, points, remembering, turns
from tests.kit.reply import failing
from tests.kit.speaking import speaking_home

RECORD: Sequence[Line] = (
    ("c1/m1", "2026-05-03T12:00:00+08:00", "user", "我住在杭州，养了 2 只猫"),
    ("c1/m2", "2026-05-03T12:01:00+08:00", "assistant", "好可爱！"),
    ("c2/m1", "2026-06-01T08:00:00Z", "user", "I am allergic to peanuts"),
)
CITY = {"section": "profile", "text": "用户住在杭州", "evidence": ["c1/m1"]}


@asynccontextmanager
async def recalling(folder: Path, answer: Answer, **budget: Any) -> AsyncGenerator[tuple[Person, ScriptedModel, Home]]:
    """A client that may recall, with a record and a scripted model behind it."""
    async with (
        speaking_home(folder, answer, run=False) as (house, model, _),
        house.client(toolsets=("host", "recall")) as alice,
    ):
        await alice.call("messages_append", messages=turns(RECORD))
        now = house.household.live.now
        house.household.live.replace(replace(now, recall=replace(now.recall, **budget)))
        yield alice, model, house


def by_tools(*rounds: Sequence[tuple[str, object]]) -> Answer:
    """A model that calls these tools, round by round; the last round again and again."""

    def say(asked: ChatAsked) -> object:
        done = sum(1 for message in asked.messages if message["role"] == "assistant")
        return Said(tool_calls=rounds[min(done, len(rounds) - 1)], finish="tool_calls")

    return say


def by_json(*moves: object) -> Answer:
    """A model without tools: its server refuses them."""

    def say(asked: ChatAsked) -> object:
        if "tools" in asked.body:
            return failing(400, "tools are not supported by this model")
        done = sum(1 for message in asked.messages if message["role"] == "assistant")
        return moves[min(done, len(moves) - 1)]

    return say


async def test_a_model_with_tools_searches_reads_around_and_hands_in_a_view(tmp_path: Path) -> None:
    model = by_tools(
        [("lexical_search", {"query": "杭州"}), ("neighbors", {"message_id": "c1/m1"})],
        [("memory_view", {"points": [CITY], "quotes": [{"message_id": "c1/m1", "content": "我住在杭州"}]})],
    )
    async with recalling(tmp_path, model) as (alice, asked, _):
        answer = await alice.call("recall", question="我住在哪里？")
    assert points(answer) == ["用户住在杭州"]
    assert answer["memory_view"]["profile"][0]["evidence"] == ["c1/m1"]
    assert answer["evidence"][0]["content"] == "我住在杭州，养了 2 只猫"
    assert answer["stopped"] == ""
    assert answer["limits"]["messages_considered"] == 3
    assert [step.partition(" ")[0] for step in answer["steps"]][-2:] == ["lexical_search", "neighbors"]
    results = [message for message in asked.asked[-1].messages if message["role"] == "tool"]
    assert len(results) == 2
    assert "「我住在杭州，养了 2 只猫」" in results[0]["content"]


async def test_a_model_without_tools_does_the_same_in_json(tmp_path: Path) -> None:
    model = by_json(
        {"done": False, "looks": [{"tool": "semantic_search", "query": "allergic peanuts"}]},
        {"done": True, "points": [{"section": "constraints", "text": "Allergic to peanuts", "evidence": ["c2/m1"]}]},
    )
    async with recalling(tmp_path, model) as (alice, _, _):
        answer = await alice.call("recall", question="What must I not eat?")
    assert answer["memory_view"]["constraints"] == [{"text": "Allergic to peanuts", "evidence": ["c2/m1"]}]
    assert any("allergic peanuts" in step for step in answer["steps"])


async def test_a_model_that_ignores_tools_and_writes_json_is_understood(tmp_path: Path) -> None:
    def say(asked: ChatAsked) -> object:
        return Said("```json\n" + json.dumps({"done": True, "points": [CITY]}, ensure_ascii=False) + "\n```")

    async with recalling(tmp_path, say) as (alice, _, _):
        assert points(await alice.call("recall", question="我住在哪里？")) == ["用户住在杭州"]


async def test_what_could_not_be_proven_is_asked_for_again_once_with_the_reason(tmp_path: Path) -> None:
    wrong = {**CITY, "text": "用户住在苏州"}
    model = by_tools([("memory_view", {"points": [wrong]})], [("memory_view", {"points": [CITY]})])
    async with recalling(tmp_path, model) as (alice, asked, _):
        assert points(await alice.call("recall", question="我住在哪里？")) == ["用户住在杭州"]
    assert len(asked.asked) == 2
    assert "苏" in asked.asked[-1].last


@pytest.mark.parametrize(
    ("budget", "said"),
    [({"rounds": 2}, "2 rounds"), ({"tokens": 500}, "500 tokens"), ({"seconds": 2.5}, "2.5 seconds")],
)
async def test_a_budget_that_is_used_up_gives_what_is_proven_so_far_and_says_so(
    tmp_path: Path, budget: dict[str, Any], said: str
) -> None:
    noted = [("note_points", {"points": [CITY]}), ("lexical_search", {"query": "杭州"})]
    held = threading.Event()

    def say(asked: ChatAsked) -> object:
        if "seconds" in budget and any(message["role"] == "assistant" for message in asked.messages):
            held.wait(30)
        return Said(tool_calls=noted, finish="tool_calls", prompt_tokens=600)

    async with recalling(tmp_path, say, **budget) as (alice, _, _):
        answer = await alice.call("recall", question="我住在哪里？")
        held.set()
    assert said in answer["stopped"]
    assert points(answer) == ["用户住在杭州"]


async def test_points_noted_on_the_way_add_up(tmp_path: Path) -> None:
    peanuts = {"section": "constraints", "text": "Allergic to peanuts", "evidence": ["c2/m1"]}
    model = by_tools([("note_points", {"points": [CITY]})], [("note_points", {"points": [peanuts]})])
    async with recalling(tmp_path, model, rounds=3) as (alice, _, _):
        answer = await alice.call("recall", question="我住在哪里？")
    assert points(answer) == ["用户住在杭州", "Allergic to peanuts"]


async def test_without_a_point_the_messages_found_stand_in_evidence_and_nobody_takes_it_for_no_memory(
    tmp_path: Path,
) -> None:
    async with recalling(tmp_path, by_tools([("lexical_search", {"query": "杭州"})]), rounds=3) as (alice, _, _):
        answer = await alice.call("recall", question="我住在哪里？")
    assert "3 rounds" in answer["stopped"]
    assert "c1/m1" in [message["message_id"] for message in answer["evidence"]]
    assert "not to say that nothing is remembered" in answer["notes"][0]


async def test_an_endpoint_that_is_down_ends_the_search_and_not_the_answer(tmp_path: Path) -> None:
    async with recalling(tmp_path, lambda asked: failing(503)) as (alice, _, _):
        answer = await alice.call("recall", question="我住在哪里？")
    assert answer["stopped"].startswith("The search ended early")
    assert answer["evidence"]


async def test_without_a_chat_model_the_tool_says_what_to_set_and_what_works_without(tmp_path: Path) -> None:
    async with remembering(tmp_path, RECORD) as (_, alice):
        with pytest.raises(MCPError, match=r"set chat\.model or chat\.recall\.model.*skill://recall/SKILL\.md"):
            await alice.client.call_tool("recall", {"question": "我住在哪里？"})


async def test_time_and_role_that_were_asked_for_are_never_widened(tmp_path: Path) -> None:
    model = by_tools([("memory_view", {"points": []})])
    async with recalling(tmp_path, model) as (alice, _, _):
        answer = await alice.call(
            "recall", question="杭州", time_range={"since": "2026-05-31", "until": "2026-06-02"}, role_pref="user"
        )
        assert [message["message_id"] for message in answer["evidence"]] in ([], ["c2/m1"])
        assert answer["limits"]["time_range"]["since"].startswith("2026-05-31")
        assert "time_range has no key from" in await alice.refused("recall", question="x", time_range={"from": "1"})
        assert "needs a question" in await alice.refused("recall", question=" ")


async def test_progress_is_told_and_a_caller_that_gives_up_ends_the_search(tmp_path: Path) -> None:
    held, told = threading.Event(), list[tuple[float, float | None]]()
    rounds: list[int] = []

    def say(asked: ChatAsked) -> object:
        rounds.append(1)
        if len(rounds) == 2:
            held.wait(30)
        return by_tools([("lexical_search", {"query": "杭州"})])(asked)

    async def progress(done: float, most: float | None, what: str | None) -> None:
        told.append((done, most))

    async with recalling(tmp_path, say) as (alice, _, _):
        async with anyio.create_task_group() as tasks:

            async def give_up() -> None:
                with anyio.fail_after(20):
                    while len(rounds) < 2:  # noqa: ASYNC110 - the model's server is a thread
                        await anyio.sleep(0.02)
                tasks.cancel_scope.cancel()

            tasks.start_soon(give_up)
            await alice.client.call_tool("recall", {"question": "我住在哪里？"}, progress_callback=progress)
        held.set()
        assert (await alice.call("memory_status"))["pending"] == 0
    assert told[:2] == [(0, 8), (1, 8)]
    assert len(rounds) == 2


async def test_what_other_people_said_is_nowhere_in_what_the_model_is_told(tmp_path: Path) -> None:
    model = by_tools(
        [("neighbors", {"message_id": "c1/m1"}), ("lexical_search", {"query": "杭州"})],
        [("memory_view", {"points": [CITY]})],
    )
    async with recalling(tmp_path, model) as (_, asked, house), house.client("bob", toolsets=("recall",)) as bob:
        answer = await bob.call("recall", question="我住在哪里？杭州？")
    assert points(answer) == []
    assert doubts(answer) == {"用户住在杭州": "There is no such message in this scope."}
    assert "只猫" not in json.dumps([one.body for one in asked.asked], ensure_ascii=False)


async def test_switched_off_no_model_is_asked_and_what_is_found_first_is_shown(tmp_path: Path) -> None:
    async with recalling(tmp_path, by_json({"view": {"points": [CITY]}})) as (alice, model, house):
        house.household.live.replace(replace(house.household.live.now, enabled=False))
        view = await alice.call("recall", question="我住在哪里？", time_range={"since": "2026-05-01"})
        assert model.asked == []
        assert "switched off" in view["stopped"]
        assert any("switched off" in sentence for sentence in view["degraded"])
        assert "我住在杭州，养了 2 只猫" in [one["content"] for one in view["evidence"]]


async def test_bounds_that_are_the_wrong_way_round_are_swapped_with_a_word(tmp_path: Path) -> None:
    async with recalling(tmp_path, by_json({"view": {"points": [CITY]}}), rounds=1) as (alice, _, house):
        house.household.live.replace(replace(house.household.live.now, enabled=False))
        bounds = {"since": "2026-06-01", "until": "2026-05-01"}
        view = await alice.call("recall", question="我住在哪里？", time_range=bounds)
        assert view["notes"][0] == "since was after until; they were swapped."
        assert [view["limits"]["time_range"][one][:10] for one in ("since", "until")] == ["2026-05-01", "2026-06-02"]
