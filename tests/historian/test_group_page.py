"""What a model is shown of a group, what is made of its words, and when groups are due."""

from __future__ import annotations

from collections.abc import Generator
from datetime import timedelta
from pathlib import Path

import pytest

from historian.check_groups import GroupsCheck
from historian.errors import RetryableModelError
from historian.evolve_lines import read_lines
from historian.evolve_schedule import RETRY_MS, EvolveSchedule
from historian.group_page import MAX_STATEMENTS, People, chosen
from historian.group_question import looked_for
from historian.group_strength import StrengthRule
from historian.group_versions import Moment
from historian.messages import StoredMessage
from historian.model import Message, Owner
from historian.options import GroupOptions, Options
from tests.kit.groups import CLUB, NOON, GroupHouse, act, create, saying
from tests.kit.merge_script import MergeScript
from tests.kit.scripted_chat import ScriptedChat


def stored(number: int, text: str, sender: str, name: str | None) -> StoredMessage:
    return StoredMessage(number, CLUB.key, Message(f"id-{number}", "chat", "user", text, NOON, sender, name))


def test_ids_of_people_become_aliases_wherever_they_stand_and_names_come_back() -> None:
    said = [
        stored(1, "@10001 看一下，wxid_abc 也是", "10001", "小林"),
        stored(2, "10001x 不是他，110001 也不是", "wxid_abc", "Priya"),
        stored(3, "我没有名字", "10003", None),
    ]
    people = People.of(said, ["10009 负责前端"], {"10009": "老陈", "10010": "nobody here"})
    assert people.hidden(said[0].message.content) == "@U1 看一下，U2 也是"
    assert people.hidden(said[1].message.content) == said[1].message.content
    assert people.listed("zh") == ["U1 = 小林", "U2 = Priya", "U3 = （没有名字）", "U4 = 老陈"]
    assert people.shown("U1 和 U2 写前端，U3管U4") == "小林和 Priya 写前端，10003管老陈"
    assert people.shown("U9 and BMU1 stay") == "U9 and BMU1 stay"


def test_two_people_of_one_name_are_told_apart_and_an_alias_in_a_text_is_no_alias() -> None:
    people = People.of([stored(1, "see U1 there", "100", "Li"), stored(2, "ok", "200", "Li")], [], {})
    assert people.prefix == "P"
    assert people.shown("P1 and P2, U1") == "Li (100) and Li (200), U1"


def test_of_too_many_statements_the_weak_ones_and_the_strongest_are_shown() -> None:
    moment = Moment(int(NOON.timestamp() * 1000), StrengthRule())
    old = Moment(moment.now_ms - 40 * 86_400_000, StrengthRule())
    heads = [moment.create(f"strong {n}", [], "said", ["m"]).after for n in range(60)]
    weak = [old.create(f"weak {n}", [], "said", ["m"]).after for n in range(10)]
    shown = chosen([*heads, *weak], moment)
    assert len(shown) == MAX_STATEMENTS
    assert {one.memory_id for one in weak} <= {one.memory_id for one in shown}
    assert chosen(heads[:3], moment) == tuple(sorted(heads[:3], key=lambda one: one.memory_id))


@pytest.mark.parametrize(
    ("wrote", "found", "bad"),
    [
        ('{"action": "keep", "old_id": "s1"}\n\nsome prose\n{"action": "delete", "old_id": 2}', ["keep", "delete"], ()),
        ('1. {"action": "keep"}\n- {action: "update", statement: "没有引号"}', ["keep", "update"], ()),
        ('[\n{"action": "keep"},\n{"action": "create"}\n]', ["keep", "create"], ()),
        ('{"other": 1}\n{"action": "keep"}', ["keep"], (1,)),
        ("", [], ()),
        ("null\n[]\n{}", [], ()),
    ],
)
def test_json_lines_are_read_one_by_one(wrote: str, found: list[str], bad: tuple[int, ...]) -> None:
    """P90, P92."""
    read = read_lines(wrote)
    assert [one.action for one in read.actions] == found
    assert read.bad_lines == bad


def test_a_line_that_was_cut_off_is_not_completed_by_guessing() -> None:
    wrote = '{"action": "keep", "old_id": "s1"}\n{"action": "delete", "old_id": "s2", "change_rea'
    assert [one.old_id for one in read_lines(wrote, cut_off=True).actions] == ["s1"]


@pytest.mark.parametrize(
    ("question", "looked"),
    [
        ("群组的技术背景是什么？", "成员的技术背景是什么？"),
        ("这个群喜欢什么", "成员喜欢什么"),
        ("群规是什么", "群规是什么"),
        ("what does this group work on", "what does members work on"),
        ("群组？", "群组？"),
        ("groupware", "groupware"),
    ],
)
def test_what_names_the_group_in_a_question_becomes_its_members(question: str, looked: str) -> None:
    assert looked_for(question) == looked


@pytest.fixture
def house(tmp_path: Path) -> Generator[GroupHouse]:
    answers = [create("They write Go", "m1")], RetryableModelError("busy"), [act("keep", "s1")]
    chat = MergeScript(*({"actions": one} if isinstance(one, list) else one for one in answers), roles=("evolve",))
    chat.otherwise = {"actions": []}
    made = GroupHouse(tmp_path, chat)
    yield made
    made.close()


def schedule_of(house: GroupHouse) -> EvolveSchedule:
    return EvolveSchedule(
        house.database, house.runs, house.windows, house.evolver, lambda: house.options.now.group, house.clock
    )


def test_the_schedule_is_off_by_default(house: GroupHouse) -> None:
    house.say("we write Go")
    schedule = schedule_of(house)
    house.later(days=0.5)
    assert not schedule.run()


def test_once_a_day_what_is_new_evolves_with_a_jitter_and_after_a_failure_in_an_hour(house: GroupHouse) -> None:
    house.options.replace(Options(group=GroupOptions(schedule="daily", jitter_minutes=60)))
    schedule = schedule_of(house)
    house.say("we write Go", "hello")
    dues = {schedule._due_ms(Owner("group", f"g{n}")) for n in range(20)}  # pyright: ignore[reportPrivateUsage]
    assert len(dues) == 20
    assert max(dues) - min(dues) <= timedelta(minutes=60).total_seconds() * 1000
    house.later(minutes=61)
    assert schedule.run()
    assert [*house.statements()] == ["They write Go"]
    assert not schedule.run()
    house.later(hours=2)
    house.say("and Rust")
    assert not schedule.run()
    house.later(hours=23)
    assert schedule.run()
    assert not schedule.run()
    house.later(seconds=RETRY_MS / 1000)
    assert schedule.run()
    assert not schedule.run()
    house.later(days=3)
    assert not schedule.run()
    house.check()


def test_the_doctor_names_a_memory_that_is_not_as_its_log_has_it(tmp_path: Path) -> None:
    house = GroupHouse(tmp_path, ScriptedChat(saying([create("They write Go", "m1")])))
    house.say("we write Go")
    house.evolver.evolve(CLUB, 1)
    check = GroupsCheck(house.database)
    assert check.find(fix=False) == []
    with house.database.write() as connection:
        connection.execute("UPDATE group_memories SET statement = 'They climb'")
    assert [one.severity for one in check.find(fix=False)] == ["warning"]
    with house.database.write() as connection:
        connection.execute("UPDATE group_memories SET is_head = 0, status = 'deprecated'")
    assert "error" in [one.severity for one in check.find(fix=False)]
    house.close()
