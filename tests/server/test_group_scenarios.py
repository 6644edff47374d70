"""A group's memory over the tools, with a model behind real HTTP: the four scenarios, and what else an agent meets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from historian.clock import FixedClock
from historian.group_store import GroupStore
from historian.model import Owner, Scope
from tests.kit.chat import ChatAsked
from tests.kit.groups import act, create, names
from tests.kit.home import Person
from tests.kit.questions import builtin
from tests.kit.speaking import speaking_home

pytestmark = pytest.mark.anyio

DAY = datetime(2026, 2, 20, 12, tzinfo=UTC)
TALK = (
    ("qq:10001", "小林", "我主要写前端，最近在用 React"),
    ("qq:10002", "老陈", "我也是前端，Vue 为主"),
    ("qq:10003", "Priya", "I do frontend too, mostly TypeScript"),
    ("qq:10001", "小林", "以后每周五晚上办分享会吧，我来组织"),
    ("qq:10004", None, "同意，群里别发广告就行"),
    ("qq:10002", "老陈", "项目叫北极星，计划六月上线"),
)
SECRET = "ghp_" + "a1B2c3D4e" * 4
FRONTEND, FRIDAYS, NO_ADS = "成员多为前端开发者", "每周五晚上有分享会，由小林组织", "群里禁止发广告"
POLARIS = "群里在做项目北极星，计划六月上线"
FIRST = [
    create(FRONTEND, "m1", "m2", "m3", reason="三人都说自己写前端", tags=["技术背景"]),
    create("每周五晚上有分享会，由U1组织", "m4", reason="小林提议并负责", tags=["活动"]),
    create(NO_ADS, "m5", reason="大家同意", tags=["群规"]),
    create(POLARIS, "m6", reason="老陈说了项目和计划", tags=["项目"]),
]


class Model:
    """Answers the role `evolve` as it was told last; other roles get nothing to remember."""

    def __init__(self) -> None:
        self.says: Callable[[ChatAsked], Sequence[Mapping[str, Any]] | str] = lambda asked: []
        self.asked: list[ChatAsked] = []

    def __call__(self, asked: ChatAsked) -> object:
        if "<messages " not in asked.messages[1]["content"]:
            return {"statements": [], "lines": []}
        self.asked.append(asked)
        said = self.says(asked)
        return said if isinstance(said, str) else {"actions": [*said]}


async def talk(
    person: Person, clock: FixedClock, lines: Sequence[tuple[str, str | None, str]], mark: str = "a"
) -> None:
    """Record lines of a minute each, the last one now."""
    messages = [
        {
            "message_id": f"{mark}{number}",
            "conversation_id": "chat",
            "role": "user",
            "sender_id": sender,
            **({"sender_name": name} if name else {}),
            "content": text,
            "ts": (clock.now() - timedelta(minutes=len(lines) - number)).isoformat(),
        }
        for number, (sender, name, text) in enumerate(lines, start=1)
    ]
    done = await person.call("messages_append", messages=messages)
    assert done["inserted"] == len(lines)


async def test_a_first_evolution_makes_statements_of_version_one_without_a_parent(tmp_path: Path) -> None:
    """Scenario 1; the ids of people never reach the model, and their names come back."""
    model, clock = Model(), FixedClock(DAY)
    model.says = lambda asked: FIRST
    async with (
        speaking_home(tmp_path, model, clock=clock) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group")) as alice,
    ):
        await talk(alice, clock, TALK * 5)
        done = await alice.call("evolve_memories")
        assert done["stats"] == {"kept": 0, "updated": 0, "created": 4, "deleted": 0, "confirmed": 0}
        assert done["messages"] == 30
        found = (await alice.call("group_memories"))["memories"]
        assert {one["statement"] for one in found} == {FRONTEND, FRIDAYS, NO_ADS, POLARIS}
        assert all(one["version"] == 1 and one["parent_version"] is None and one["message_ids"] for one in found)
        assert all(0 <= one["strength"] <= 1 and one["status"] == "active" for one in found)
        sent = str([asked.body for asked in model.asked])
        assert "qq:1000" not in sent
        assert [change["old_statement"] for change in done["changes"]] == [None] * 4


async def evolved(alice: Person, clock: FixedClock, model: Model) -> dict[str, str]:
    """Let the first evolution happen and a day pass; return the ids by statement."""
    model.says = lambda asked: FIRST
    await talk(alice, clock, TALK)
    await alice.call("evolve_memories")
    clock.advance(seconds=86_400)
    return {one["statement"]: one["memory_id"] for one in (await alice.call("group_memories"))["memories"]}


async def test_statements_are_kept_updated_and_created(tmp_path: Path) -> None:
    """Scenario 2: kept 3, updated 1 with version + 1 and a parent, created 1; each change with reason and messages."""
    model, clock = Model(), FixedClock(DAY)
    async with (
        speaking_home(tmp_path, model, clock=clock) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group")) as alice,
    ):
        ids = await evolved(alice, clock, model)
        await talk(
            alice,
            clock,
            [
                ("qq:10002", "老陈", "北极星推迟到八月"),
                ("qq:10003", "Priya", "we pair on Tuesdays"),
                ("qq:10001", "小林", "React 19 真香"),
            ],
            "b",
        )
        later = "群里在做项目北极星，计划八月上线（原定六月）"

        def answer(asked: ChatAsked) -> list[dict[str, Any]]:
            short = names(asked)
            assert {*short} == {FRONTEND, FRIDAYS, NO_ADS, POLARIS}
            return [
                act("keep", short[FRONTEND], "", "m3"),
                act("keep", short[FRIDAYS]),
                act("keep", short[NO_ADS]),
                act("update", short[POLARIS], later, "m1", reason="上线推迟"),
                create("Members pair on Tuesdays", "m2", reason="Priya said so"),
            ]

        model.says = answer
        done = await alice.call("evolve_memories")
        assert done["stats"] == {"kept": 3, "updated": 1, "created": 1, "deleted": 0, "confirmed": 1}
        assert done["refused"] == done["unanswered"] == done["notes"] == []
        update = next(one for one in done["changes"] if one["action"] == "update")
        assert (update["old_statement"], update["new_statement"]) == (POLARIS, later)
        assert (update["version"], update["change_reason"], update["message_ids"]) == (2, "上线推迟", ["b1"])
        history = await alice.call("memory_history", memory_id=ids[POLARIS])
        assert [(one["version"], one["parent_version"], one["status"]) for one in history["history"]] == [
            (1, None, "deprecated"),
            (2, 1, "active"),
        ]
        assert history["history"][1]["message_ids"] == ["a6", "b1"]
        found = {one["statement"]: one for one in (await alice.call("group_memories"))["memories"]}
        assert len(found) == 5
        assert found[FRONTEND]["strength"] > found[NO_ADS]["strength"]
        assert found[FRONTEND]["message_ids"] == ["a1", "a2", "a3", "b3"]
        changes = await alice.call("memory_changes", days=7)
        assert [one["action"] for one in changes["changes"]] == [
            "create",
            "update",
            "create",
            "create",
            "create",
            "create",
        ]
        assert changes["confirmed"] == 1


async def test_what_is_outdated_is_deleted_marked_and_can_be_restored(tmp_path: Path) -> None:
    """Scenario 3: after three silent weeks a statement is shown as too weak, deleted, no longer found, and restored."""
    model, clock = Model(), FixedClock(DAY)
    async with (
        speaking_home(tmp_path, model, clock=clock) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group")) as alice,
    ):
        ids = await evolved(alice, clock, model)
        clock.advance(seconds=21 * 86_400)
        await talk(alice, clock, [("qq:10002", "老陈", "分享会早就不办了")], "c")

        def answer(asked: ChatAsked) -> list[dict[str, Any]]:
            lines = asked.entries("statements")
            assert all("太弱，建议删除" in line and "22 天前" in line for line in lines)
            return [act("delete", names(asked)[FRIDAYS], "", "m1", reason="分享会不办了")]

        model.says = answer
        done = await alice.call("evolve_memories")
        assert done["stats"] == {"kept": 3, "updated": 0, "created": 0, "deleted": 1, "confirmed": 0}
        assert set(done["unanswered"]) == {ids[FRONTEND], ids[NO_ADS], ids[POLARIS]}
        gone = (await alice.call("group_memories", status="deprecated"))["memories"]
        assert [(one["memory_id"], one["status"], one["change_reason"]) for one in gone] == [
            (ids[FRIDAYS], "deprecated", "分享会不办了")
        ]
        assert (await alice.call("group_memories"))["total"] == 3
        found = await alice.call("search_group_memories", query="分享会", threshold=0)
        assert FRIDAYS not in [one["statement"] for one in found["memories"]]
        back = await alice.call("restore_memory", memory_id=ids[FRIDAYS], reason="又办了")
        assert back["changes"][0]["new_statement"] == FRIDAYS
        found = await alice.call("search_group_memories", query="分享会", threshold=0)
        assert found["memories"][0]["statement"] == FRIDAYS


async def test_a_question_finds_the_statement_that_answers_it_first(tmp_path: Path) -> None:
    """Scenario 4: with the built-in model, calibrated, above 0.8."""
    model, clock = Model(), FixedClock(DAY)
    async with (
        speaking_home(tmp_path, model, clock=clock, embedder=builtin()) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group")) as alice,
    ):
        await evolved(alice, clock, model)
        house.household.warm_up()
        assert await anyio.to_thread.run_sync(house.household.engine.wait, 120)
        found = await alice.call("search_group_memories", query="群组的技术背景是什么？")
        assert found["memories"][0]["statement"] == FRONTEND
        assert found["memories"][0]["score"] > 0.8
        assert found["degraded"] == []
        nothing = await alice.call("search_group_memories", query="群组的技术背景是什么？", threshold=0.99)
        assert (nothing["memories"], nothing["best_below"] > 0.8) == ([], True)
        english = await alice.call("search_group_memories", query="who organises the Friday talks of this group?")
        assert english["memories"][0]["statement"] == FRIDAYS


async def test_a_model_that_writes_json_lines_amid_prose_is_understood(tmp_path: Path) -> None:
    """P90: prose, JSON Lines of which some are broken, prose."""
    model, clock = Model(), FixedClock(DAY)
    model.says = lambda asked: (
        "Here is what I would change:\n```jsonl\n"
        '{"action": "create", "statement": "成员多为前端开发者", "change_reason": "都写前端", "message_ids": ["m1"]}\n'
        "{'action': 'create', 'statement': '群里不发广告', 'change_reason': 'agreed', 'message_ids': ['m5'],}\n"
        '{"note": "this one is no action"}\n'
        "```\nLet me know!"
    )
    async with (
        speaking_home(tmp_path, model, clock=clock) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group")) as alice,
    ):
        await talk(alice, clock, TALK)
        done = await alice.call("evolve_memories")
        assert {one["new_statement"] for one in done["changes"]} == {FRONTEND, "群里不发广告"}
        assert done["notes"] == ["These lines of the model's answer were no action: 5."]


@pytest.mark.parametrize(
    "said", ["", "null", "[]", "{}", "I would keep everything.", '{"lines": []}', '{"actions": "x"']
)
async def test_an_answer_without_any_action_changes_nothing_and_the_window_stays(tmp_path: Path, said: str) -> None:
    """P92: empty, null, a list, prose, another shape, half an object."""
    model, clock = Model(), FixedClock(DAY)
    async with (
        speaking_home(tmp_path, model, clock=clock) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group")) as alice,
    ):
        await talk(alice, clock, TALK)
        model.says = lambda asked: said
        assert "chat model" in await alice.refused("evolve_memories")
        assert (await alice.call("group_memories", status="all"))["total"] == 0
        model.says = lambda asked: FIRST
        assert (await alice.call("evolve_memories"))["messages"] == len(TALK)
        assert (await alice.call("evolve_memories"))["notes"] == [
            "There are no new messages since the last run, so nothing was done."
        ]


async def test_in_private_a_group_has_to_be_bound_and_others_are_not_there(tmp_path: Path) -> None:
    model, clock = Model(), FixedClock(DAY)
    async with speaking_home(tmp_path, model, clock=clock) as (house, _, _):
        async with house.client("alice", group="team", toolsets=("host", "group")) as alice:
            ids = await evolved(alice, clock, model)
        async with house.client("bob", groups=["team"], toolsets=("group",)) as bob:
            assert (await bob.call("group_memories"))["total"] == 4
            assert "no such group" in await bob.refused("group_memories", target_group_id="tea")
        async with house.client("eve", group="tea", toolsets=("group",)) as eve:
            assert (await eve.call("group_memories", status="all"))["total"] == 0
            theirs = await eve.refused("memory_history", memory_id=ids[NO_ADS])
            assert theirs == await eve.refused("memory_history", memory_id="gm_nobody")
            for tool in ("delete_memory", "restore_memory"):
                assert await eve.refused(tool, memory_id=ids[NO_ADS]) == theirs
            assert await eve.refused("set_memory_strength", memory_id=ids[NO_ADS], strength=1) == theirs
        async with house.client("eve", toolsets=("group",)) as eve:
            assert "group" in await eve.refused("evolve_memories")


async def test_a_person_may_change_strength_delete_and_go_back_to_an_earlier_version(tmp_path: Path) -> None:
    model, clock = Model(), FixedClock(DAY)
    async with (
        speaking_home(tmp_path, model, clock=clock) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group")) as alice,
    ):
        ids = await evolved(alice, clock, model)
        one = ids[POLARIS]
        await alice.call("set_memory_strength", memory_id=one, strength=1)
        await talk(alice, clock, [("qq:10002", "老陈", "北极星改名叫南十字")], "d")
        model.says = lambda asked: [act("update", names(asked)[POLARIS], "群里在做项目南十字，计划六月上线", "m1")]
        await alice.call("evolve_memories")
        back = await alice.call("restore_memory", memory_id=one, version=1, reason=f"弄错了 {SECRET}")
        assert (back["changes"][0]["version"], back["changes"][0]["new_statement"]) == (3, POLARIS)
        assert SECRET not in str(back)
        assert "says that already" in await alice.refused("restore_memory", memory_id=one)
        await alice.call("delete_memory", memory_id=one)
        assert "deleted already" in await alice.refused("delete_memory", memory_id=one)
        assert "no version 9" in await alice.refused("restore_memory", memory_id=one, version=9)
        found = await alice.call("memory_history", memory_id=one)
        assert [(v["version"], v["parent_version"]) for v in found["history"]] == [(1, None), (2, 1), (3, 2)]
        assert [c["action"] for c in found["changes"]] == ["create", "strength", "update", "restore", "delete"]


async def test_pages_neither_repeat_nor_lose_a_statement(tmp_path: Path) -> None:
    model, clock = Model(), FixedClock(DAY)
    async with (
        speaking_home(tmp_path, model, clock=clock) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group")) as alice,
    ):
        await evolved(alice, clock, model)
        seen: list[str] = []
        cursor = ""
        while True:
            page = await alice.call("group_memories", limit=3, cursor=cursor)
            seen += [one["statement"] for one in page["memories"]]
            cursor = page["next_cursor"]
            if not cursor:
                break
        assert sorted(seen) == sorted([FRONTEND, FRIDAYS, NO_ADS, POLARIS])


async def test_what_rests_on_forgotten_messages_goes_or_is_cut(tmp_path: Path) -> None:
    model, clock = Model(), FixedClock(DAY)
    async with (
        speaking_home(tmp_path, model, clock=clock) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group", "admin")) as alice,
    ):
        ids = await evolved(alice, clock, model)
        await talk(alice, clock, [("qq:10002", "老陈", "北极星推迟到八月，因为海关扣了样机")], "b")
        text = "群里在做项目北极星，计划六月上线。样机被海关扣了，推迟到八月。"
        model.says = lambda asked: [
            act("update", names(asked)[POLARIS], text, "m1", reason="样机被海关扣了"),
            act("keep", names(asked)[FRONTEND]),
        ]
        await alice.call("evolve_memories")
        first = await alice.call("forget", message_ids=["b1", "a5"])
        counts = {one["what"]: one["count"] for one in first["counts"]}
        assert (counts["group statements"], counts["group statements rewritten or flagged"]) == (1, 1)
        await alice.call("forget", message_ids=["b1", "a5"], confirm=first["confirm"])
        found = {one["memory_id"]: one for one in (await alice.call("group_memories", status="all"))["memories"]}
        assert ids[NO_ADS] not in found
        cut = found[ids[POLARIS]]
        assert (cut["statement"], cut["flags"]) == ("群里在做项目北极星，计划六月上线。", ["evidence_forgotten"])
        everything = str([await alice.call("memory_history", memory_id=one) for one in found])
        assert "海关" not in everything
        assert "'b1'" not in everything
        assert "no such memory" in await alice.refused("memory_history", memory_id=ids[NO_ADS])
        store = GroupStore(house.household.database)
        team = Owner("group", "team")
        assert store.replay(team) == store.present(team)
        everything_gone = await alice.call("forget", everything=True)
        await alice.call("forget", everything=True, confirm=everything_gone["confirm"])
        assert store.present(team) == {}
        assert (await alice.call("memory_changes", days=30))["changes"] == []


async def exported(person: Person) -> list[dict[str, Any]]:
    """Return the lines of all pages."""
    lines: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = await person.call("export", cursor=cursor, page_size=3)
        lines += [json.loads(line) for line in page["lines"]]
        cursor = page["next_cursor"]
        if not cursor:
            return lines


async def test_an_export_of_the_group_brings_statements_versions_and_log_to_another_folder(tmp_path: Path) -> None:
    model, clock = Model(), FixedClock(DAY)
    async with (
        speaking_home(tmp_path / "one", model, clock=clock) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group", "admin")) as alice,
    ):
        ids = await evolved(alice, clock, model)
        await talk(alice, clock, [("qq:10002", "老陈", "北极星推迟到八月")], "b")
        model.says = lambda asked: [
            act("update", names(asked)[POLARIS], "群里在做项目北极星，计划八月上线", "m1"),
            act("delete", names(asked)[NO_ADS], reason="没人提了"),
        ]
        await alice.call("evolve_memories")
        lines = await exported(alice)
        asked = ("group_memories", {"status": "all"}), *(("memory_history", {"memory_id": one}) for one in ids.values())
        before = [await alice.call(tool, **arguments) for tool, arguments in asked]
    assert [line["kind"] for line in lines].count("group_memory") == 4
    async with speaking_home(tmp_path / "two", model, clock=clock) as (house, _, _):
        memory = house.household.memory.of(Scope("alice", "team", frozenset({"team"})))
        broken = [{**line, "changes": line["changes"][1:]} for line in lines if line["kind"] == "group_memory"]
        other = [{**line, "owner": "group:tea"} for line in lines if line["kind"] == "group_memory"]
        assert len(memory.take_in([*broken, *other]).failed) == 8
        assert memory.take_in(lines).failed == ()
        assert memory.take_in(lines).inserted == 0
        async with house.client("alice", group="team", toolsets=("host", "group", "admin")) as alice:
            assert [await alice.call(tool, **arguments) for tool, arguments in asked] == before
            found = await alice.call("search_group_memories", query="北极星", threshold=0)
            assert found["memories"][0]["memory_id"] == ids[POLARIS]
            first = await alice.call("forget", message_ids=["a4"])
            await alice.call("forget", message_ids=["a4"], confirm=first["confirm"])
            again = memory.take_in(lines)
            assert (again.inserted, again.forgotten) == (0, 2)
        store = GroupStore(house.household.database)
        team = Owner("group", "team")
        assert store.replay(team) == store.present(team)


async def test_without_vectors_statements_are_found_by_words_and_reindex_makes_them_again(tmp_path: Path) -> None:
    model, clock = Model(), FixedClock(DAY)
    async with (
        speaking_home(tmp_path, model, clock=clock) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group")) as alice,
    ):
        await evolved(alice, clock, model)
        query = {"query": "北极星 六月", "threshold": 0}
        first = await alice.call("search_group_memories", **query)
        household = house.household
        await anyio.to_thread.run_sync(household.engine.vectors.drop, "group_memories")
        blind = await alice.call("search_group_memories", **query)
        assert blind["memories"][0]["statement"] == POLARIS
        await anyio.to_thread.run_sync(household.reindex)
        assert len(household.engine.vectors.ids("group_memories")) == 4
        assert (await alice.call("search_group_memories", **query))["memories"][0] == first["memories"][0]
        await alice.call("delete_memory", memory_id=first["memories"][0]["memory_id"])
        await anyio.to_thread.run_sync(household.indexer.run_batch)
        assert len(household.engine.vectors.ids("group_memories")) == 3


async def test_by_the_schedule_in_the_settings_the_historian_lets_a_group_evolve_by_itself(tmp_path: Path) -> None:
    (tmp_path / "shiguan.toml").write_text('[group]\nschedule = "daily"\njitter_minutes = 0\n', "utf-8")
    model, clock = Model(), FixedClock(DAY)
    model.says = lambda asked: FIRST
    async with (
        speaking_home(tmp_path, model, clock=clock, run=False) as (house, _, _),
        house.client("alice", group="team", toolsets=("host", "group")) as alice,
        anyio.create_task_group() as tasks,
    ):
        historian = house.household.historian
        historian.upkeep.evolving_seconds = 0.01
        await talk(alice, clock, TALK)
        await tasks.start(historian.run)
        found: list[dict[str, Any]] = []
        with anyio.fail_after(30):
            while True:
                found = (await alice.call("group_memories"))["memories"]
                if found:
                    break
                await anyio.sleep(0.02)
        assert {one["statement"] for one in found} == {FRONTEND, FRIDAYS, NO_ADS, POLARIS}
        tasks.cancel_scope.cancel()
    assert len(model.asked) == 1, "once a day, and only where something is new"
