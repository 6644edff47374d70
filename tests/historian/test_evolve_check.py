"""What a model writes about a group is refused where its messages clearly do not say it, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.groups import CLUB, GroupHouse, act, create, saying
from tests.kit.scripted_chat import ScriptedChat

ZH = ("我主要写前端", "群里不许发广告", "我也写前端", "下次聚会定在周五，大概 30 人")
EN = ("I mostly write frontend code", "No ads are allowed in this group", "I write frontend code too", "We meet at 7pm")


@pytest.mark.parametrize(
    ("messages", "statement", "cited", "reason"),
    [
        (ZH, "Most members are frontend developers", ("m1", "m3"), "another language"),
        (ZH, "王芳是群管理员", ("m1",), "names 王芳"),
        (ZH, "王芳负责前端", ("m1",), "names 王芳"),
        (ZH, "Jonathan likes ads", ("m2",), "another language"),
        (ZH, "群里可以发广告", ("m2",), "the opposite"),
        (ZH, "群里有500名成员", ("m1",), "number 500"),
        (EN, "成员多为前端开发者", ("m1", "m3"), "another language"),
        (EN, "Jonathan likes ads", ("m2",), "names Jonathan"),
        (EN, "Jonathan is the group admin", ("m2",), "names Jonathan"),
        (EN, "Ads are allowed in the group", ("m2",), "the opposite"),
        (EN, "There are 500 members in the group", ("m1",), "number 500"),
    ],
)
def test_a_statement_that_its_messages_do_not_bear_is_refused_alone(
    tmp_path: Path, messages: tuple[str, ...], statement: str, cited: tuple[str, ...], reason: str
) -> None:
    """P67, P80: foreign languages, invented persons and numbers, and the opposite of what was said."""
    good = "聚会在周五" if messages is ZH else "The group meets at 7pm"
    house = GroupHouse(tmp_path, ScriptedChat(saying([create(statement, *cited), create(good, "m4")])))
    house.say(*messages)
    done = house.evolver.evolve(CLUB, 1)
    assert [one.action for one in done.refused] == ["create"]
    assert reason in done.refused[0].reason
    assert [*house.statements()] == [good]
    house.close()


@pytest.mark.parametrize(
    ("messages", "statement", "cited"),
    [
        (ZH, "成员多为前端开发者", ("m1", "m3")),
        (ZH, "两位成员写前端", ("m1", "m3")),
        (ZH, "小林写前端", ("m1",)),
        (ZH, "U1 主要写前端", ("m1",)),
        (ZH, "群里禁止发广告", ("m2",)),
        (ZH, "群里避免发广告", ("m2",)),
        (ZH, "大多数成员写前端，群里不发广告", ("m1", "m2", "m3")),
        (ZH, "2026年2月的聚会约30人", ("m4",)),
        (ZH, "下次聚会在 2026-02-27，共30人", ("m4",)),
        (ZH, "周五是聚会日", ("m4",)),
        (ZH, "群主是小林", ("m1",)),
        (EN, "Most members write frontend code", ("m1", "m3")),
        (EN, "Two members write frontend code", ("m1", "m3")),
        (EN, "Members agreed to avoid ads", ("m2",)),
        (EN, "Ads are forbidden in the group", ("m2",)),
        (EN, "The group meets at 7 pm on February 27", ("m4",)),
        (EN, "React is the main framework", ("m1",)),
    ],
)
def test_an_honest_statement_stands(
    tmp_path: Path, messages: tuple[str, ...], statement: str, cited: tuple[str, ...]
) -> None:
    """P67: what several messages say together, counted, dated, in other words, is no invention."""
    house = GroupHouse(tmp_path, ScriptedChat(saying([create(statement, *cited)])))
    house.say(*messages)
    done = house.evolver.evolve(CLUB, 1)
    assert not done.refused
    assert len(house.statements()) == 1
    house.close()


def test_a_change_that_its_message_contradicts_is_asked_for_again_and_one_that_it_bears_is_done(tmp_path: Path) -> None:
    """P67: the model is told why."""
    answers = (
        [create("群里可以发广告", "m1")],
        [act("update", "s1", "群里可以发广告和链接", "m1")],
        [act("update", "s1", "群里不许发广告了", "m1")],
    )
    house = GroupHouse(tmp_path, ScriptedChat(saying(*answers)))
    house.say("群里可以发广告")
    assert not house.evolver.evolve(CLUB, 1).refused
    house.later(hours=1)
    house.say("群里不许发广告和链接了")
    assert house.evolver.evolve(CLUB, 1).stats.updated == 1
    assert [*house.statements()] == ["群里不许发广告了"]
    house.close()
