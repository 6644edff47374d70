"""A trusted host names in the `_meta` of each call on whose behalf it acts; nobody else may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from historian.errors import InvalidInputError
from historian.session import Session
from server.trust import KNOWN_KEYS, TrustedBinder, binding_from_meta
from tests.kit.home import home

UTC = Session(timezone="UTC")
META = {
    "shiguan/user_id": " 小林 ",
    "shiguan/group_id": 40017,
    "shiguan/groups": ["hiking", 40017],
    "shiguan/sender_id": "qq:1",
    "shiguan/sender_name": " 林\n小林 ",
    "shiguan/conversation_id": "c/1",
    "shiguan/request_id": "r:1",
    "shiguan/end_seq": 2,
    "shiguan/time": "2026-02-20T14:30:00",
    "shiguan/timezone": "Asia/Shanghai",
    "shiguan/location": "杭州",
    "shiguan/group_name": "Hikers",
    "shiguan/agent_name": "Bot",
}


def test_every_key_that_is_known_reaches_the_binding() -> None:
    assert {key.removeprefix("shiguan/") for key in META} == set(KNOWN_KEYS)
    bound = binding_from_meta({**META, "progressToken": 7}, UTC)
    assert bound is not None
    assert (bound.scope.user_id, bound.scope.group_id) == ("小林", "40017")
    assert bound.scope.groups == {"hiking", "40017"}
    assert bound.session == Session(
        timezone="Asia/Shanghai",
        conversation_id="c/1",
        request_id="r:1",
        end_seq=2,
        sender_id="qq:1",
        sender_name="林 小林",
        agent_name="Bot",
        group_name="Hikers",
        location="杭州",
        said_at="2026-02-20T14:30:00+08:00",
    )


def test_a_call_without_any_of_the_keys_names_nobody() -> None:
    """P50: there is no user whose memory several people could come to share."""
    for meta in (None, {}, {"progressToken": 1}, {"other/user_id": "bob"}):
        assert TrustedBinder(UTC).bind(meta) is None


def test_what_a_call_does_not_say_comes_from_the_settings_and_never_from_an_earlier_call() -> None:
    """P50."""
    binder = TrustedBinder(Session(timezone="Europe/Berlin"))
    assert binder.bind(META) is not None
    bare = binder.bind({"shiguan/user_id": "bob", "shiguan/group_id": None})
    assert bare is not None
    assert bare.session == Session(timezone="Europe/Berlin")
    assert (bare.scope.user_id, bare.scope.group_id, bare.scope.groups) == ("bob", None, frozenset())


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"user_id": None}, "names no user"),
        ({"user_id": "  "}, "user_id in _meta is empty"),
        ({"user_id": "x" * 513}, "513 characters"),
        ({"user_id": "a\nb"}, "control characters"),
        ({"user_id": "\ud800"}, "broken Unicode"),
        ({"user_id": True}, "a text or a whole number"),
        ({"user_id": 1.5}, "a text or a whole number"),
        ({"user_id": ["bob"]}, "a text or a whole number"),
        ({"group_id": ""}, "group_id in _meta is empty"),
        ({"groups": "hiking"}, "must be a list"),
        ({"groups": ["ok", ""]}, r"groups\[1\] in _meta is empty"),
        ({"groups": ["g"] * 1001}, "at most 1000"),
        ({"end_seq": -1}, "whole number from 0"),
        ({"end_seq": "1"}, "whole number from 0"),
        ({"sender_name": 7}, "must be a text"),
        ({"sender_name": "x" * 101}, "at most 100"),
        ({"location": "x" * 201}, "at most 200"),
        ({"time": "yesterday"}, "time in _meta: The time 'yesterday'"),
        ({"time": True}, "ISO 8601"),
        ({"time": "0001-01-01T00:00:00Z"}, "lies outside the years"),
        ({"timezone": "Mars/Base"}, "no time zone called 'Mars/Base'"),
        ({"userid": "bob"}, "did you mean shiguan/user_id"),
        ({"zzz": "bob"}, "known are user_id"),
        ({"": "bob"}, "known are user_id"),
    ],
)
def test_a_wrong_value_is_refused_in_one_sentence_that_names_the_key(changed: dict[str, Any], sentence: str) -> None:
    meta = {"shiguan/user_id": "bob"} | {f"shiguan/{key}": value for key, value in changed.items()}
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        binding_from_meta(meta, UTC)
    assert "\n" not in str(refused.value)


async def test_each_call_is_bound_anew_over_one_connection(tmp_path: Path) -> None:
    """P45, P50."""
    async with home(tmp_path) as house, house.host() as host:
        bob, lin = host.acting("bob"), host.acting("小林")
        await bob.remember("Bob likes jasmine tea.")
        await lin.remember("小林喜欢普洱茶。")
        assert await bob.texts("tea 普洱茶") == ["Bob likes jasmine tea."]
        assert await lin.texts("tea 普洱茶") == ["小林喜欢普洱茶。"]
        assert await host.acting("Bob").texts("tea 普洱茶") == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_without_a_user_what_needs_one_is_refused_and_lists_are_served(tmp_path: Path, mode: str) -> None:
    """P50: never a default."""
    async with home(tmp_path, run=False) as house, house.host(mode=mode) as host:
        assert (await host.client.list_tools()).tools
        assert (await host.client.list_resources()).resources
        for meta in (None, {"shiguan/group_id": "g"}):
            given: Any = meta
            for tool in ("end", "memory_status", "messages_list"):
                with pytest.raises(MCPError, match="names no user"):
                    await host.client.call_tool(tool, {}, meta=given)
            with pytest.raises(MCPError, match="names no user"):
                await host.client.read_resource("memory://profile", meta=given)


async def test_resources_are_bound_like_tools(tmp_path: Path) -> None:
    """P52."""
    async with home(tmp_path) as house, house.host() as host:
        await host.acting("bob").remember("Bob plays the cello.")
        seen: Any = await host.client.read_resource("memory://profile", meta=host.acting("bob").meta)
        assert "cello" in seen.contents[0].text
        unseen: Any = await host.client.read_resource("memory://profile", meta=host.acting("bo").meta)
        assert "cello" not in unseen.contents[0].text


async def test_a_turn_is_dated_by_the_hosts_time_in_the_hosts_zone(tmp_path: Path) -> None:
    """P74, P76: late evening in UTC is the next day in Shanghai, and "yesterday" counts from there."""
    async with home(tmp_path) as house, house.host(timezone="UTC") as host:
        person = host.acting("bob", time="2023-05-24T23:30:00Z", timezone="Asia/Shanghai", sender_name="Bob")
        await person.remember("Bob went to the dentist yesterday.", source_message="I went to the dentist yesterday.")
        found = (await person.call("search_events", query="dentist"))["events"]
        assert "2023-05-24" in found[0]["text"]
        assert found[0]["timestamp_local"] == "2023-05-25T07:30:00+08:00"
        messages = (await person.call("messages_list"))["items"]
        assert messages[0]["ts"] == "2023-05-25T07:30:00+08:00"
        assert (await person.call("memory_status"))["memos"] == []


async def test_a_request_id_of_the_host_makes_a_repeat_of_long_ago_a_repeat(tmp_path: Path) -> None:
    """P33."""
    async with home(tmp_path) as house, house.host() as host:
        first = host.acting("bob", request_id="r1", time="2023-05-24T12:00:00Z")
        job = await first.remember("Bob has a cat.")
        again = await host.acting("bob", request_id="r1").call("end", observations=["Bob has a cat."])
        assert (again["job_id"], again["duplicate"]) == (job, True)
        other = await host.acting("bob", request_id="r2").call("end", observations=["Bob has a cat."])
        assert not other["duplicate"]
