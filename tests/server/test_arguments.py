"""What a model sends is read kindly, and what cannot be read is refused in one sentence."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from historian.errors import InvalidInputError
from server.arguments import checked
from tests.kit.home import Person, home

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for"},
        "kind": {"type": "string", "enum": ["user", "group"]},
        "top_k": {"type": "integer", "minimum": 1, "maximum": 200},
        "ratio": {"type": "number"},
        "force": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "lines": {"type": "array", "items": {"type": ["string", "object"]}},
        "filter": {"type": "object"},
        "short": {"type": "string", "maxLength": 5},
    },
    "required": ["query"],
}
ALIASES = {"summary": "short", "name": "names"}
PAGES = re.compile(r"pydantic|validation error|Traceback|\binput_value\b|https?://|/[a-z_]+/[a-z_]+|\.py\b|Error\b")


def read(**arguments: Any) -> dict[str, Any]:
    """Return what the tool would get, without the query that it needs."""
    given = checked("look", SCHEMA, {"query": "x", **arguments}, ALIASES)
    assert given.pop("query") == "x"
    return given


def refused(**arguments: Any) -> str:
    with pytest.raises(InvalidInputError) as caught:
        checked("look", SCHEMA, {"query": "x", **arguments}, ALIASES)
    return one_sentence(str(caught.value))


def one_sentence(text: str) -> str:
    assert 0 < len(text) < 400, text
    assert "\n" not in text
    assert text[0].isalpha()
    assert text.endswith((".", "?"))
    assert not re.search(r"[.?!] [A-Z]", text), text
    assert not PAGES.search(text), text
    return text


@pytest.fixture
async def alice(tmp_path: Path) -> AsyncGenerator[Person]:
    async with home(tmp_path, run=False) as house, house.client() as person:
        yield person


# ---- names


@pytest.mark.parametrize(
    ("name", "meant"),
    [("topk", "top_k"), ("queri", "query"), ("Query", "query"), ("filters", "filter"), ("names_list", "names")],
)
def test_an_unknown_name_is_answered_with_the_closest_one(name: str, meant: str) -> None:
    assert refused(**{name: 1}) == f"look has no parameter {name}; did you mean {meant}?"


def test_a_name_like_no_other_is_answered_with_all_of_them() -> None:
    assert refused(用户="我").startswith("look has no parameter 用户; it takes query, kind, top_k, ")


@pytest.mark.parametrize("name", ["x" * 1_000_000, "a\nb", "\ud800", "\x00", "user_id\u202e", ""])
def test_a_name_that_cannot_be_shown_is_not_repeated(name: str) -> None:
    sentence = refused(**{name: 1})
    assert name not in sentence or not name
    sentence.encode()


def test_a_missing_name_is_asked_for_with_what_it_means() -> None:
    with pytest.raises(InvalidInputError, match=r"^look needs query: What to look for\.$"):
        checked("look", SCHEMA, {"query": None}, ALIASES)


def test_null_means_left_out() -> None:
    assert read(top_k=None, names=None, force=None, kind=None) == {}


def test_old_names_are_read_as_the_new_ones_and_neither_value_is_lost() -> None:
    assert read(summary="ab") == {"short": "ab"}
    assert read(short="ab", summary="cd") == {"short": "ab\ncd"}
    assert read(summary="ab", short="cd") == {"short": "ab\ncd"}
    assert read(summary="", short="cd") == {"short": "cd"}
    assert read(name="one", names=["two"]) == {"names": ["one", "two"]}


def test_what_comes_under_two_names_is_bounded_as_a_whole() -> None:
    assert refused(name="one", names=["two", "three", "four"]) == "names has 4 entries; send at most 3."
    assert refused(short="abcde", summary="f") == "short has 7 characters; send at most 5."


# ---- lists


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        (["我对花生过敏", "b"], ["我对花生过敏", "b"]),
        ('["我对花生过敏", "b"]', ["我对花生过敏", "b"]),
        ('\n ["a"] ', ["a"]),
        ("我对花生过敏", ["我对花生过敏"]),
        ("a, b", ["a, b"]),
        ("[draft] Bo likes tea", ["[draft] Bo likes tea"]),
        ("[未完", ["[未完"]),
        ("[" * 100_000, ["[" * 100_000]),
        ("", []),
        ("  ", []),
        ("[]", []),
        ([], []),
        ([17, 2.5], ["17", "2.5"]),
        ("null", ["null"]),
    ],
)
def test_a_list_is_read_as_list_as_json_and_as_one_text(sent: Any, meant: list[str]) -> None:
    """P97."""
    assert read(names=sent) == {"names": meant}


def test_a_list_of_objects_is_read_as_json_and_as_one_object() -> None:
    """P97."""
    assert read(lines='[{"content": "x"}, "y"]') == {"lines": [{"content": "x"}, "y"]}
    assert read(lines='{"content": "x"}') == {"lines": [{"content": "x"}]}
    assert read(lines={"content": "x"}) == {"lines": [{"content": "x"}]}


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (17, "names must be a list, not a number."),
        (True, "names must be a list, not true or false."),
        ([None], "names[0] must be a text, not null."),
        (["a", {}], "names[1] must be a text, not an object."),
        (["a", ["b"]], "names[1] must be a text, not a list."),
        ("[true]", "names[0] must be a text, not true or false."),
        (["a"] * 4, "names has 4 entries; send at most 3."),
        (["a"] * 10_000, "names has 10000 entries; send at most 3."),
    ],
)
def test_what_is_no_list_of_texts_is_named(sent: Any, sentence: str) -> None:
    assert refused(names=sent) == sentence


# ---- numbers, booleans, texts, objects


@pytest.mark.parametrize(("sent", "meant"), [(1, 1), (200, 200), ("12", 12), (" 12 ", 12), (12.0, 12), ("12.0", 12)])
def test_a_whole_number_may_come_as_text(sent: Any, meant: int) -> None:
    given = read(top_k=sent)["top_k"]
    assert given == meant
    assert type(given) is int


@pytest.mark.parametrize(
    "sent", [0, -1, 201, "many", "", "十", 1.5, "1.5", 10**400, "9" * 400, float("nan"), float("inf"), "nan", "inf"]
)
def test_a_number_out_of_bounds_is_told_its_bounds(sent: Any) -> None:
    assert refused(top_k=sent) == "top_k must be a whole number from 1 to 200."


@pytest.mark.parametrize(("sent", "what"), [(True, "true or false"), ([1], "a list"), ({}, "an object")])
def test_what_is_no_number_is_told_what_it_is(sent: Any, what: str) -> None:
    assert refused(top_k=sent) == f"top_k must be a whole number from 1 to 200, not {what}."


def test_a_number_without_bounds_is_finite_all_the_same() -> None:
    assert read(ratio="0.5") == {"ratio": 0.5}
    assert refused(ratio=float("inf")) == "ratio must be a number."


@pytest.mark.parametrize(
    ("sent", "meant"), [(True, True), (False, False), ("true", True), ("FALSE", False), (" True ", True)]
)
def test_a_truth_may_come_as_text(sent: Any, meant: bool) -> None:
    assert read(force=sent) == {"force": meant}


@pytest.mark.parametrize(("sent", "what"), [("yes", "a text"), (1, "a number"), ([], "a list"), ("", "a text")])
def test_what_is_no_truth_is_refused(sent: Any, what: str) -> None:
    assert refused(force=sent) == f"force must be true or false, not {what}."


def test_a_text_may_come_as_a_number_but_not_as_a_list() -> None:
    assert read(short=17) == {"short": "17"}
    assert refused(short=["a"]) == "short must be a text, not a list."
    assert refused(short={"a": 1}) == "short must be a text, not an object."
    assert refused(short=True) == "short must be a text, not true or false."
    assert refused(short="abcdef") == "short has 6 characters; send at most 5."
    assert refused(kind="robot") == "kind must be one of user, group."


def test_an_object_may_come_as_json() -> None:
    assert read(filter='{"role": "user"}') == {"filter": {"role": "user"}}
    assert read(filter="") == {"filter": {}}
    assert refused(filter="role=user") == "filter must be an object, as JSON."
    assert refused(filter="[" * 100_000) == "filter must be an object, as JSON."
    assert refused(filter=[1]) == "filter must be an object, not a list."


# ---- through the real tools


@pytest.mark.parametrize(
    "sent",
    [
        ["Bo lives in Bern.", "Bo 对花生过敏。"],
        '["Bo lives in Bern.", "Bo 对花生过敏。"]',
    ],
)
async def test_observations_reach_the_queue_as_list_and_as_json(alice: Person, sent: Any) -> None:
    """P97."""
    receipt = await alice.call("end", observations=sent)
    assert receipt["queued"]
    again = await alice.call("end", observations=["Bo lives in Bern.", "Bo 对花生过敏。"])
    assert again["job_id"] == receipt["job_id"]


@pytest.mark.parametrize("name", ["observations", "new_info"])
async def test_one_observation_may_come_as_plain_text(alice: Person, name: str) -> None:
    """P97."""
    receipt = await alice.call("end", **{name: "Bo 对花生过敏。"})
    again = await alice.call("end", observations=["Bo 对花生过敏。"])
    assert again["job_id"] == receipt["job_id"]


@pytest.mark.parametrize("name", ["action_summary", "summary", "memo"])
async def test_a_memo_may_come_under_its_older_names(alice: Person, name: str) -> None:
    await alice.call("end", **{name: "Booked the table."})
    assert [memo["text"] for memo in (await alice.call("memory_status"))["memos"]] == ["Booked the table."]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("end", {"observation": ["x"]}),
        ("end", {"user_id": "bob", "memo": "x"}),
        ("end", {"memory": "x"}),
        ("end", {"memo": ["x"]}),
        ("end", {"observations": 5}),
        ("end", {"observations": ["x"] * 33}),
        ("end", {"observations": ["x"] * 32, "new_info": "y"}),
        ("end", {"observations": [["x"]]}),
        ("end", {"observations": [None]}),
        ("end", {"force": "perhaps", "memo": "x"}),
        ("end", {"recent_messages": [17], "memo": "x"}),
        ("end", {"recent_messages": [{"text": "x"}], "memo": "x"}),
        ("end", {"message_ids": [""], "memo": "x"}),
        ("end", {"message_ids": ["x"] * 201, "memo": "x"}),
        ("end", {"location": {"city": "Bern"}, "memo": "x"}),
        ("end", {"location": "x" * 201, "memo": "x"}),
        ("search_events", {}),
        ("search_events", {"query": None}),
        ("search_events", {"query": ["a"]}),
        ("search_events", {"query": "a", "top_k": "many"}),
        ("search_events", {"query": "a", "top_k": 0.5}),
        ("search_events", {"query": "a", "top_k": -1}),
        ("search_events", {"query": "a", "top_k": 201}),
        ("search_events", {"query": "a", "user_id": "bob"}),
        ("search_events", {"query": "a", "target_user_id": "x" * 600}),
        ("get_profile", {"entity_type": "robot"}),
        ("get_profile", {"entity_id": "\x00"}),
        ("search_profiles", {"query": "a", "entity_type": "robot"}),
        ("memory_status", {"job": "x"}),
        ("messages_append", {}),
        ("messages_append", {"messages": 5}),
        ("messages_append", {"messages": [{}] * 1001}),
        ("no_such_tool", {}),
    ],
)
async def test_every_mistake_is_an_error_of_one_sentence(alice: Person, tool: str, arguments: dict[str, Any]) -> None:
    """P101: `isError` is set, so that a model sees that it failed."""
    one_sentence(await alice.refused(tool, **arguments))
    status = await alice.call("memory_status")
    assert status["pending"] == 0
