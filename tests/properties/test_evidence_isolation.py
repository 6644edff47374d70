"""Two people who said the very same things: whatever either asks, in whichever order, nothing of the other comes."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult

from historian.embed_fake import HashingEmbedder
from historian.model import Message, Owner
from historian.record import Record
from tests.kit.home import Home, Person, home, prose

START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = (
    "火锅",
    "花生",
    "过敏",
    "上海",
    "开会",
    "下雨",
    "猫",
    "辣",
    "プロ",
    "음식",
    "docker",
    "deploy",
    "coffee",
    "Berlin",
)
PEOPLE = ("ann", "bob")
GROUP = "team"


def text_of(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))


def fill(house: Home, count: int) -> None:
    """Give each of the two, and their group, messages with the same ids, texts and times; only `sender_id` tells."""
    record = Record(house.household.database)
    owners = [*(Owner("user", person) for person in PEOPLE), Owner("group", GROUP)]
    for owner in owners:
        chance = random.Random(7)
        for start in range(0, count, 500):
            record.append(
                owner,
                [
                    Message(
                        message_id=f"m{n}",
                        conversation_id=f"c{n % 7}",
                        role="user" if n % 3 else "assistant",
                        content=text_of(chance),
                        ts=START + timedelta(minutes=n // 2),
                        sender_id=owner.id if owner.kind == "user" else PEOPLE[n % 2],
                    )
                    for n in range(start, min(start + 500, count))
                ],
            )
    engine, indexer = house.household.engine, house.household.indexer
    engine.start()
    assert engine.wait(30)
    while indexer.run_batch():
        pass


@asynccontextmanager
async def two(folder: Path, count: int) -> AsyncGenerator[tuple[Home, dict[str, Person]]]:
    async with home(folder, run=False, embedder=HashingEmbedder()) as house:
        fill(house, count)
        async with (
            house.client("ann") as ann,
            house.client("bob") as bob,
            house.client("eve") as eve,
            house.client("ann", group=GROUP) as ann_in_group,
        ):
            yield house, {"ann": ann, "bob": bob, "eve": eve, "ann@team": ann_in_group}


def is_foreign(who: str, item: dict[str, Any]) -> bool:
    """Whether an item is not for this asker: private rows carry their owner as sender, group rows their group."""
    if who == "ann@team":
        return item.get("group_id") != GROUP
    return item["sender_id"] != who


def a_call(
    chance: random.Random, count: int, cursors: list[tuple[str, dict[str, Any], str]]
) -> tuple[str, dict[str, Any]]:
    """Return a random call; a third of those that take one use a cursor of anybody's, with the arguments it needs."""
    if cursors and chance.random() < 0.35:
        tool, arguments, cursor = chance.choice(cursors)
        return tool, {**arguments, "cursor": cursor}
    tool = chance.choice(("messages_list", "lexical_search", "semantic_search", "neighbors"))
    if tool == "neighbors":
        anchor = f"m{chance.randrange(count + 5)}"
        return tool, {"message_id": anchor, "before": chance.randrange(30), "after": chance.randrange(30)}
    narrowed: dict[str, Any] = {}
    if chance.random() < 0.4:
        narrowed["role"] = chance.choice(("user", "assistant"))
    if chance.random() < 0.3:
        narrowed["conversation_id"] = f"c{chance.randrange(8)}"
    bounds = {
        name: (START + timedelta(minutes=chance.randrange(count))).isoformat()
        for name in ("since", "until")
        if chance.random() < 0.2
    }
    size = chance.choice((1, 5, 20, 200))
    if tool == "messages_list":
        return tool, {**narrowed, **bounds, "page_size": size}
    if chance.random() < 0.2:
        narrowed["sender_id"] = chance.choice((*PEOPLE, "eve"))
    wanted = {**narrowed, **({"time_range": bounds} if bounds else {})}
    joined = chance.choice((" ", " OR ", " AND ", "", " NOT "))
    query = joined.join(chance.choices(WORDS, k=chance.randint(1, 3)))
    limit = "top_k" if tool == "semantic_search" else "page_size"
    return tool, {"query_text": query, "filter": wanted, limit: size}


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("count", "calls"), [(1_000, 2_000), pytest.param(10_000, 10_000, marks=pytest.mark.soak)])
async def test_no_call_and_no_cursor_ever_gives_a_foreign_row(tmp_path: Path, count: int, calls: int) -> None:
    """P45, P48: identical ids, texts and times; cursors of everybody are tried by everybody."""
    chance = random.Random(20260220)
    async with two(tmp_path, count) as (_, people):
        cursors: list[tuple[str, dict[str, Any], str]] = []
        made_by: dict[str, str] = {}
        answered = refused = 0
        for _ in range(calls):
            who = chance.choice([*people])
            tool, arguments = a_call(chance, count, cursors)
            result: CallToolResult = await people[who].client.call_tool(tool, arguments)
            if result.is_error:
                sentence = prose(result)
                assert "\n" not in sentence
                assert not any(f"{person!r}" in sentence for person in PEOPLE)
                refused += 1
                continue
            answered += 1
            found = result.structured_content
            assert found is not None
            assert not [item for item in found["items"] if is_foreign(who, item)], (who, tool, arguments)
            if "cursor" in arguments:
                assert made_by[arguments["cursor"]] == who, "a cursor of somebody else was taken"
            if found["next_cursor"]:
                made_by[found["next_cursor"]] = who
                kept = {name: value for name, value in arguments.items() if name != "cursor"}
                cursors.append((tool, kept, found["next_cursor"]))
                del cursors[:-40]
        assert answered > calls / 3
        assert refused > calls / 20


async def test_what_two_people_share_in_words_they_do_not_share_in_counts(tmp_path: Path) -> None:
    """P46: every evidence tool, the same question, each gets exactly the own ones; a third gets nothing."""
    async with two(tmp_path, 200) as (_, people):
        for tool, arguments in (
            ("messages_list", {"page_size": 200}),
            ("lexical_search", {"query_text": "火锅", "page_size": 200}),
            ("semantic_search", {"query_text": "火锅", "top_k": 200}),
        ):
            seen = {who: await people[who].call(tool, **arguments) for who in ("ann", "bob", "eve")}
            assert seen["eve"]["items"] == []
            for who in PEOPLE:
                assert seen[who]["items"]
                assert not [item for item in seen[who]["items"] if is_foreign(who, item)]
        assert await people["eve"].refused("neighbors", message_id="m1")
