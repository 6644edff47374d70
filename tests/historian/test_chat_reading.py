"""What is read from the text of a model: the JSON in it, or an error that says what is wrong; never a guess."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from historian.chat_reading import read_answer, read_object
from historian.errors import UnusableAnswerError


class Item(BaseModel):
    number: int
    text: str


class Items(BaseModel):
    items: list[Item]


class Verdict(BaseModel):
    should_remember: bool
    reason: str


RIGHT = '{"items": [{"number": 1, "text": "他说：“不吃辣”[1]"}, {"number": 2, "text": "a \\"quoted\\" {word}"}]}'


def kind_of(wrote: str, *, cut_off: bool = False) -> str:
    with pytest.raises(UnusableAnswerError) as caught:
        read_answer(wrote, Items, cut_off=cut_off)
    assert caught.value.wrote == wrote
    assert wrote[:40] not in str(caught.value) or not wrote.strip()
    return caught.value.kind


@pytest.mark.parametrize(
    "wrote",
    [
        RIGHT,
        f"Here is my answer [as asked]:\n\n{RIGHT}\n\nI hope that {{this}} helps!",
        f"好的，结果如下：\n```json\n{RIGHT}\n```\n以上。",
        f"```\n{RIGHT}",
        f'First thought: {{"items": [{{"number": 1, "text": "wrong"}}]}}. No, better:\n{RIGHT}',
        f'{RIGHT}\nThe format was {{"items": "list"}}.',
        f'<think>I could say {{"items": []}}.</think>{RIGHT}',
        RIGHT[:-1],
        RIGHT.replace("}]}", "},]}"),
        json.loads(RIGHT)["items"].__repr__(),
        f'{{"answer": {RIGHT}}}',
        RIGHT.replace(': "他', ':\n\t"他'),
    ],
)
def test_an_answer_is_found_in_whatever_stands_around_it(wrote: str) -> None:
    """P90."""
    value, _ = read_answer(wrote, Items)
    assert value.model_dump() == json.loads(RIGHT)


@pytest.mark.parametrize(
    ("wrote", "kind"),
    [
        ("", "empty"),
        ("\ufeff \n", "empty"),
        ("null", "malformed"),
        ("I cannot do that.", "malformed"),
        ("[]", "invalid"),
        ("{}", "invalid"),
        ('{"items": null}', "invalid"),
        ('{"items": [{"number": 1}]}', "invalid"),
        ('{"items": ["text"]}', "invalid"),
        ('{"items": [{"number": 1, "text": "妈妈喜欢吃', "truncated"),
        ("<think>still thinking", "truncated"),
        ("[" * 5000, "malformed"),
        ('{"a":' * 3000 + "1" + "}" * 3000, "malformed"),
    ],
)
def test_what_is_no_answer_is_named(wrote: str, kind: str) -> None:
    """P92."""
    assert kind_of(wrote) == kind


def test_what_was_cut_off_is_not_completed_by_guessing() -> None:
    """P37: half a list would be facts lost without a trace."""
    assert kind_of('{"items": [{"number": 1, "text": "a"}', cut_off=True) == "truncated"
    assert read_answer(RIGHT + " and", Items, cut_off=True)[0].model_dump() == json.loads(RIGHT)


def test_extra_keys_are_passed_over() -> None:
    """P92."""
    value, repaired = read_answer('{"should_remember": false, "reason": "", "sure": 1}', Verdict)
    assert (value.should_remember, repaired) == (False, False)


def test_arguments_of_a_tool_are_one_object() -> None:
    assert read_object('{"query": "辣"}') == {"query": "辣"}
    assert read_object("{'query': '辣',}") == {"query": "辣"}
    assert read_object('["辣"]') is None
    assert read_object("nothing") is None


@given(st.text(alphabet=st.sampled_from('{}[]",:\\ \n1a辣'), max_size=200))
def test_any_text_is_an_answer_or_an_error(wrote: str) -> None:
    try:
        value, _ = read_answer(wrote, Items)
    except UnusableAnswerError as error:
        assert error.kind in ("empty", "malformed", "invalid", "truncated")
    else:
        assert isinstance(value, Items)


@pytest.mark.parametrize("unit", ["{", '{"a', "[1 ", '[{"', "```", '"', "}{"])
def test_a_hostile_answer_takes_no_longer_than_an_honest_one(unit: str) -> None:
    wrote = unit * (100_000 // len(unit))
    begun = time.thread_time()
    kind_of(wrote)
    assert time.thread_time() - begun < 20
