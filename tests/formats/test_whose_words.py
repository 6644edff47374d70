"""An import of chats says when none of those who speak is taken for the user."""

from __future__ import annotations

import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from historian.formats.piece import Reading
from historian.formats.registry import chosen
from server.imports.importer import Importer, Plan
from server.imports.reports import Report
from server.imports.sources import opened
from tests.kit.exports import FIXTURES, seen

NOBODY = "Nobody in the chats is the user ("


def told(name: str | Path, *me: str) -> str:
    """Rehearse an import of fixtures; return what it says in the end."""
    report = Report()
    plan = Plan(chosen("auto"), "auto", Reading("mira", ZoneInfo("Europe/Stockholm"), frozenset(me)))
    with opened([str(FIXTURES / name)]) as bundles:
        Importer(plan, report, None, lambda _done, _messages: None).run(bundles)
    return report.summary(dry=True)[-1]


@pytest.mark.parametrize(("name", "speaker"), [("whatsapp", "Marlene"), ("slack", "Mira"), ("csv", "小夏")])
def test_a_chat_in_which_nobody_is_the_user_asks_for_their_name(name: str, speaker: str) -> None:
    said = told(name)
    assert said.startswith(NOBODY)
    assert speaker in said
    assert said.endswith("name yourself with --me.")
    assert not told(name, "Mira", "米拉").startswith(NOBODY)


@pytest.mark.parametrize("name", ["chatgpt", "claude-code", "jsonl", "json", "mem0"])
def test_transcripts_and_plain_messages_ask_nothing(name: str) -> None:
    assert not told(name).startswith(NOBODY)


OTHERS = "Memories of several users: those of others ("


def dumped(folder: Path, *users: str | None, lines: bool = False) -> Path:
    """Write a dump of mem0 with a memory of each user, as a list or as lines."""
    records = [
        {"id": f"a{n}", "memory": f"Likes tea {n}", "created_at": "2025-01-01T00:00:00Z"}
        | ({"user_id": user} if user else {})
        for n, user in enumerate(users)
    ]
    path = folder / ("mem0.jsonl" if lines else "mem0.json")
    path.write_text("\n".join(map(json.dumps, records)) if lines else json.dumps(records), "utf-8")
    return path


@pytest.mark.parametrize("lines", [False, True])
def test_memories_of_others_in_a_dump_of_several_users_are_said_by_them(tmp_path: Path, lines: bool) -> None:
    dump = dumped(tmp_path, "mira", "小夏", None, "M1", lines=lines)
    zone = ZoneInfo("Europe/Stockholm")
    found = seen(dump, reading=Reading("mira", zone))
    assert found.facts == ["Likes tea 0", "Likes tea 2"]
    assert found.column("role") == ["assistant", "user", "assistant", "user"]
    assert found.column("sender_id") == [None, "mem0:小夏", None, "mem0:M1"]
    assert seen(dump, reading=Reading("mira", zone, frozenset({"M1"}))).facts == [
        "Likes tea 0",
        "Likes tea 2",
        "Likes tea 3",
    ]
    assert told(dump).startswith(f"{OTHERS}小夏, M1) are kept as said by them.")
    assert not told(dump, "小夏", "M1").startswith(OTHERS)


def test_a_dump_of_one_user_is_the_importers_whatever_it_calls_them(tmp_path: Path) -> None:
    for me in ((), ("Mira",)):
        dump = dumped(tmp_path, "u-17", None, "u-17")
        assert len(seen(dump, reading=Reading("mira", ZoneInfo("UTC"), frozenset(me))).facts) == 3
        assert not told(dump, *me).startswith((OTHERS, NOBODY))
