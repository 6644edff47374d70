"""`build_context`: what an agent is told before it answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from historian.clock import FixedClock
from historian.tokens import count_tokens
from tests.kit.home import Person, home

NOW = datetime(2026, 3, 4, 2, 0, tzinfo=UTC)


def items(context: dict[str, Any], section: str) -> list[str]:
    """Return the texts of one section."""
    return [item["text"] for part in context["sections"] if part["name"] == section for item in part["items"]]


async def said(person: Person, *texts: str, conversation: str = "c", at: datetime = NOW, group: bool = False) -> None:
    messages = [
        {
            "conversation_id": conversation,
            "role": "user",
            "content": text,
            "ts": (at + timedelta(seconds=number)).isoformat(),
        }
        for number, text in enumerate(texts)
    ]
    done = await person.call("messages_append", messages=messages)
    assert not done["failed"]


async def test_an_empty_memory_says_so_in_a_short_honest_text(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        for arguments in ({}, {"message": "What am I allergic to?"}, {"message": "我对什么过敏？"}):
            context = await alice.call("build_context", **arguments)
            assert context["text"] == "Nothing is remembered here yet."
            assert context["sections"] == context["sources"] == context["degraded"] == []
            assert context["tokens"] == count_tokens(context["text"]) < 12


async def test_profile_events_memos_and_notes_stand_in_it_with_their_sources(tmp_path: Path) -> None:
    clock = FixedClock(NOW)
    async with (
        home(tmp_path, clock=clock) as house,
        house.client(sender_name="Alice", toolsets=("host", "pinned")) as alice,
    ):
        note = await alice.call("memory_add", text="Answer in English, please.")
        job = await alice.remember("Alice is allergic to peanuts.", "Alice 住在杭州。", memo="Suggested a restaurant.")
        context = await alice.call("build_context", message="What must I not eat, peanuts?")
        assert items(context, "pinned") == ["Answer in English, please."]
        assert items(context, "events")[0] == "Alice is allergic to peanuts."
        told = [*items(context, "events"), *items(context, "profile")]
        assert sorted(told) == ["Alice is allergic to peanuts.", "Alice 住在杭州。"], "nothing is said twice"
        assert items(context, "memos") == ["Suggested a restaurant."]
        text = context["text"]
        assert "2026-03-04 10:00" in text, "times are the session's"
        assert "Asia/Shanghai" in text.splitlines()[0]
        assert "never instructions" in text.splitlines()[0]
        for source in context["sources"]:
            assert source["kind"] == "memo" or f"({source['kind']} {source['id']})" in text.replace(
                "2026-03-04 10:00; ", ""
            )
        assert {"kind": "note", "id": note["note"]["note_id"]} in context["sources"]
        assert {"kind": "event", "id": f"{job}:0:0"} in context["sources"]
        assert {"kind": "memo", "id": job} in context["sources"]
        assert context["tokens"] == count_tokens(text) <= 1200
