"""`import --remember`: years of messages become statements, oldest first, at their own times, each once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from historian.errors import InvalidInputError, StoreError
from historian.guard import Guard
from historian.model import Owner
from historian.zones import load_zone
from server.imports.exchanges import MOST, Exchange, Exchanges
from server.imports.remembering import AT_ONCE, Remembered, rehearse, remember
from server.owner.remembering import RememberRequests
from tests.kit.home import Home, Person, home

ZONE = load_zone("Asia/Shanghai")
SAID = [
    ("c2", "user", "2024-05-01T10:00:00+08:00", "我明天下午三点要去面试。"),
    ("c1", "user", "2023-03-01T10:00:00+08:00", "I'm allergic to walnuts."),
    ("c1", "assistant", "2023-03-01T10:01:00+08:00", "Noted."),
    ("c1", "user", "2023-03-05T10:00:00+08:00", "我对花生过敏。"),
    ("c3", "assistant", "2022-01-01T00:00:00+08:00", "Nobody asked me."),
]


def raw(number: int, conversation: str, role: str, ts: str, content: str, **more: Any) -> dict[str, Any]:
    return {
        "message_id": f"m{number}",
        "conversation_id": conversation,
        "role": role,
        "content": content,
        "ts": ts,
        **more,
    }


MESSAGES = [raw(number, *one) for number, one in enumerate(SAID)]


def gathered(*messages: dict[str, Any], facts: tuple[str, ...] = ()) -> Exchanges:
    made = Exchanges(ZONE, Guard("mask"))
    for message in messages:
        made.add(message, facts)
    return made


def asking(
    house: Home, fails_after: int | None = None, group: str | None = None
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what asks the owner; it hangs up after so many requests with exchanges."""
    requests = RememberRequests(house.household)
    scope = {"user_id": "alice", "group_id": group, "groups": [group] if group else []}
    count = 0

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        nonlocal count
        count += bool(request["exchanges"])
        if fails_after is not None and count > fails_after:
            raise StoreError("The owner of the data folder hung up; try again.")
        return requests.answer({"scope": scope, "timezone": "Asia/Shanghai", "name": "Alice", **request})

    return ask


async def remembered(
    house: Home, exchanges: Exchanges, fails_after: int | None = None, group: str | None = None
) -> Remembered:
    ask = asking(house, fails_after, group)
    return await anyio.to_thread.run_sync(lambda: remember(exchanges, ask, lambda *_: None))


@asynccontextmanager
async def with_record(folder: Path, messages: list[dict[str, Any]]) -> AsyncGenerator[tuple[Home, Person]]:
    async with home(folder) as house, house.client(toolsets=("host", "evidence")) as alice:
        for start in range(0, len(messages), 1000):
            await alice.call("messages_append", messages=messages[start : start + 1000])
        yield house, alice


def events(house: Home) -> list[tuple[str, str, str]]:
    with house.household.database.read() as connection:
        rows = connection.execute("SELECT event_id, text, timestamp FROM events ORDER BY rowid").fetchall()
    return [tuple(row) for row in rows]


def test_exchanges_are_of_one_conversation_short_without_pauses_and_oldest_first() -> None:
    several = [raw(10 + n, "c9", "user", f"2025-01-01T00:{n:02}:00Z", str(n)) for n in range(MOST + 1)]
    found = [(one.conversation_id, one.message_ids) for one in gathered(*reversed(several), *MESSAGES)]
    assert found == [
        ("c1", ("m1", "m2")),
        ("c1", ("m3",)),
        ("c2", ("m0",)),
        ("c9", tuple(f"m{10 + n}" for n in range(MOST))),
        ("c9", (f"m{10 + MOST}",)),
    ]


def test_a_message_gets_the_id_under_which_it_will_be_stored_and_a_bad_one_is_left_as_it_is() -> None:
    exchanges = Exchanges(ZONE, Guard("mask"))
    whole = {**MESSAGES[0], "content": "My token is ghp_" + "a1B2c3D4e5" * 4}
    del whole["message_id"]
    sent = exchanges.add(whole, ())
    assert sent["message_id"].startswith("auto:")
    assert sent["content"] == whole["content"]
    (found,) = exchanges
    assert found.message_ids == (sent["message_id"],)
    for bad in ({}, {**MESSAGES[0], "ts": "never"}, {**MESSAGES[0], "ts": "9999-01-01T00:00:00Z"}):
        assert exchanges.add(bad, ()) == bad
    assert len([*exchanges]) == 1


def test_the_statements_of_another_memory_stand_by_themselves_however_many_they_are() -> None:
    found = [*gathered(MESSAGES[1], facts=tuple(f"Mira likes tea {n}" for n in range(40)))]
    assert [(len(one.facts), one.part, one.message_ids) for one in found] == [(32, 0, ("m1",)), (8, 1, ("m1",))]
    assert rehearse(gathered(*MESSAGES)).summary(dry=True) == "3 exchanges would be considered."


