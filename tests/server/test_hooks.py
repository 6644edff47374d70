"""What the hooks of an agent host bring into the memory: each turn once, whatever the host does."""

from __future__ import annotations

import io
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from historian.errors import InvalidInputError, StoreError
from server.bare import BareSettings
from server.hooks.bookmarks import KEPT_SECONDS, Bookmarks
from server.hooks.events import session_ended, stopped
from server.hooks.payload import Payload
from tests.kit.home import Person, home
from tests.kit.transcripts import Transcript

TOKEN = "ghp_" + "a1B2c3D4e5" * 4


def bare(folder: Path, **more: Any) -> BareSettings:
    return BareSettings(folder, "alice", (), "Asia/Shanghai", (), **more)


@pytest.fixture
def talk(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "projects" / "session-1.jsonl")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def stop(data: Path, talk: Transcript, **more: Any) -> None:
    assert stopped(bare(data), Payload(talk.payload("Stop", **more))) == ""


async def record(person: Person) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await person.call("messages_list", page_size=200))["items"]
    return items[::-1]


async def seen(data: Path) -> tuple[list[str], list[str], int]:
    """Return the contents of the record, the memos, and how many statements there are."""
    async with home(data) as house, house.client(toolsets=("host", "evidence")) as alice:
        await alice.drained()
        with house.household.database.read() as connection:
            rows = connection.execute("SELECT text, has_new_info FROM events ORDER BY rowid").fetchall()
            said = [row[0] for row in connection.execute("SELECT content FROM messages ORDER BY row")]
        return said, [text for text, is_new in rows if not is_new], sum(is_new for _, is_new in rows)


async def test_a_turn_is_recorded_closed_with_a_memo_and_considered(data: Path, talk: Transcript) -> None:
    asked = talk.user("我对花生过敏。 Please plan dinner.")
    talk.tool("Read", "x" * 50_000)
    talk.assistant("Let me look.")
    answered = talk.assistant("晚餐：番茄面，without peanuts.")
    talk.assistant("a subagent speaks", isSidechain=True)
    stop(data, talk)
    async with home(data) as house, house.client(toolsets=("host", "evidence")) as alice:
        await alice.drained()
        said = await record(alice)
        assert [one["message_id"] for one in said][0::2] == [asked, answered]
        assert {one["conversation_id"] for one in said} == {"session-1"}
        assert said[0]["sender_id"] == "alice"
        found = (await alice.call("search_events", query="花生 peanuts 番茄面"))["events"]
        texts = {one["text"]: one["message_ids"] for one in found}
        assert texts["我对花生过敏。 Please plan dinner. → 晚餐：番茄面，without peanuts."] == [
            one["message_id"] for one in said
        ]
        assert texts.get("alice 对花生过敏。") == [asked]


async def test_a_stop_that_comes_twice_brings_a_turn_once(data: Path, talk: Transcript) -> None:
    """Also where no bookmark remembers it, as with two hooks at once."""
    talk.user("How are the olives?")
    talk.assistant("Fine.")
    stop(data, talk)
    for bookmark in (data / "hooks").iterdir():
        bookmark.unlink()
    stop(data, talk, stop_hook_active=True)
    stop(data, talk)
    assert await seen(data) == (["How are the olives?", "Fine."], ["How are the olives? → Fine."], 0)


async def test_each_stop_brings_what_is_new_and_an_interrupted_turn_is_not_lost(data: Path, talk: Transcript) -> None:
    talk.user("First question")
    talk.assistant("First answer")
    stop(data, talk)
    talk.user("Interrupted question")
    talk.user("[Request interrupted by user]")
    talk.user("第二个问题")
    talk.assistant("第二个回答")
    stop(data, talk)
    said, noted, _ = await seen(data)
    assert said == ["First question", "First answer", "Interrupted question", "第二个问题", "第二个回答"]
    assert noted == ["First question → First answer", "第二个问题 → 第二个回答"]


async def test_a_line_that_is_still_being_written_waits_for_the_next_look(data: Path, talk: Transcript) -> None:
    talk.user("Wait for it")
    half = json.dumps({"type": "assistant", "uuid": "u-half", "sessionId": "session-1"}).encode()
    talk.raw(half[:20])
    stop(data, talk, last_assistant_message="The answer that is not written yet")
    said, noted, _ = await seen(data)
    assert (said, noted) == (["Wait for it"], ["Wait for it → The answer that is not written yet"])
    talk.raw(half[20:] + b"\n")
    talk.assistant("The answer that is not written yet")
    session_ended(bare(data), Payload(talk.payload("SessionEnd", reason="clear")))
    said, noted, _ = await seen(data)
    assert (said, len(noted)) == (["Wait for it", "The answer that is not written yet"], 1)


