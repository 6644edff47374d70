"""An import of chats says when none of those who speak is taken for the user."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from historian.formats.piece import Reading
from historian.formats.registry import chosen
from server.imports.importer import Importer, Plan
from server.imports.reports import Report
from server.imports.sources import opened
from tests.kit.exports import FIXTURES

NOBODY = "Nobody in the chats is the user ("


def told(name: str, *me: str) -> str:
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
