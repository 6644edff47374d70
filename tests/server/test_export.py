"""Taking everything away, and bringing it to another folder: the same answers there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from historian.group_store import GroupStore
from historian.group_strength import StrengthRule
from historian.group_versions import Moment
from historian.model import Owner, Scope
from server.export_folder import ExportFolder
from server.exports import MarkdownExport
from tests.kit.home import Home, Person, home, prose

pytestmark = pytest.mark.anyio

TALK = [
    ("m1", "user", "I moved to Lund yesterday, 和小夏一起。", "2026-03-01T10:00:00+08:00"),
    ("m2", "assistant", "How is the garden?", "2026-03-01T02:00:05Z"),
    ("m3", "user", "院子里种了三棵榅桲树。\n`code` & <b>", "2026-03-01T10:01:00+08:00"),
]


async def live(house: Home) -> None:
    """Have two people say things in private and in a group."""
    async with house.client("alice", groups=["g1"], sender_name="Alice") as alice:
        messages = [
            {"message_id": i, "conversation_id": "c1", "role": role, "content": text, "ts": ts, "meta": {"n": 1}}
            for i, role, text, ts in TALK
        ]
        await alice.call("messages_append", messages=messages)
        for fact, ids in (("Alice moved to Lund on 2026-02-28.", ["m1"]), ("爱丽丝种了三棵榅桲树。", ["m3"])):
            done = await alice.call("end", observations=[fact], message_ids=ids, memo="Noted the garden.", force=True)
            await alice.settled(done["job_id"])
        done = await alice.call("end", observations=["Alice moved to Lund on 2026-02-28."], source_message="Lund")
        await alice.settled(done["job_id"])
    async with house.client("alice", group="g1", sender_name="Alice") as alice:
        done = await alice.call("end", observations=["Alice sings alto in the choir."], force=True)
        await alice.settled(done["job_id"])
    async with house.client("bob", group="g1", sender_name="Bob") as bob:
        done = await bob.call("end", observations=["Bob conducts the choir."], force=True)
        await bob.settled(done["job_id"])
    async with house.client("bob") as bob:
        done = await bob.call("end", observations=["Bob keeps a secret diary."], force=True)
        await bob.settled(done["job_id"])


async def exported(person: Person, page_size: int) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = await person.call("export", cursor=cursor, page_size=page_size)
        lines += [json.loads(line) for line in page["lines"]]
        cursor = page["next_cursor"]
        if not cursor:
            return lines


async def answers(house: Home) -> dict[str, Any]:
    """Return what alice is told about everything."""
    async with house.client("alice", groups=["g1"], sender_name="Alice") as alice:
        while (await alice.call("memory_status"))["unembedded"]:  # noqa: ASYNC110 - nothing tells when it is done
            await anyio.sleep(0.05)
        found = await alice.call("search_events", query="Alice Lund choir 榅桲", top_k=20)
        words = await alice.call("lexical_search", query_text="榅桲 OR Lund OR garden")
        profile = await alice.call("get_profile", entity_type="user")
        meant = await alice.call("semantic_search", query_text="Where does she live?")
        beside = await alice.call("neighbors", message_id="m2")
        listed = await alice.call("messages_list", since="2026-01-01", until="2030-01-01")
        status = await alice.call("memory_status")
        return {
            "events": [(e["event_id"], e["text"], round(e["score"], 3)) for e in found["events"]],
            "words": [(m["message_id"], m["content"], m["ts"]) for m in words["items"]],
            "profile": profile,
            "meant": [(m["message_id"], round(m["score"], 3)) for m in meant["items"]],
            "beside": [m["message_id"] for m in beside["items"]],
            "evidence": {e["event_id"]: e["message_ids"] for e in found["events"]},
            "listed": listed["items"],
            "memos": [memo["text"] for memo in status["memos"]],
        }


@pytest.mark.parametrize("page_size", [2, 200])
async def test_an_export_brought_to_an_empty_folder_gives_the_same_answers(tmp_path: Path, page_size: int) -> None:
    """P105, P107: ids, times, evidence and user are in the lines, and no vectors are needed."""
    async with home(tmp_path / "one") as house:
        await live(house)
        before = await answers(house)
        async with house.client("alice", groups=["g1"], toolsets=["host", "admin"]) as alice:
            lines = await exported(alice, page_size)
    kinds = [line["kind"] for line in lines]
    assert kinds == sorted(kinds, key=["about", "message", "event", "memo", "profile"].index)
    assert "diary" not in json.dumps(lines)
    assert "conducts" not in json.dumps([line for line in lines if line["kind"] != "profile"])
    async with home(tmp_path / "two") as house:
        memory = house.household.memory.of(Scope("alice", None, frozenset({"g1"})))
        taken = memory.take_in(lines)
        assert taken.failed == ()
        assert taken.inserted == len(lines) - 1
        again = memory.take_in(lines)
        assert (again.inserted, again.ignored, again.failed) == (0, len(lines) - 1, ())
        assert await answers(house) == before
        async with house.client("alice", groups=["g1"], toolsets=["host", "admin"]) as alice:
            assert [line for line in await exported(alice, page_size) if line["kind"] != "about"] == lines[1:]


async def test_the_text_of_an_export_says_the_same_as_its_structure_blank_by_blank(tmp_path: Path) -> None:
    """A host that shows a model the text only saves lines that an import reads, the indented head of a profile too."""
    async with home(tmp_path) as house, house.client("alice", toolsets=["host", "admin"]) as alice:
        said = "def f():\n    return 「1」\u3000\u00a0x  y"
        turn = {"conversation_id": "c", "role": "user", "content": said, "ts": "2026-03-01T10:00:00Z"}
        await alice.call("messages_append", messages=[turn])
        await alice.remember("Alice moved to Lund on 2026-02-28.")
        cursor, kinds = "", set[str]()
        while True:
            page = await alice.client.call_tool("export", {"cursor": cursor})
            assert page.structured_content is not None
            head, *shown = prose(page).split("\n")
            told = [json.loads(line.removeprefix("「").removesuffix("」")) for line in shown]
            assert told == [json.loads(line) for line in page.structured_content["lines"]]
            assert head.startswith(f"{len(told)} line")
            kinds |= {line["kind"] for line in told}
            if not (cursor := page.structured_content["next_cursor"]):
                break
        assert {"message", "event", "profile"} <= kinds


async def test_what_belongs_to_others_is_not_taken_in(tmp_path: Path) -> None:
    async with home(tmp_path / "one") as house:
        await live(house)
        async with house.client("alice", toolsets=["host", "admin"]) as alice:
            lines = await exported(alice, 200)
    async with home(tmp_path / "two") as house:
        taken = house.household.memory.of(Scope("mallory")).take_in(lines)
        assert taken.inserted == 0
        assert {reason.partition(";")[0] for _, reason in taken.failed} == {
            "It belongs to another person",
            "It belongs to a group",
        }


@pytest.mark.parametrize(
    ("name", "other"), [("entity_id", "bob"), ("entity_id", "爱丽丝"), ("entity_type", "group"), ("entity_id", "")]
)
async def test_a_profile_whose_frontmatter_names_another_entity_is_refused_and_leaves_no_file(
    tmp_path: Path, name: str, other: str
) -> None:
    async with home(tmp_path / "one") as house:
        await live(house)
        async with house.client("alice", groups=["g1"], toolsets=["host", "admin"]) as alice:
            lines = await exported(alice, 200)
    (whole,) = [line for line in lines if line["kind"] == "profile" and line["owner"] == "user:alice"]
    wrong = whole | {"text": re.sub(rf"(?m)^{name}:.*$", f"{name}: {other}", whole["text"], count=1)}
    assert wrong != whole
    async with home(tmp_path / "two") as house:
        memory = house.household.memory.of(Scope("alice", None, frozenset({"g1"})))
        taken = memory.take_in([wrong, *(line for line in lines if line["kind"] == "event")])
        assert [index for index, _ in taken.failed] == [0]
        assert "names another entity" in taken.failed[0][1]
        assert taken.inserted > 0
        assert not [*(tmp_path / "two").rglob("*.md")]
        right = memory.take_in([whole])
        assert (right.inserted, right.failed) == (1, ())


async def test_lines_that_are_broken_are_refused_one_by_one(tmp_path: Path) -> None:
    async with home(tmp_path / "one") as house:
        await live(house)
        async with house.client("alice", groups=["g1"], toolsets=["admin"]) as alice:
            lines = await exported(alice, 200)
        memory = house.household.memory.of(Scope("alice", None, frozenset({"g1"})))
        for line in lines[1:]:
            for name in line:
                for value in (None, 7, [], {}, "\ud800", "x" * 10, 10**30, [{}]):
                    taken = memory.take_in([line | {name: value}])
                    assert taken.inserted + taken.ignored + len(taken.failed) <= 1
        newer = {"kind": "about", "format": "shiguan", "version": 9}
        assert len(memory.take_in([7, None, [], {"kind": "about"}, newer]).failed) == 5


async def test_a_wrong_cursor_is_refused_in_one_sentence(tmp_path: Path) -> None:
    async with home(tmp_path / "one") as house, house.client("alice", toolsets=["admin"]) as alice:
        for cursor in ("messages:x", "secrets", "events:99999999999999999999999"):
            assert "cursor" in await alice.refused("export", cursor=cursor)


async def test_markdown_has_the_profile_the_events_with_their_evidence_and_each_conversation(tmp_path: Path) -> None:
    async with home(tmp_path / "one") as house:
        await live(house)
        async with house.client("alice", groups=["g1"], toolsets=["admin"]) as alice:
            lines = await exported(alice, 200)
    with ExportFolder(tmp_path / "out") as folder:
        writer = MarkdownExport(folder)
        writer.write(lines[:3])
        writer.write(lines[3:])
    out = tmp_path / "out"
    told = {path.relative_to(out).as_posix(): path.read_text("utf-8") for path in out.rglob("*.md")}
    assert "爱丽丝种了三棵榅桲树" in told["profile.md"]
    assert "[`m3`](conversations/c1.md)" in told["events.md"]
    assert told["conversations/c1.md"].count("\n# ") == 0
    assert "> 院子里种了三棵榅桲树。\n> `code` & <b>" in told["conversations/c1.md"]
    assert told["memos.md"].count("Noted the garden.") == 2
    assert any(name.startswith("profile-history/") for name in told)


async def test_markdown_has_pinned_notes_and_the_statements_of_a_group_with_their_log(tmp_path: Path) -> None:
    group, moment = Owner("group", "g1"), Moment(1_772_589_600_000, StrengthRule())
    toolsets = ["admin", "pinned"]
    async with home(tmp_path / "one") as house, house.client("alice", group="g1", toolsets=toolsets) as alice:
        await alice.call("memory_add", text="Answer in Chinese.\n请用中文")
        with house.household.database.write() as connection:
            made = moment.create("合唱团周二排练", ["排练"], "said so", ["m1"])
            GroupStore(house.household.database).apply(connection, group, made)
        lines = await exported(alice, 200)
    assert {line["kind"] for line in lines} == {"about", "pinned", "group_memory"}
    with ExportFolder(tmp_path / "out") as folder:
        MarkdownExport(folder).write(lines)
    assert "- Answer in Chinese. 请用中文 (`p1`)" in (tmp_path / "out" / "pinned.md").read_text("utf-8")
    told = (tmp_path / "out" / "statements.md").read_text("utf-8")
    assert "- 合唱团周二排练\n  active · `" in told
    assert "create: 合唱团周二排练 because said so · evidence: `m1`" in told
