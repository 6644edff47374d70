"""Pinned notes: what somebody keeps by hand, per scope, there in every turn, and gone when it shall be gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from historian.model import Scope
from tests.kit.home import Person, home

ALL = ("host", "pinned", "admin")
SCOPE = Scope("alice")


async def notes(person: Person) -> list[str]:
    return [note["text"] for note in (await person.call("memory_list"))["notes"]]


async def test_a_note_is_kept_changed_and_let_go_of(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client(toolsets=ALL) as alice:
        first = await alice.call("memory_add", text="  对花生过敏。 ")
        assert first["created"]
        assert first["note"]["text"] == "对花生过敏。"
        again = await alice.call("memory_add", text="对花生过敏。")
        assert not again["created"]
        assert again["note"] == first["note"], "an exact duplicate is the note that is there"
        other = await alice.call("memory_add", text="对花生过敏")
        assert other["created"], "anything but an exact duplicate is another note"
        await alice.call("memory_update", note_id=other["note"]["note_id"], text="Allergic to peanuts.")
        assert await notes(alice) == ["对花生过敏。", "Allergic to peanuts."]
        assert "says exactly this" in await alice.refused(
            "memory_update", note_id=other["note"]["note_id"], text="对花生过敏。"
        )
        await alice.call("memory_delete", note_id=other["note"]["note_id"])
        again = await alice.call("memory_delete", note_id=other["note"]["note_id"])
        assert again == {"note_id": other["note"]["note_id"]}, "a repeat is told that it is done"
        third = await alice.call("memory_add", text="Vegetarian.")
        assert third["note"]["note_id"] not in {first["note"]["note_id"], other["note"]["note_id"]}
        assert await notes(alice) == ["对花生过敏。", "Vegetarian."]
        for tool, more in (("memory_update", {"text": "x"}), ("memory_delete", {})):
            assert "There is no pinned note" in await alice.refused(tool, note_id="p99", **more)
        for text in ("", " \n", "\x00"):
            assert "text" in await alice.refused("memory_add", text=text)
        assert "has 501 characters" in await alice.refused("memory_add", text="x" * 501)


async def test_a_full_list_refuses_and_says_so_and_lets_go_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "shiguan.toml").write_text("[context]\npinned_max = 3\npinned_note_max_len = 12\n")
    async with home(tmp_path) as house, house.client(toolsets=ALL) as alice:
        for number in range(3):
            await alice.call("memory_add", text=f"Note {number}.")
        sentence = await alice.refused("memory_add", text="One more.")
        assert "full" in sentence
        assert "has 13 characters" in await alice.refused("memory_update", note_id="p1", text="x" * 13)
        assert "3 of 3" in sentence
        assert await notes(alice) == ["Note 0.", "Note 1.", "Note 2."]
        assert not (await alice.call("memory_add", text="Note 1."))["created"], "what is there needs no room"


async def test_notes_are_of_the_conversation_they_are_pinned_in(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.host(toolsets=ALL) as host:
        people: dict[str, Person] = {
            "alice": host.acting("alice", groups=["hikers"]),
            "bob": host.acting("bob"),
            "hikers": host.acting("alice", group_id="hikers"),
            "climbers": host.acting("bob", group_id="climbers"),
        }
        for name, person in people.items():
            made = await person.call("memory_add", text=f"Of {name}.")
            assert made["note"]["note_id"] == "p1", "numbers tell nothing of others"
        for name, person in people.items():
            assert await notes(person) == [f"Of {name}."]
        assert await notes(host.acting("bob", group_id="hikers")) == ["Of hikers."], "a group's notes are its members'"
        await people["bob"].call("memory_delete", note_id="p1")
        assert await notes(people["alice"]) == ["Of alice."]
        await people["hikers"].call("memory_add", text="Another.")
        await people["hikers"].call("memory_delete", note_id="p2")
        assert "There is no pinned note" in await people["alice"].refused("memory_delete", note_id="p2")


async def test_a_credential_is_masked_in_a_note(tmp_path: Path) -> None:
    key = "sk-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL"
    async with home(tmp_path) as house, house.client(toolsets=ALL) as alice:
        made = await alice.call("memory_add", text=f"The key is {key}.")
        assert key not in made["note"]["text"]
        assert made["warnings"]


async def lines_of(person: Person) -> list[Any]:
    lines: list[Any] = []
    cursor = ""
    while True:
        page = await person.call("export", cursor=cursor, page_size=2)
        lines += [json.loads(line) for line in page["lines"]]
        cursor = page["next_cursor"]
        if not cursor:
            return lines


async def test_notes_go_out_with_an_export_and_come_back_once(tmp_path: Path) -> None:
    async with home(tmp_path / "one") as house, house.client(toolsets=ALL) as alice:
        for text in ("对花生过敏。", "Vegetarian.", "住在杭州。"):
            await alice.call("memory_add", text=text)
        lines = await lines_of(alice)
        assert [line["text"] for line in lines if line["kind"] == "pinned"] == await notes(alice)
    async with home(tmp_path / "two") as house, house.client(toolsets=ALL) as alice:
        await alice.call("memory_add", text="Was here before.")
        memory = house.household.memory.of(SCOPE)
        taken = memory.take_in(lines)
        assert (taken.failed, taken.inserted) == ((), 3)
        assert memory.take_in(lines).inserted == 0
        kept = await alice.call("memory_list")
        assert [note["text"] for note in kept["notes"]] == [
            "Was here before.",
            "对花生过敏。",
            "Vegetarian.",
            "住在杭州。",
        ]
        assert len({note["note_id"] for note in kept["notes"]}) == 4
        foreign = [line | {"owner": "user:bob"} for line in lines if line["kind"] == "pinned"]
        assert len(memory.take_in(foreign).failed) == 3
        for wrong in ({"text": ""}, {"text": "x" * 5000}, {"created_at": "then"}, {"note_id": None}):
            assert len(memory.take_in([lines[1] | wrong | {"kind": "pinned"}]).failed) == 1


@pytest.mark.parametrize("how", [{"everything": True}, {"query": "zanzibar"}, {"since": "2020-01-01"}])
async def test_what_is_forgotten_is_gone_from_the_notes_and_from_the_disk_and_does_not_come_back(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    """P102."""
    async with home(tmp_path) as house, house.client(toolsets=ALL) as alice, house.client("bob", toolsets=ALL) as bob:
        await alice.call("memory_add", text="Went to Zanzibar once.")
        await bob.call("memory_add", text="Bob stays at home.")
        lines = await lines_of(alice)
        found = await alice.call("forget", **how)
        assert {"what": "pinned notes", "count": 1} in found["counts"]
        await alice.call("forget", **how, confirm=found["confirm"])
        assert await notes(alice) == []
        assert await notes(bob) == ["Bob stays at home."]
        assert house.household.memory.of(SCOPE).take_in(lines).forgotten >= 1
        assert await notes(alice) == []
        assert house.household.memory.of(SCOPE).take_in(lines, again=True).inserted >= 1
        assert await notes(alice) == ["Went to Zanzibar once."]
