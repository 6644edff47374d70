"""Transcripts of assistants: what a person and an assistant said to each other, and nothing of the machinery."""

from __future__ import annotations

from tests.kit.exports import seen


def test_claude_code_leaves_out_subagents_tools_and_what_the_program_adds() -> None:
    found = seen("claude-code")
    assert found.column("content") == [
        "When should I plant the quince trees?",
        "In late October, before the frost.",
        "榅桲树要买两棵。",
    ]
    assert found.column("role") == ["user", "assistant", "user"]
    assert found.column("sender_id") == ["mira", None, "mira"]
    assert found.column("message_id") == ["b1", "b3", "b10"]
    assert set(found.column("conversation_id")) == {"5a1f0c9e-2b7d-4c1e-9d3a-0f6b8e7a1c22"}
    assert found.messages[0]["ts"] == "2025-09-14T08:03:11.220Z"
    assert found.messages[0]["meta"] == {"source": "claude-code", "project": "/home/mira/orchard"}
    assert found.passed["turns of subagents"] == 1
    assert found.passed["tool calls and results"] == 3
    assert found.refused == ["line 12: It is not a JSON object in UTF-8 on one line."]


def test_codex_is_read_in_its_present_and_its_first_form() -> None:
    found = seen("codex")
    assert found.formats == {"codex": 2}
    assert found.column("content") == [
        "你好，帮我写个脚本",
        "好的。",
        "Count the trees in plan.csv",
        "There are twelve trees.",
    ]
    assert found.messages[0]["ts"] == "2025-04-20T07:00:00.000Z"
    assert found.messages[2]["message_id"] == "codex:0199a213-81c0-7800-8aa1-bbab2a035a53:5"
    assert found.messages[3]["ts"] == "2025-09-15T10:00:25.000Z"
    assert found.refused == []


def test_chatgpt_keeps_every_branch_and_says_which_one_was_left() -> None:
    found = seen("chatgpt")
    by_id = {message["message_id"]: message for message in found.messages}
    assert [*by_id] == ["u1", "a1", "a3", "u2", "x"]
    assert by_id["a1"]["meta"]["branch"] == "other"
    assert "branch" not in by_id["a3"]["meta"]
    assert by_id["a3"]["reply_to"] == "u1"
    assert by_id["u2"]["content"] == "那打开以后呢？"
    assert by_id["u2"]["ts"] == by_id["a3"]["ts"]
    assert found.unknown == ["chat.html", "user.json"]


def test_a_broken_tree_of_chatgpt_is_named_and_its_neighbours_are_read() -> None:
    assert seen("chatgpt").refused == [
        "conversation 2: It is no conversation with a mapping of messages.",
        "conversation 3: 2 of its messages hang on no other one.",
    ]


def test_claude_ai_gives_the_texts_without_thoughts() -> None:
    found = seen("claude-ai")
    assert found.column("content") == ["妈妈下个月六十岁，送什么好？", "A tea set, perhaps.\n\n她喜欢龙井吗？"]
    assert found.column("reply_to") == [None, "m1"]
    assert found.messages[0]["meta"] == {"source": "claude-ai", "title": "给母亲的生日", "files": ["list.txt"]}
    assert len(found.refused) == 2
