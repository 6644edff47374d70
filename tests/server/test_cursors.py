"""Cursors: good for going on with the same list, and for nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from historian.cursors import Cursors
from historian.database import Database
from historian.errors import InvalidInputError
from historian.rankings import KEPT, Ranking, Rankings
from tests.kit.home import Person, home

START = datetime(2026, 2, 20, 1, 0, tzinfo=UTC)


def said(number: int, content: str, **more: Any) -> dict[str, Any]:
    ts = (START + timedelta(minutes=number)).isoformat()
    return {"message_id": f"m{number}", "conversation_id": "c1", "role": "user", "content": content, "ts": ts, **more}


async def fill(person: Person, count: int = 6) -> None:
    await person.call("messages_append", messages=[said(n, f"火锅 {n}") for n in range(count)])


async def rest(person: Person, tool: str, **arguments: Any) -> list[str]:
    """Return the ids of all pages from here on."""
    found: list[str] = []
    cursor = arguments.pop("cursor", "")
    while cursor is not None:
        answer = await person.call(tool, **arguments, cursor=cursor)
        found += [item["message_id"] for item in answer["items"]]
        cursor = answer["next_cursor"]
    return found


# ---- through the tools


async def test_a_cursor_of_another_call_or_user_is_refused_in_the_same_words_as_a_made_up_one(tmp_path: Path) -> None:
    """P45: also the sentence tells nothing."""
    async with home(tmp_path, run=False) as house, house.client() as alice, house.client("bob") as bob:
        await fill(alice)
        await fill(bob)
        listed = (await alice.call("messages_list", page_size=2))["next_cursor"]
        searched = (await alice.call("lexical_search", query_text="火锅", page_size=2))["next_cursor"]
        filtered = {"filter": {"role": "user"}}
        calls: list[tuple[Person, str, dict[str, Any]]] = [
            (bob, "messages_list", {"cursor": listed}),
            (bob, "lexical_search", {"query_text": "火锅", "cursor": searched}),
            (alice, "messages_list", {"cursor": searched}),
            (alice, "lexical_search", {"query_text": "火锅", "cursor": listed}),
            (alice, "lexical_search", {"query_text": "火锅 ", "cursor": searched}),
            (alice, "lexical_search", {"query_text": "火", "cursor": searched}),
            (alice, "lexical_search", {"query_text": "火锅", "cursor": searched, **filtered}),
            (alice, "messages_list", {"role": "user", "cursor": listed}),
            (alice, "messages_list", {"since": "2026-01-01", "cursor": listed}),
            (alice, "messages_list", {"conversation_id": "c1", "cursor": listed}),
        ]
        for made_up in ("x", "0", "a" * 28, "a" * 35, "é" * 28, "\x00", "\ud800", "a" * 10_000, "../../etc", "=" * 28):
            calls.append((alice, "messages_list", {"cursor": made_up}))
        for cut in (listed[:-1], listed[1:], listed[: len(listed) // 2], listed + "A", listed + listed):
            calls.append((alice, "messages_list", {"cursor": cut}))
        changed = ("B" if listed[0] != "B" else "C") + listed[1:]
        calls.append((alice, "messages_list", {"cursor": changed}))
        sentences = {await person.refused(tool, **arguments) for person, tool, arguments in calls}
        assert len(sentences) == 1
        sentence = sentences.pop()
        assert sentence.endswith(".")
        assert "\n" not in sentence
        assert await rest(alice, "messages_list", cursor=listed) == ["m3", "m2", "m1", "m0"]


async def test_a_cursor_of_a_private_request_is_no_cursor_of_a_group(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice, house.client(group="g") as in_group:
        await fill(alice)
        await fill(in_group)
        cursor = (await alice.call("messages_list", page_size=2))["next_cursor"]
        await in_group.refused("messages_list", cursor=cursor)


async def test_every_flipped_character_is_noticed(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        await fill(alice)
        cursor = (await alice.call("lexical_search", query_text="火锅", page_size=2))["next_cursor"]
        for place, character in enumerate(cursor):
            for other in ("A" if character != "A" else "B", chr(ord(character) ^ 1)):
                forged = cursor[:place] + other + cursor[place + 1 :]
                await alice.refused("lexical_search", query_text="火锅", cursor=forged)


async def test_the_page_size_may_change_from_page_to_page(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        await fill(alice)
        for tool, more in (("messages_list", {}), ("lexical_search", {"query_text": "火锅"})):
            first = await alice.call(tool, **more, page_size=1)
            assert await rest(alice, tool, **more, page_size=3, cursor=first["next_cursor"]) == [
                "m4",
                "m3",
                "m2",
                "m1",
                "m0",
            ]


async def test_the_last_page_has_no_cursor_also_where_it_is_full(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        await fill(alice)
        for tool, more in (("messages_list", {}), ("lexical_search", {"query_text": "火锅"})):
            answer = await alice.call(tool, **more, page_size=6)
            assert (answer["next_cursor"], answer["truncated"], answer["total"]) == (None, False, 6)


async def test_a_cursor_is_good_after_a_restart(tmp_path: Path) -> None:
    cursors: dict[str, str] = {}
    searches: tuple[tuple[str, dict[str, str]], ...] = (
        ("messages_list", {}),
        ("lexical_search", {"query_text": "火锅"}),
    )
    async with home(tmp_path, run=False) as house, house.client() as alice:
        await fill(alice)
        for tool, more in searches:
            cursors[tool] = (await alice.call(tool, **more, page_size=2))["next_cursor"]
    async with home(tmp_path, run=False) as house, house.client() as alice:
        for tool, more in searches:
            assert await rest(alice, tool, **more, cursor=cursors[tool]) == ["m3", "m2", "m1", "m0"]


async def test_a_cursor_of_another_folder_is_refused(tmp_path: Path) -> None:
    async with home(tmp_path / "one", run=False) as house, house.client() as alice:
        await fill(alice)
        cursor = (await alice.call("messages_list", page_size=2))["next_cursor"]
    async with home(tmp_path / "two", run=False) as house, house.client() as alice:
        await fill(alice)
        await alice.refused("messages_list", cursor=cursor)


async def test_a_list_that_is_no_longer_kept_is_said_to_be_gone(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        await fill(alice)
        cursor = (await alice.call("lexical_search", query_text="火锅", page_size=2))["next_cursor"]
        house.household.rankings.close()
        (tmp_path / "rankings.sqlite3").unlink()
        assert "no longer kept" in await alice.refused("lexical_search", query_text="火锅", cursor=cursor)
        assert len(await rest(alice, "lexical_search", query_text="火锅", page_size=2)) == 6


async def test_messages_appended_meanwhile_neither_repeat_nor_hide_any(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        await fill(alice)
        first = await alice.call("lexical_search", query_text="火锅", page_size=2)
        newer = [said(100 + n, "火锅") for n in range(5)]
        between = [said(200 + n, "火锅 火锅 火锅", ts=(START + timedelta(seconds=n)).isoformat()) for n in range(5)]
        await alice.call("messages_append", messages=[*newer, *between])
        assert await rest(alice, "lexical_search", query_text="火锅", page_size=2, cursor=first["next_cursor"]) == [
            "m3",
            "m2",
            "m1",
            "m0",
        ]


async def test_a_stand_in_that_gave_way_meanwhile_is_read_as_its_real_message(tmp_path: Path) -> None:
    """What an `end` recorded moves when the host appends the same turn: the list keeps its place."""
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("用户 alice 爱吃火锅。", source_message="我爱吃火锅")
        await alice.call("messages_append", messages=[said(n, f"火锅 {n} 次") for n in range(3)])
        listed = (await alice.call("lexical_search", query_text="火锅"))["items"]
        assert len(listed) == 4
        place = next(i for i, item in enumerate(listed) if item["message_id"].startswith("end:"))
        first = await alice.call("lexical_search", query_text="火锅", page_size=1)
        at = (datetime.fromisoformat(listed[place]["ts"]) - timedelta(seconds=30)).isoformat()
        real = {**said(50, "我爱吃火锅"), "ts": at}
        assert (await alice.call("messages_append", messages=[real]))["inserted"] == 1
        pages = [item["message_id"] for item in first["items"]]
        pages += await rest(alice, "lexical_search", query_text="火锅", page_size=1, cursor=first["next_cursor"])
        expected = [item["message_id"] for item in listed]
        expected[place] = expected[place] if place == 0 else "m50"
        assert pages == expected
        (around,) = (await alice.call("neighbors", message_id=listed[place]["message_id"], before=0))["items"]
        assert around["message_id"] == "m50"


async def test_the_vector_of_a_row_that_gave_way_is_deleted(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("用户 alice 爱吃火锅。", source_message="我爱吃火锅")
        await alice.call("semantic_search", query_text="火锅")
        engine, indexer = house.household.engine, house.household.indexer
        assert engine.wait(30)
        while indexer.run_batch():
            pass
        before = set(engine.vectors.ids("messages"))
        (item,) = (await alice.call("messages_list"))["items"]
        at = (datetime.fromisoformat(item["ts"]) - timedelta(seconds=30)).isoformat()
        await alice.call("messages_append", messages=[{**said(50, "我爱吃火锅"), "ts": at}])
        while indexer.run_batch():
            pass
        after = set(engine.vectors.ids("messages"))
        assert len(before) == len(after)
        assert before.isdisjoint(after)


async def test_more_matches_than_are_ranked_at_once_come_all_exactly_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("historian.word_paging.RANKED", 500)
    async with home(tmp_path, run=False) as house, house.client() as alice:
        count = 1_203
        for start in range(0, count, 401):
            await alice.call(
                "messages_append", messages=[said(n, "火锅 " * (n % 3 + 1)) for n in range(start, start + 401)]
            )
        answer = await alice.call("lexical_search", query_text="火锅", page_size=200)
        assert answer["total"] is None
        assert answer["warnings"]
        found = await rest(alice, "lexical_search", query_text="火锅", page_size=170)
        assert len(found) == len(set(found)) == count
        assert {int(i[1:]) for i in found[:500]} == set(range(count - 500, count))
        with pytest.raises(AssertionError):  # the last stretch is bound to its query as well
            await rest(alice, "lexical_search", query_text="锅", cursor=answer["next_cursor"])


# ---- the parts


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "memory.sqlite3")
    yield opened
    opened.close()


def test_two_servers_of_one_folder_share_the_secret(database: Database) -> None:
    one, other = Cursors(database), Cursors(database)
    sealed = one.seal(b"place", ["tool", "ann", 1])
    assert other.open(sealed, ["tool", "ann", 1]) == b"place"
    assert one.open(f" {sealed}\n", ["tool", "ann", 1]) == b"place"


@pytest.mark.parametrize(
    "bound_to",
    [["tool", "ann"], ["tool", "ann", "1"], ["tool", "ann", 2], ["tool,ann", 1], [["tool", "ann", 1]], []],
)
def test_what_a_cursor_is_bound_to_cannot_be_confused(database: Database, bound_to: list[object]) -> None:
    cursors = Cursors(database)
    sealed = cursors.seal(b"place", ["tool", "ann", 1])
    with pytest.raises(InvalidInputError):
        cursors.open(sealed, bound_to)


def test_a_cursor_is_short_enough_for_a_model_to_repeat(database: Database) -> None:
    assert len(Cursors(database).seal(b"x" * 14, ["tool"])) < 40


def test_kept_lists_are_bounded_and_the_oldest_makes_room(tmp_path: Path) -> None:
    rankings = Rankings(tmp_path / "rankings.sqlite3")
    first = rankings.keep(Ranking([1, -2, 2**62], [0.5, 0.25, 0.125], "words", {-2: "end:1"}, older=-5, total=None))
    kept = rankings.get(first)
    assert kept is not None
    assert [*kept.rows] == [1, -2, 2**62]
    assert [*kept.scores] == [0.5, 0.25, 0.125]
    assert (kept.mode, kept.stand_ins, kept.older, kept.capped, kept.total) == ("words", {-2: "end:1"}, -5, False, None)
    for _ in range(KEPT):
        last = rankings.keep(Ranking([1], [1.0], "any"))
    assert rankings.get(first) is None
    assert rankings.get(last) is not None
    rankings.close()
    assert (tmp_path / "rankings.sqlite3").stat().st_mode & 0o077 == 0


def test_a_damaged_file_of_lists_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "rankings.sqlite3"
    path.write_bytes(b"this is no database" * 100)
    rankings = Rankings(path)
    assert rankings.get(b"x" * 9) is None
    assert rankings.get(rankings.keep(Ranking([1], [1.0], "words"))) is not None
    rankings.close()
