"""What a model turns round though it keeps every number and every "not": the past, plans, opposites, who does what."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from historian.identity_numbers import figures
from historian.likeness import near_statement
from historian.model import Origin
from historian.word_order import exchanged
from tests.historian.test_merge_model import added, judged, kinds, page, update
from tests.historian.test_scribe import drafted, in_turn, statements

TURNED = [
    ("我以前住在成都", "小明住在成都"),
    ("我当过老师", "小明当老师"),
    ("我要去上海了", "小明去了上海"),
    ("只有李雷知道密码", "李雷知道密码"),
    ("会议在午饭前", "会议在午饭后"),
    ("我女儿5岁", "小明的儿子5岁"),
    ("李雷借了韩梅梅500元", "韩梅梅借了李雷500元"),
    ("我欠李雷100元", "李雷欠小明100元"),
    ("我比小红高", "小红比小明高"),
    ("我从北京搬到上海", "小明从上海搬到北京"),
    ("我教李雷英语", "李雷教小明英语"),
    ("我把自行车送给了李雷", "李雷把自行车送给了小明"),
    ("会议10:00到11:00", "会议11:00到10:00"),
    ("I am away from 2026-03-05 to 2026-03-09", "小明 is away from 2026-03-09 to 2026-03-05"),
    ("I used to smoke", "小明 smokes"),
    ("I lived in Oslo", "小明 lives in Oslo"),
    ("I was a vegetarian", "小明 is a vegetarian"),
    ("I had a dog", "小明 has a dog"),
    ("Only Bob knows the code", "Bob knows the code"),
    ("The meeting is before lunch", "The meeting is after lunch"),
    ("The shop closes at 5", "The shop opens at 5"),
    ("I moved from Paris to London", "小明 moved from London to Paris"),
    ("我把 bug 从 P1 降到 P2", "小明把 bug 从 P2 降到 P1"),
    ("我 used to 住 Oslo", "小明住 Oslo"),
    ("我 prefer 绿茶 over coffee", "小明 prefer coffee over 绿茶"),
]
KEPT = [
    ("我以前住在成都", "小明曾住在成都"),
    ("我要去上海了", "小明将去上海"),
    ("我已经退休了", "小明退休了"),
    ("千万别给我推荐花生", "不要给小明推荐花生"),
    ("我的预算从3000元改成了5000元", "小明的预算从3000元改为5000元"),
    ("这本书我看完了", "小明看完了这本书"),
    ("我和小红去了北京", "小红和小明去了北京"),
    ("I've lived here for 3 years, in Bern", "小明 has been living here for 3 years, in Bern"),
    ("I used to smoke", "小明 used to smoke"),
    ("I wanted to ask for tea", "小明 wants to ask for tea"),
    ("会议从10:00到11:00，在三楼", "会议在三楼，从10:00到11:00"),
    ("I read every day", "小明 reads every day"),
    ("My dog Rex is 4", "The dog of 小明, Rex, is 4 years old"),
    ("我 prefer 绿茶 over coffee", "小明 prefer 绿茶 over coffee"),
]


@pytest.mark.parametrize(("said", "wrote"), TURNED)
def test_what_a_model_turns_round_is_not_stored(said: str, wrote: str) -> None:
    """P80, and small models: no number, name or "not" is wrong, and yet it says something else."""
    [draft] = drafted(in_turn(statements(wrote)), said)
    assert (draft.text, draft.origin) == (said, Origin.DEGRADED)
    assert any(flag.startswith("drift:") for flag in draft.flags)


@pytest.mark.parametrize(("said", "wrote"), KEPT)
def test_what_says_the_same_in_other_words_passes(said: str, wrote: str) -> None:
    [draft] = drafted(in_turn(statements(wrote)), said)
    assert (draft.text, draft.origin) == (wrote, Origin.MODEL)


NOW = [
    ("我现在住在杭州", "小明住在杭州"),
    ("我目前在腾讯工作", "小明2026-02-21在腾讯工作"),
    ("我最近在学吉他", "小明在学吉他"),
    ("I currently work at Siemens", "小明 works at Siemens"),
    ("I recently moved to Bern", "小明 moved to Bern"),
    ("I now live in Bern", "As of 2026-02-21, 小明 lives in Bern"),
    ("我 currently 住在 Berlin", "小明住在 Berlin"),
]


@pytest.mark.parametrize(("said", "wrote"), NOW)
def test_the_moment_of_speaking_may_be_left_out_or_dated(said: str, wrote: str) -> None:
    """P79: the gate asks a model to take 现在 and "recently" out, so that a model which obeys is not refused for it."""
    kept = said.replace("我", "小明").replace("I ", "小明 ")
    [draft] = drafted(in_turn(statements(kept), statements(wrote)), said)
    assert (draft.text, draft.is_absolute, draft.origin) == (wrote, True, Origin.MODEL)


def test_the_moment_of_speaking_is_no_other_day() -> None:
    [draft] = drafted(in_turn(statements("小明2026-02-20住在杭州")), "我现在住在杭州")
    assert draft.origin is Origin.DEGRADED
    [draft] = drafted(in_turn(statements("小明2026-02-21住在杭州")), "我住在杭州")
    assert draft.origin is Origin.DEGRADED


def test_an_exhortation_is_no_number() -> None:
    assert figures("千万别迟到").numbers == frozenset()
    assert figures("他赚了一千万元").numbers == {"10000000"}


# --- the same in merges


@pytest.mark.parametrize(
    ("said", "new", "kind"),
    [
        ("小明讨厌香菜", "小明喜欢香菜", "polarity"),
        ("Ming hates coriander", "Ming loves coriander", "polarity"),
        ("小明不吃辣但吃鱼", "小明吃辣但不吃鱼", "polarity"),
        ("小明戒烟了", "小明抽烟", "polarity"),
        ("小明打算去冰岛", "小明去冰岛", "modality"),
        ("Ming wants to move to Rome", "Ming moved to Rome", "modality"),
        ("小明以前住在北京", "小明住在北京", "modality"),
        ("Ming lived in Oslo", "Ming lives in Oslo", "modality"),
        ("小明欠李雷100元", "李雷欠小明100元", "order"),
        ("小明 prefer 绿茶 over coffee", "小明 prefer coffee over 绿茶", "order"),
        ("Ming bought a bike", "Ming bought a bike, stolen from the neighbour", "unsupported"),
    ],
)
def test_a_new_line_does_not_turn_round_what_it_rests_on(said: str, new: str, kind: str) -> None:
    """P92: a merge may not say the opposite of its statements, nor make a plan, or what is over, a fact of now."""
    assert kind in kinds(page(said=[said], name="Ming" if said.isascii() else "小明"), added(new))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("小明喜欢香菜", "小明讨厌香菜"),
        ("小明抽烟", "小明戒烟了"),
        ("Ming smokes", "Ming stopped smoking"),
        ("Ming lives in Oslo", "Ming lived in Oslo"),
        ("小明的女儿5岁", "小明的儿子5岁"),
        ("小明欠李雷100元", "李雷欠小明100元"),
    ],
)
def test_a_line_is_not_confirmed_by_what_says_the_opposite(line: str, said: str) -> None:
    """P81 turned round: what differs is news, and a confirmation would lose it."""
    confirming = {"lines": [{"line": 1, "action": "confirm", "statements": [1]}]}
    assert "polarity" in kinds(page(line, said=[said], name="Ming" if said.isascii() else "小明"), confirming)


@pytest.mark.parametrize(
    ("line", "said", "answer"),
    [
        ("小明打算去冰岛", "小明2026-03-01去了冰岛", update("小明2026-03-01去了冰岛")),
        ("小明抽烟", "小明2026年戒烟了", update("小明2026年起不抽烟")),
        ("小明不吃辣", "小明现在吃辣了", update("小明吃辣")),
        ("小明住在北京", "小明从北京搬到上海", update("小明住在上海（之前住北京）")),
        ("Ming works at Nokia", "Ming left Nokia for Ericsson", update("Ming works at Ericsson (formerly Nokia)")),
        ("Ming smokes", "Ming stopped smoking", update("Ming does not smoke")),
        ("小明不抽烟", "小明戒烟了", {"lines": [{"line": 1, "action": "confirm", "statements": [1]}]}),
        ("Ming likes tea", "Ming really enjoys tea", {"lines": [{"line": 1, "action": "confirm", "statements": [1]}]}),
    ],
)
def test_a_change_that_is_told_rightly_passes(line: str, said: str, answer: Mapping[str, object]) -> None:
    one = page(line, said=[said], name="Ming" if said.isascii() else "小明")
    assert [problem.kind for problem in judged(one, answer)[1]] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ming is married", "Ming was married"), ("Ming drives", "Ming drove"), ("Ming owns a car", "Ming owned a car")],
)
def test_what_is_and_what_was_are_never_linked(one: str, other: str) -> None:
    """P81: a changed value is news."""
    assert not near_statement(one, other)
    assert not near_statement(other, one)


# --- the order of words


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=8), st.data())
def test_a_phrase_that_moves_is_no_exchange_and_two_words_that_change_places_are_one(
    words: list[str], data: st.DataObject
) -> None:
    begin, end, to = (data.draw(st.integers(0, len(words))) for _ in range(3))
    moved = words[min(begin, end) : max(begin, end)]
    rest = [word for word in words if word not in moved]
    assert exchanged(words, [*rest[:to], *moved, *rest[to:]]) == ()
    for one, other in itertools.combinations(range(len(words)), 2):
        swapped = [*words]
        swapped[one], swapped[other] = words[other], words[one]
        assert bool(exchanged(words, swapped)) == (other - one > 1)
