"""Whatever a model answers, nothing of an observation is turned round or lost, and nothing foreign comes in."""

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from historian.identity import check_identity, negations_in
from historian.identity_numbers import figures
from historian.model import Origin
from tests.historian.test_scribe import drafted, statements
from tests.kit.scripted_chat import ScriptedChat

FACTS = [
    "王芳不吃辣，但是吃鱼",
    "王芳养了3只猫和2只狗",
    "订单 ORD-2026-17 已经发货，不需要签收",
    "李雷没有去过北京，去过上海两次",
    "Bob does not eat beef but likes fish",
    "Bob has 3 cats and 2 dogs",
    "Ann told Bob about parcel 17 on 2026-03-03",
    "Bob never flies and takes the 9:15 train",
    "Tom 不用 docker，用 podman 4.2 部署 blog",
    "Ann wants to move to Bern in 2027",
    "会议不在三楼，在五楼 501 房间",
    "Ann's badge is 0417, not 0418",
]
WORDS = [
    "不", "没有", "吃", "辣", "鱼", "not", "never", "Bob", "Ann", "王芳", "张伟", "Mallory", "3", "2", "18", "0418",
    "ORD-9", "likes", "hates", "beef", "and", "但是", "，", ".", "北京", "2026-03-04", "password", "的", "to", "wants",
]  # fmt: skip


@st.composite
def twisted(draw: st.DrawFn) -> tuple[str, str]:
    """Return a fact, and what a bad model may make of it: words dropped, doubled, exchanged or put in."""
    fact = draw(st.sampled_from(FACTS))
    pieces = re.findall(r"[A-Za-z0-9:.'-]+|[\u4e00-\u9fff]|\s+|[^\sA-Za-z0-9\u4e00-\u9fff]", fact)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(pieces) - 1)))
        match draw(st.sampled_from(["drop", "put", "swap", "replace"])):
            case "drop" if pieces:
                del pieces[at]
            case "put":
                pieces.insert(at, f" {draw(st.sampled_from(WORDS))} ")
            case "swap" if pieces:
                other = draw(st.integers(0, len(pieces) - 1))
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case "replace" if pieces:
                pieces[at] = draw(st.sampled_from(WORDS))
    return fact, "".join(pieces)


def faithful(observation: str, stored: str) -> bool:
    """Say whether a text has the numbers, ids and denials of an observation, and no others."""
    return (
        figures(observation) == figures(stored)
        and len(negations_in(observation)) == len(negations_in(stored))
        and not check_identity(observation, stored)
    )


@settings(max_examples=150, deadline=None)
@given(twisted())
def test_what_is_stored_says_the_same_or_is_the_observation_itself_flagged(case: tuple[str, str]) -> None:
    """P80, and small models that drop a negation: 不吃辣 must not become 吃辣."""
    fact, answer = case
    chat = ScriptedChat(lambda role, prompt: statements(answer))
    [draft] = drafted(chat, fact, name="u1")
    if draft.origin is Origin.DEGRADED:
        assert draft.text == fact
        assert draft.flags
        return
    assert faithful(fact, draft.text)
    known = {
        *re.findall(r"[A-Za-z]{3,}", fact.lower()),
        *["and", "the", "not", "never", "but", "has", "have", "had", "that", "who", "was", "his", "her"],
    }
    assert {word for word in re.findall(r"[A-Za-z]{3,}", draft.text.lower()) if word not in known} == set()
    assert not {"张", "伟"} & set(draft.text)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.sampled_from(FACTS))
def test_any_text_at_all_does_no_harm(answer: str, fact: str) -> None:
    """P92."""
    [draft] = drafted(ScriptedChat(lambda role, prompt: answer), fact)
    assert draft.text == fact
    [listed] = drafted(ScriptedChat(lambda role, prompt: statements(answer)), fact)
    assert faithful(fact, listed.text)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["statements", "number", "text"]), inner)
        ),
        max_leaves=12,
    ),
)
def test_json_of_any_shape_does_no_harm(value: object) -> None:
    """P92."""
    [draft] = drafted(ScriptedChat(lambda role, prompt: json.dumps(value)), FACTS[0])
    assert draft.text == FACTS[0]


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_nothing_is_lost_of_many_with_a_model_that_errs(share: float) -> None:
    chance = random.Random(7)

    def says(role: str, prompt: object) -> str:
        if chance.random() < share:
            return chance.choice(
                ["", "[]", statements("王芳吃辣"), statements("Mallory likes beef"), statements("他不吃辣")]
            )
        return statements(f"{fact}。")

    good = 0
    for fact in FACTS * 20:
        [draft] = drafted(ScriptedChat(says), fact, name="u1")
        assert faithful(fact, draft.text)
        good += draft.origin is Origin.MODEL
    assert good >= len(FACTS) * 20 * (1 - share**3) * 0.95