async def test_a_turn_that_the_agent_closed_itself_gets_no_second_memo_and_is_not_considered(
    data: Path, talk: Transcript
) -> None:
    talk.user("I'm allergic to walnuts.")
    talk.tool("mcp__plugin_shiguan_shiguan__end")
    talk.assistant("Noted.")
    stop(data, talk)
    assert await seen(data) == (["I'm allergic to walnuts.", "Noted."], [], 0)


async def test_the_end_of_a_session_brings_what_no_stop_has_brought_without_a_memo(
    data: Path, talk: Transcript
) -> None:
    talk.user("I'm allergic to walnuts.")
    session_ended(bare(data), Payload(talk.payload("SessionEnd", reason="other")))
    said, noted, statements = await seen(data)
    assert (said, noted, statements) == (["I'm allergic to walnuts."], [], 1)


async def test_credentials_are_masked_and_what_cannot_be_stored_stops_nothing(data: Path, talk: Transcript) -> None:
    talk.user(f"My key is {TOKEN} ok")
    talk.raw(b'{"broken\n\xff\xfe\n[1]\nnull\n{"type":"user"}\n')
    talk.user("\x00 with NUL")
    talk.raw(b"{" * 100_000 + b"\n")
    talk.assistant("Good 🐈")
    stop(data, talk)
    (said, answered), (noted,), _ = await seen(data)
    assert said.startswith("My key is [masked")
    assert answered == "Good 🐈"
    assert noted.startswith("My key is [masked")
    assert noted.endswith("→ Good 🐈")


async def test_what_was_forgotten_while_it_waited_is_not_recorded(data: Path, talk: Transcript) -> None:
    """P102: one job holds several messages; forgetting takes out one of them."""
    talk.user("The cellar key hangs behind the quince tree.")
    talk.assistant("I will not tell.")
    stop(data, talk)
    async with home(data, run=False) as house, house.client(toolsets=("host", "admin")) as alice:
        asked = await alice.call("forget", query="quince")
        await alice.call("forget", query="quince", confirm=asked["confirm"])
    said, noted, _ = await seen(data)
    assert said == ["I will not tell."]
    assert not [one for one in noted if "quince" in one]


async def test_a_long_history_is_recorded_and_only_its_newest_part_is_considered(data: Path, talk: Transcript) -> None:
    for number in range(450):
        talk.user(f"Message {number}")
    stop(data, talk)
    with_consider: list[int] = []
    for path in sorted((data / "queues" / "pending").glob("*.json")):
        payload = json.loads(path.read_text())["payload"]
        if payload.get("consider"):
            with_consider.append(len(payload["messages"]))
    assert with_consider == [40]
    said, _, _ = await seen(data)
    assert said == [f"Message {number}" for number in range(450)]


def test_a_transcript_that_is_missing_or_no_file_is_passed_over(data: Path, talk: Transcript, tmp_path: Path) -> None:
    odd = ("/dev/zero", "\0", "x" * 5000, "~nosuchuser/x.jsonl")
    for path in ("", str(tmp_path / "nothing.jsonl"), str(tmp_path), *odd):
        assert stopped(bare(data), Payload(talk.payload("Stop") | {"transcript_path": path})) == ""
    assert stopped(bare(data), Payload({"session_id": 7, "transcript_path": ["x"]})) == ""
    assert not data.exists()


def test_a_transcript_that_was_written_anew_is_read_from_its_beginning(data: Path, talk: Transcript) -> None:
    data.mkdir()
    Bookmarks(data).put(talk.path, 1_000_000)
    talk.user("From the beginning")
    stop(data, talk)
    assert len([*(data / "queues" / "pending").glob("*.json")]) == 1
    assert Bookmarks(data).get(talk.path) == talk.path.stat().st_size


def test_old_bookmarks_are_dropped_and_hold_nothing_but_a_number(data: Path, talk: Transcript) -> None:
    talk.user("Anything")
    stop(data, talk)
    (bookmark,) = (data / "hooks").iterdir()
    assert bookmark.read_text().isdigit()
    assert talk.session not in bookmark.name
    old = time.time() - KEPT_SECONDS - 60
    os.utime(bookmark, (old, old))
    Bookmarks(data).sweep()
    assert [*(data / "hooks").iterdir()] == []


def test_a_bookmark_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "hooks").write_text("a file")
    with pytest.raises(StoreError):
        Bookmarks(tmp_path).put(tmp_path / "t", 1)
    assert Bookmarks(tmp_path).get(tmp_path / "t") is None


@pytest.mark.parametrize("text", [b"", b"nonsense", b"[]", b'"x"', b"\xff", b"[" * 100_000, b'{"a": '])
def test_stdin_that_is_no_object_is_refused_in_a_sentence(text: bytes) -> None:
    with pytest.raises(InvalidInputError, match="reads a JSON object"):
        Payload.read(io.BytesIO(text))