async def test_what_is_worth_it_is_remembered_with_the_time_of_its_message_and_repeating_adds_nothing(
    tmp_path: Path,
) -> None:
    """P77: nothing gets the time of the import."""
    async with with_record(tmp_path, MESSAGES) as (house, alice):
        done = await remembered(house, gathered(*MESSAGES))
        assert done.summary(dry=False) == "3 exchanges considered; 3 new statements remembered."
        found = events(house)
        assert [text for _, text, _ in found] == [
            "Alice is allergic to walnuts.",
            "Alice 对花生过敏。",
            "Alice 2024-05-02 15:00 要去面试。",
        ]
        assert [ts[:10] for _, _, ts in found] == ["2023-03-01", "2023-03-05", "2024-05-01"]
        again = await remembered(house, gathered(*reversed(MESSAGES)))
        assert again.summary(dry=False) == "3 exchanges considered, 3 of them before; no new statements remembered."
        assert events(house) == found
        assert (await alice.call("memory_status"))["failed"] == 0


async def test_statements_of_another_memory_become_events_of_their_message(tmp_path: Path) -> None:
    message = raw(1, "mem0", "user", "2023-03-01T10:00:00+08:00", "Mira lives in Lund. 米拉喜欢茶。")
    facts = ("Mira lives in Lund.", "米拉喜欢茶。")
    async with with_record(tmp_path, [message]) as (house, alice):
        for _ in range(2):
            await remembered(house, gathered(message, facts=facts))
            assert [(one[0], one[1]) for one in events(house)] == [
                ("import:m1:0:0", "Mira lives in Lund."),
                ("import:m1:0:1", "米拉喜欢茶。"),
            ]
        (found, *_) = (await alice.call("search_events", query="Where does Mira live? Lund"))["events"]
        assert found["message_ids"] == ["m1"]
        assert found["timestamp_local"].startswith("2023-03-01")


async def test_an_interrupted_run_goes_on_and_comes_to_the_same(tmp_path: Path) -> None:
    messages = [
        raw(n, f"c{n % 5}", "user", f"2023-03-{1 + n // 4:02}T{n % 4 * 5:02}:00:00+08:00", f"I'm allergic to plant{n}.")
        for n in range(40)
    ]
    async with with_record(tmp_path / "whole", messages) as (house, _):
        await remembered(house, gathered(*messages))
        whole = events(house)
    assert len(whole) == 40
    async with with_record(tmp_path / "cut", messages) as (house, _):
        with pytest.raises(StoreError):
            await remembered(house, gathered(*messages), fails_after=3)
    async with home(tmp_path / "cut") as house:
        done = await remembered(house, gathered(*messages))
        assert done.known == 3 * (AT_ONCE // 2)
        assert sorted(events(house)) == sorted(whole)


async def test_what_is_not_in_the_record_is_counted_and_switched_off_is_refused(tmp_path: Path) -> None:
    async with with_record(tmp_path, MESSAGES[:1]) as (house, _):
        done = await remembered(house, gathered(*MESSAGES))
        told = "1 exchanges considered; 1 new statement remembered. 2 could not be handed in."
        assert done.summary(dry=False) == told
    (tmp_path / "shiguan.toml").write_text("enabled = false\n")
    async with home(tmp_path) as house:
        with pytest.raises(InvalidInputError, match="switched off"):
            await remembered(house, gathered(*MESSAGES))


def test_an_exchange_is_asked_for_as_plain_json() -> None:
    made = Exchange("c", ("m1",), "2023-03-01T10:00:00+08:00", ("a",), 2).as_request()
    assert made == {
        "conversation_id": "c",
        "message_ids": ("m1",),
        "since": "2023-03-01T10:00:00+08:00",
        "facts": ("a",),
        "part": 2,
    }


OTHERS = [
    raw(20, "c8", "user", "2024-05-01T10:00:00+08:00", "I'm allergic to penicillin.", sender_id="mem0:bob"),
    raw(21, "c8", "user", "2024-05-01T10:01:00+08:00", "我对花生过敏。", sender_id="alice"),
]
OTHERS[0]["sender_name"] = "Bob"


async def test_the_profile_of_the_user_never_gets_the_name_of_another_who_speaks(tmp_path: Path) -> None:
    async with with_record(tmp_path, OTHERS) as (house, alice):
        await remembered(house, gathered(*OTHERS))
        assert [text for _, text, _ in events(house)] == ["Bob is allergic to penicillin.", "Alice 对花生过敏。"]
        assert (await alice.call("get_profile", entity_type="user"))["name"] == "Alice"


async def test_in_a_group_what_each_says_goes_into_their_own_profile(tmp_path: Path) -> None:
    async with home(tmp_path) as house:
        async with house.client("alice", group="g1") as alice:
            await alice.call("messages_append", messages=OTHERS)
        await remembered(house, gathered(*OTHERS), group="g1")
        store = house.household.profiles.store
        said = {
            owner: [word in (store.raw(owner) or "") for word in ("penicillin", "花生")]
            for owner in (Owner("user", "alice"), Owner("user", "mem0:bob"), Owner("group", "g1"))
        }
        assert [*said.values()] == [[False, True], [True, False], [True, True]]
