"""`shiguan rewrite` and `shiguan audit`, as the owner does them; and facts that are said again in other words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from historian.errors import InvalidInputError, NotConfiguredError
from historian.likeness import near_statement
from server.owner.looking_after import LookingAfter
from tests.historian.test_sameness import DIFFERENT
from tests.kit.home import Home, Person, home
from tests.kit.questions import builtin
from tests.kit.reply import failing
from tests.kit.speaking import good, speaking_home


async def lines(person: Person) -> list[str]:
    return [item["line"] for item in (await person.call("get_profile"))["provenance"]]


def texts(house: Home) -> list[str]:
    with house.household.database.read() as connection:
        rows = connection.execute("SELECT text FROM events WHERE same_as IS NULL AND has_new_info = 1 ORDER BY row")
        return [text for (text,) in rows]


def through(house: Home, **request: Any) -> list[dict[str, Any]]:
    """Have all turns phrased again, as the command does."""
    keeper, answers, after = LookingAfter(house.household), [], 0
    while True:
        answers.append(keeper.rewrite({"after": after, **request}))
        if answers[-1]["after"] is None or answers[-1]["away"]:
            return answers
        after = answers[-1]["after"]


# ---- rewrite


async def test_rewrite_phrases_what_rules_wrote_and_with_all_everything(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client(sender_name="Alice") as alice:
        for fact in ("I do not eat beef", "I have 2 cats", "I live in Bern"):
            await alice.remember(fact)
    phrases = {"I do not eat beef": "Alice does not eat beef.", "I have 2 cats": "Alice has 2 cats."}
    async with speaking_home(tmp_path, good(phrases), run=False) as (house, _, _endpoint):
        done = await anyio.to_thread.run_sync(through, house)
        assert sum(one["better"] for one in done) == 2
        assert texts(house) == ["Alice does not eat beef.", "Alice has 2 cats.", "Alice lives in Bern"]
        again = await anyio.to_thread.run_sync(through, house)
        assert sum(one["looked_at"] for one in again) == 1
        async with house.client(sender_name="Alice") as alice:
            assert sorted(await lines(alice)) == sorted(texts(house))
    better = {"I do not eat beef": "Alice does not eat any beef.", "I live in Bern": "Alice lives in Bern."}
    async with speaking_home(tmp_path, good(better), run=False) as (house, _, _endpoint):
        everything = await anyio.to_thread.run_sync(lambda: through(house, all=True))
        assert sum(one["looked_at"] for one in everything) == 3
        assert texts(house) == ["Alice does not eat any beef.", "Alice has 2 cats.", "Alice lives in Bern."]


async def test_two_events_that_say_the_same_once_they_are_phrased_become_one(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client(sender_name="Alice") as alice:
        await alice.remember("Alice does not eat beef.")
        await alice.remember("she does not eat beef", source_message="she does not eat beef")
        assert len(texts(house)) == 2
    phrases = {"she does not eat beef": "Alice does not eat beef."}
    async with speaking_home(tmp_path, good(phrases), run=False) as (house, _, _endpoint):
        await anyio.to_thread.run_sync(through, house)
        assert texts(house) == ["Alice does not eat beef."]
        async with house.client(sender_name="Alice") as alice:
            [item] = (await alice.call("get_profile"))["provenance"]
            assert (item["line"], len(item["event_ids"])) == ("Alice does not eat beef.", 2)


async def test_rewrite_needs_a_model_that_answers(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Bo lives in Bern.")
        with pytest.raises(NotConfiguredError, match=r"set chat\.base_url"):
            LookingAfter(house.household).rewrite({})
    async with speaking_home(tmp_path, lambda asked: failing(503), run=False) as (house, _, _endpoint):
        [only] = await anyio.to_thread.run_sync(through, house)
        assert (only["away"], only["better"]) == (True, 0)
        assert texts(house) == ["Bo lives in Bern."]


async def test_rewrite_asks_no_model_while_the_memory_is_switched_off(tmp_path: Path) -> None:
    (tmp_path / "shiguan.toml").write_text("enabled = false\n", "utf-8")
    async with speaking_home(tmp_path, good(), run=False) as (house, model, _endpoint):
        with pytest.raises(InvalidInputError, match="enabled = true"):
            LookingAfter(house.household).rewrite({})
        assert model.asked == []


# ---- audit


async def test_audit_names_what_is_worth_a_look_and_why(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client(said_at="2026-02-21T14:30:00+08:00") as alice:
        await alice.remember("Bo likes hiking.", source_message="Bo likes hiking.")
        await alice.remember("Bo really enjoys hiking.", source_message="Bo really enjoys hiking.")
        await alice.remember("他最近在学德语。", source_message="他最近在学德语。")
        await alice.remember("Ann lives in Bern.")
        found = LookingAfter(house.household).audit({"limit": 5})
    assert (found["statements"], found["counts"]) == (4, {"duplicates": 2, "flagged": 2, "unsupported": 1})
    assert "nearly the same" in found["duplicates"][0]["why"]
    assert found["duplicates"][1]["where"] == "profile"
    assert {one["text"]: one["why"] for one in found["flagged"]} == {
        "Ann lives in Bern.": "person:Ann, evidence:none",
        "他最近在学德语。": "pronoun:他, time:最近",
    }
    assert set(found["flags"]) == {"pronoun", "time", "evidence", "person"}
    assert [one["text"] for one in found["unsupported"]] == ["Ann lives in Bern."]
    assert found["oldest"][0]["text"] == "Bo likes hiking."
    assert found["oldest"][0]["at"].startswith("2026-02-21")


async def test_audit_of_nothing_finds_nothing(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house:
        found = LookingAfter(house.household).audit({})
    assert found["statements"] == 0
    assert not any(found[kind] for kind in ("duplicates", "flagged", "unsupported", "oldest"))


# ---- the same in other words


@pytest.mark.parametrize(
    "wordings",
    [
        ["小李对花生过敏", "小李花生过敏", "小李有花生过敏症", "小李吃花生会过敏", "小李对花生是过敏的"],
        ["小李喜欢喝茶", "小李很爱喝茶", "小李特别喜欢喝茶", "小李喜爱喝茶", "小李真的喜欢喝茶！"],
        [
            "Alice likes hiking",
            "Alice loves hiking.",
            "Alice really enjoys hiking",
            "Alice is fond of hiking",
            "Alice likes to hike",
        ],
        [
            "Tom 用 docker 部署 blog",
            "Tom 就用 docker 部署 blog。",
            "Tom 用docker部署blog",
            "Tom 一般用 docker 部署 blog",
        ],
    ],
)
async def test_one_fact_in_five_wordings_is_at_most_two_events_and_the_profile_says_it_once_or_twice(
    tmp_path: Path, wordings: list[str]
) -> None:
    """P81."""
    async with home(tmp_path, embedder=builtin()) as house, house.client() as alice:
        house.household.warm_up()
        await anyio.to_thread.run_sync(house.household.engine.wait, 60)
        for wording in wordings:
            await alice.remember(wording)
        assert len(texts(house)) <= 2
        assert await lines(alice) == texts(house)


@pytest.mark.parametrize(
    "pair",
    [
        ("小李吃辣", "小李不吃辣"),
        ("Parcel 17 went to Bern.", "Parcel 18 went to Bern."),
        ("小李住在杭州", "小王住在杭州"),
        ("Alice likes tea", "Alice liked tea"),
        ("会议在上午", "会议在下午"),
        ("Bob wants to move to Bern", "Bob will move to Bern"),
    ],
)
async def test_what_differs_in_a_fact_is_never_linked(tmp_path: Path, pair: tuple[str, str]) -> None:
    """P68: two short facts are both kept."""
    async with home(tmp_path, embedder=builtin()) as house, house.client() as alice:
        house.household.warm_up()
        await anyio.to_thread.run_sync(house.household.engine.wait, 60)
        for text in pair:
            await alice.remember(text)
        assert texts(house) == [*pair]
        assert await lines(alice) == [*pair]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_no_likeness_bridges_a_difference_in_fact(one: str, other: str) -> None:
    assert not near_statement(one, other)
    assert not near_statement(other, one)
