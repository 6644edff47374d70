"""The recall agent of the examples, against a scripted endpoint and a real memory."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from tests.kit.chat import ChatAsked, Said, ScriptedModel
from tests.kit.endpoint import FakeEndpoint
from tests.kit.recalled import remembering
from tests.server.test_recall import RECORD

ROOT = Path(__file__).resolve().parents[2]


def example() -> Any:
    spec = importlib.util.spec_from_file_location("recall_agent_example", ROOT / "examples" / "recall_agent.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def searching(*points: dict[str, Any]) -> ScriptedModel:
    """A model that searches once, then hands in these points."""

    def say(asked: ChatAsked) -> object:
        if asked.messages[-1]["role"] == "tool":
            return Said(tool_calls=[("hand_in", {"memory_view": {"profile": [*points]}})], finish="tool_calls")
        return Said(tool_calls=[("lexical_search", {"query_text": "杭州"})], finish="tool_calls")

    return ScriptedModel(say)


async def test_the_agent_states_what_is_proven_and_nothing_else(tmp_path: Path) -> None:
    model = searching(
        {"text": "用户住在杭州", "evidence": ["c1/m1"]}, {"text": "用户在杭州有三套房子", "evidence": ["c1/m1"]}
    )
    agent = example()
    async with remembering(tmp_path, RECORD) as (_, alice):
        with FakeEndpoint(chat=model) as endpoint:
            async with AsyncOpenAI(base_url=endpoint.base_url, api_key="sk-test") as client:
                view = await agent.recall(alice.client, client, "small", "我住在哪里？")
    shown = agent.told(view)
    assert shown.startswith("用户住在杭州\n    2026-05-03 user: 我住在杭州，养了 2 只猫")
    assert "Uncertain: 用户在杭州有三套房子" in shown
    assert "## 8. Adjudicate" in model.asked[0].system


async def test_a_model_that_never_hands_in_is_told_to_and_ends(tmp_path: Path) -> None:
    agent = example()
    async with remembering(tmp_path, RECORD) as (_, alice):
        with FakeEndpoint(chat=ScriptedModel(lambda asked: "I remember it well.")) as endpoint:
            async with AsyncOpenAI(base_url=endpoint.base_url, api_key="sk-test") as client:
                with pytest.raises(RuntimeError, match="no view within 8 rounds"):
                    await agent.recall(alice.client, client, "small", "我住在哪里？")
