"""`shiguan search`: the record for a person, through the owner of the folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from server.commands.search import clipped, columns, padded, table
from tests.kit.clients import House

SHANGHAI = ZoneInfo("Asia/Shanghai")


def item(content: str, **more: Any) -> dict[str, Any]:
    given = {"message_id": "m1", "ts": "2026-02-20T09:30:00+08:00", "role": "user", "score": 0.5, "content": content}
    return {"sender_id": None, "sender_name": None, **given, **more}


def test_the_columns_stand_below_each_other_also_with_chinese_names() -> None:
    items: list[Mapping[str, Any]] = [
        item("我不吃辣", sender_name="小王"),
        item("no spice", sender_name="Bartholomew", score=None),
    ]
    lines = table(items, SHANGHAI)
    assert [line.split()[0] for line in lines] == ["SCORE", "0.50", "2026-02-20"]
    starts = {columns(line[: line.index(text)]) for line, text in zip(lines, ("CONTENT", "我", "no"), strict=True)}
    assert len(starts) == 1


def test_a_terminal_gets_one_line_of_its_width_and_nothing_that_it_would_obey() -> None:
    lines = table([item("危险\x1b[31m\nred\u202e " + "长" * 300, sender_name="a\tb")], SHANGHAI, width=100)
    assert all(columns(line) <= 100 for line in lines)
    assert lines[1].endswith("…")
    assert all(line.isprintable() for line in lines)


def test_no_message_is_no_table() -> None:
    assert table([], SHANGHAI) == []


@pytest.mark.parametrize(
    ("ts", "zone", "expected"),
    [
        ("2026-02-20T09:30:00+08:00", "Asia/Shanghai", "2026-02-20 09:30"),
        ("2026-02-20T23:30:00Z", "Asia/Shanghai", "2026-02-21 07:30"),
        ("2026-02-20T09:30:00-05:00", "UTC", "2026-02-20 14:30"),
        ("2026-07-01T12:00:00+00:00", "Europe/London", "2026-07-01 13:00"),
        ("0001-01-01T00:00:00+00:00", "America/New_York", "0001-01-01 00:00+00:00"),
    ],
)
def test_all_times_are_of_one_zone_which_the_heading_names(ts: str, zone: str, expected: str) -> None:
    heading, line = table([item("x", ts=ts)], ZoneInfo(zone))
    assert f"TIME ({zone})" in heading
    assert f" {expected} " in line


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("不吃辣", 6, "不吃辣"),
        ("不吃辣", 5, "不吃…"),
        ("不吃辣", 4, "不…"),
        ("", 3, ""),
    ],
)
def test_clipping_counts_columns(text: str, width: int, expected: str) -> None:
    assert clipped(text, width) == expected
    assert columns(padded(expected, width)) == width


@pytest.mark.process
def test_a_person_searches_the_record_by_words_and_by_time(tmp_path: Path) -> None:
    """P45: whoever asks finds the own messages only."""
    with House(tmp_path / "data", env={"SHIGUAN_TOOLSETS": "host", "SHIGUAN_TIMEZONE": "Asia/Shanghai"}) as house:
        client = house.ready("--user", "alice")
        contents = ["我不吃辣，最近在减肥", "docker 里做外币换算", "今天下雨"]
        messages = [
            {
                "message_id": f"m{n}",
                "conversation_id": "c",
                "role": "user",
                "content": text,
                "ts": f"2026-02-2{n}T09:00",
            }
            for n, text in enumerate(contents)
        ]
        assert client.call("messages_append", messages=messages)["inserted"] == 3

        def search(*arguments: str, user: str = "alice", code: int = 0) -> tuple[str, str]:
            done = house.command("search", *arguments, "--user", user, "--mode", "lexical", code=code)
            return done.stdout.decode(), done.stderr.decode()

        heading, line = search("不吃辣")[0].splitlines()
        assert heading.split() == ["SCORE", "TIME", "(Asia/Shanghai)", "WHO", "MESSAGE", "CONTENT"]
        assert "我不吃辣，最近在减肥" in line
        assert "2026-02-20 09:00" in line
        assert "2026-02-20 02:00" in search("不吃辣", "--timezone", "Europe/Berlin")[0]
        found = json.loads(search("docker OR 辣 OR 雨", "--since", "2026-02-21", "--json")[0])
        assert {one["message_id"] for one in found["items"]} == {"m1", "m2"}
        assert json.loads(search("辣", "--role", "assistant", "--json")[0])["items"] == []
        assert search("不吃辣", user="bob") == ("", "No message fits.\n")
        for wrong in (("辣", "--since", "2026-13-45"), ("辣", "--limit", "201"), ("辣", "--limit", "0")):
            shown, sentence = search(*wrong, code=1)
            assert shown == ""
            assert sentence.startswith("shiguan: ")
            assert len(sentence.splitlines()) == 1
