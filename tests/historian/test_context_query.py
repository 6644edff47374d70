"""What is looked for before a message is answered, and how many tokens a text is taken for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from historian.context_query import leans_back, make_query, points_back, said
from historian.model import Message
from historian.session import Session
from historian.tokens import count_tokens

NOW = datetime(2026, 3, 4, 2, 0, tzinfo=UTC)
SESSION = Session(sender_name="小林", group_name="羽毛球群", agent_name="史官")


def turns(*texts: str) -> list[Message]:
    return [Message(f"m{at}", "c", "user", text, NOW) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    "message",
    ["那个呢？", "and the other one?", "她呢", "它多少钱", "what about Berlin?", "小王呢？", "Does she like it?"],
)
def test_a_message_that_points_back_is_looked_for_with_what_was_said_before_only(message: str) -> None:
    assert points_back(message)
    (only,) = make_query(message, turns("杭州有两家酒店", "There are two hotels in Hangzhou."), SESSION).texts
    assert only.splitlines() == [
        "杭州有两家酒店",
        "There are two hotels in Hangzhou.",
        "小林",
        "羽毛球群",
        message,
    ]


@pytest.mark.parametrize(
    "message",
    [
        "我对什么过敏？",
        "What am I allergic to?",
        "我的生日是哪天呢？",
        "这个周末去哪玩",
        "Which hotel in Hangzhou did I like best in 2025?",
    ],
)
def test_a_message_that_says_what_it_is_about_is_looked_for_by_itself_first(message: str) -> None:
    assert not points_back(message)
    first, second = make_query(message, turns("杭州有两家酒店"), SESSION).texts
    assert first.splitlines()[-1] == message
    assert "杭州有两家酒店" not in first
    assert second.startswith("杭州有两家酒店\n")
    assert ("小林" in first) == leans_back(message) == (len(message) <= 20)


def test_the_agent_that_is_addressed_is_not_looked_for_but_others_that_are_named_are() -> None:
    query = make_query("@史官 @小王 喜欢吃什么？", [], SESSION)
    assert query.texts == ("小林\n羽毛球群\n小王 喜欢吃什么？",)
    assert make_query("＠史官 她呢", [], Session(agent_name="史官")).texts == ("她呢",)


def test_a_message_that_stands_in_the_record_already_is_looked_for_once() -> None:
    query = make_query("我想去 杭州", turns("你好", "我想去杭州"), Session())
    assert query.texts == ("我想去 杭州", "你好\n我想去 杭州")


def test_a_framed_message_is_unwrapped_also_among_the_turns() -> None:
    framed = '<message sender="x"><content>那家 &lt;酒店&gt; 呢？</content></message>'
    assert said(framed) == "那家 <酒店> 呢？"
    texts = make_query(framed, turns('<message id="1"><content>杭州的酒店</content></message>'), Session()).texts
    assert texts[-1] == "杭州的酒店\n那家 <酒店> 呢？"


@pytest.mark.parametrize("message", ["", "  ", "？！…", "\u200b"])
def test_without_words_and_turns_there_is_nothing_to_look_for(message: str) -> None:
    assert make_query(message, [], Session()).texts == ()
    assert make_query(message, turns("去杭州"), Session()).main.startswith("去杭州")


def test_long_texts_are_cut_so_that_looking_for_them_costs_no_more() -> None:
    texts = make_query("酒店" * 5_000, turns("旅行" * 5_000), Session()).texts
    assert max(map(len, texts)) <= 800 + 200 + 1


# ---- tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Alice has a tent from Berlin.", 2 + 1 + 1 + 1 + 1 + 2 + 1),
        ("我对花生过敏，从小就这样。", 20),
        ("ご飯を食べましたか", 14),
        ("2026-03-04 10:00", 9),
        ("Bo 住在杭州 in 2026", 1 + 6 + 1 + 2),
        ("привет", 6),
        ("🙂", 3),
        ("a\nb", 3),
        ("01a2218a0b97ac2642ea9180d3f50dac:0:0", 22 + 4),
        ("", 0),
    ],
)
def test_tokens_are_counted_as_documented(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@given(st.text(alphabet="我你他喜欢吃辣的不在杭州，。？「」", min_size=1, max_size=60))
def test_a_chinese_character_never_counts_less_than_one_and_a_half_tokens(text: str) -> None:
    assert count_tokens(text) >= 1.5 * len(text)


@given(st.lists(st.text(max_size=40), max_size=6))
def test_the_parts_of_a_text_never_count_less_than_the_whole(lines: list[str]) -> None:
    assert count_tokens("\n".join(lines)) <= sum(count_tokens(line) + 1 for line in lines)
