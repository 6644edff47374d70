"""Whatever is sent or found on disk: one clear sentence, and nothing that was acknowledged is lost."""

from __future__ import annotations

import json
import re
from datetime import UTC
from pathlib import Path
from typing import Any

import anyio
import pytest

from historian.errors import InvalidInputError
from historian.intake import message_from
from tests.kit.home import Home, Person, home

MEGABYTE = "很长的话 " * 200_000
CONTROLS = ["a\x00b", "a\x07b", "\x1b[31mred", "half \ud83d", "\udc00", "a\x85b"]


def clear(sentence: str) -> str:
    assert 0 < len(sentence) < 400, sentence
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    assert not re.search(r"pydantic|Traceback|\.py\b|sqlite|Error\b|/tmp/", sentence), sentence
    sentence.encode()
    return sentence


def message(number: int, **changed: Any) -> dict[str, Any]:
    """Return a message as a host sends it; a change to None takes a field away."""
    whole = {
        "message_id": f"m{number}",
        "conversation_id": "c",
        "role": "user",
        "content": f"Message {number}",
        "ts": f"2026-05-01T10:{number:02d}:00+08:00",
    }
    return {name: value for name, value in (whole | changed).items() if value is not None}


def recorded(house: Home) -> list[str]:
    with house.household.database.read() as connection:
        return [row[0] for row in connection.execute("SELECT content FROM messages ORDER BY row")]


# ---- end


@pytest.mark.parametrize("field", ["memo", "location"])
@pytest.mark.parametrize("text", [*CONTROLS, MEGABYTE])
async def test_text_that_cannot_be_kept_is_refused_in_one_sentence(tmp_path: Path, field: str, text: str) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        assert field in clear(await alice.refused("end", **({"memo": "x"} | {field: text})))
        assert (await alice.call("memory_status"))["pending"] == 0


@pytest.mark.parametrize("text", [*CONTROLS, MEGABYTE])
async def test_the_observation_that_is_wrong_is_named(tmp_path: Path, text: str) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        assert "observations[1]" in clear(await alice.refused("end", observations=["Bo lives in Bern.", text]))


async def test_ten_thousand_observations_are_refused_with_the_bound(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        sentence = clear(await alice.refused("end", observations=[f"Fact {n}." for n in range(10_000)]))
        assert "10000" in sentence
        assert "32" in sentence


@pytest.mark.parametrize(
    "source",
    [*CONTROLS, MEGABYTE, "<message>" * 100_000, "<message><content>" * 50_000 + "</message>", "\x00\x07", " "],
)
async def test_a_quoted_message_never_blocks_a_turn(tmp_path: Path, source: str) -> None:
    """P32: nor does it take long."""
    async with home(tmp_path) as house, house.client() as alice:
        with anyio.fail_after(20):
            await alice.remember(
                "Bo 对花生过敏。", source_message=source, recent_messages=[source, {"content": source}]
            )
        assert await alice.texts("花生") == ["Bo 对花生过敏。"]
        for content in recorded(house):
            assert 0 < len(content) <= 800
            assert not re.search(r"[\x00\x07\x1b\ud800-\udfff]", content)


async def test_blank_observations_are_passed_over_and_the_others_kept(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("", "Bo lives in Bern.", " \u3000", "Mia 住在杭州。", source_message="x")
        assert sorted(await alice.texts("Bo Mia lives 住在")) == ["Bo lives in Bern.", "Mia 住在杭州。"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_events", {"query": MEGABYTE}),
        ("search_profiles", {"query": MEGABYTE}),
        *((tool, {"query": text}) for tool in ("search_events", "search_profiles") for text in CONTROLS),
    ],
)
async def test_a_search_for_anything_answers(tmp_path: Path, tool: str, arguments: dict[str, Any]) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Alice lives in Bern.", source_message="I live in Bern")
        with anyio.fail_after(20):
            await alice.call(tool, **arguments)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_status", {"job_id": "no-such-job"}),
        ("memory_status", {"job_id": "../../etc/passwd"}),
        ("memory_status", {"job_id": "x" * 100_000}),
        ("memory_status", {"job_id": "\ud800"}),
        ("memory_status", {"job_id": "\x00"}),
        ("get_profile", {"entity_id": "nobody"}),
        ("get_profile", {"entity_id": "../alice"}),
        ("get_profile", {"entity_type": "group"}),
        ("get_profile", {"entity_type": "group", "entity_id": "nowhere"}),
        ("get_profile", {"entity_id": "\ud800"}),
        ("end", {"memo": "x", "message_ids": ["nothing"]}),
        ("end", {"memo": "x", "message_ids": ["\ud800"]}),
        ("end", {"memo": "x", "message_ids": ["x" * 600]}),
    ],
)
async def test_an_id_of_nothing_is_answered_in_one_sentence(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        clear(await alice.refused(tool, **arguments))


# ---- messages_append


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ("just text", "object"),
        (None, "object"),
        ([], "object"),
        ({}, "role"),
        (message(1, role="robot"), "role"),
        (message(1, role=None), "role"),
        (message(1, role=["user"]), "role"),
        (message(1, ts=None), "ts"),
        (message(1, ts=True), "ts"),
        (message(1, ts=""), "time"),
        (message(1, ts="yesterday"), "time"),
        (message(1, ts="2026-02-30T10:00:00Z"), "time"),
        (message(1, ts="0900-01-01T00:00:00Z"), "time"),
        (message(1, ts="3000-01-01T00:00:00Z"), "time"),
        (message(1, ts=1e300), "time"),
        (message(1, content=None), "content"),
        (message(1, content="  \n"), "content"),
        (message(1, content=17), "content"),
        (message(1, content="a\x00b"), "content"),
        (message(1, content="half \ud83d"), "content"),
        (message(1, content="x" * 1_000_001), "content"),
        (message(1, conversation_id=None), "conversation_id"),
        (message(1, conversation_id=" "), "conversation_id"),
        (message(1, conversation_id="x" * 600), "conversation_id"),
        (message(1, message_id="\x07"), "message_id"),
        (message(1, message_id=["a"]), "message_id"),
        (message(1, sender_id={"id": 1}), "sender_id"),
        (message(1, reply_to="\ud800"), "reply_to"),
        (message(1, colour="red"), "colour"),
        (message(1, user_id="bob"), "user_id"),
        (message(1, meta="text"), "meta"),
        (message(1, meta={"x": "y" * 20_000}), "meta"),
        (message(1, meta={"x": "half \ud83d"}), "surrogate"),
    ],
)
async def test_a_bad_message_is_named_by_its_place_and_the_others_are_recorded(
    tmp_path: Path, bad: object, named: str
) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        answer = await alice.call("messages_append", messages=[message(0), bad, message(2)])
        assert (answer["inserted"], answer["ignored"]) == (2, 0)
        [failure] = answer["failed"]
        assert failure["index"] == 1
        assert named in clear(failure["reason"])
        assert recorded(house) == ["Message 0", "Message 2"]


@pytest.mark.parametrize("meta", [{"x": float("nan")}, {"x": float("inf")}, {"x": {1, 2}}])
def test_meta_that_is_not_json_is_refused(meta: object) -> None:
    """A client may bring it past the protocol: from a file, or from a host's own code."""
    with pytest.raises(InvalidInputError, match="meta is not JSON"):
        message_from(message(1, meta=meta), UTC)


async def test_a_message_of_one_megabyte_and_one_with_control_characters_are_kept_whole(tmp_path: Path) -> None:
    long = "很长的话 " * 199_999
    async with home(tmp_path, run=False) as house, house.client() as alice:
        odd = "\x1b[31mred\x07 тест 👩‍👩‍👧 e\u0301"
        answer = await alice.call("messages_append", messages=[message(0, content=long), message(1, content=odd)])
        assert answer == {"inserted": 2, "ignored": 0, "failed": [], "warnings": [], "job_ids": []}
        assert recorded(house) == [long, odd]


async def test_messages_may_come_as_json_and_repeating_them_changes_nothing(tmp_path: Path) -> None:
    """P97, P33."""

    async with home(tmp_path, run=False) as house, house.client() as alice:
        messages = [message(n, message_id=None) for n in range(3)]
        assert (await alice.call("messages_append", messages=json.dumps(messages)))["inserted"] == 3
        assert await alice.call("messages_append", messages=messages) == {
            "inserted": 0,
            "ignored": 3,
            "failed": [],
            "warnings": [],
            "job_ids": [],
        }
        assert await alice.call("messages_append", messages=message(0, content="else")) == {
            "inserted": 1,
            "ignored": 0,
            "failed": [],
            "warnings": [],
            "job_ids": [],
        }
        assert (await alice.call("messages_append", messages=[]))["inserted"] == 0


async def test_a_host_cannot_pretend_that_a_message_is_a_stand_in(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        await alice.call("messages_append", messages=[message(0, meta={"via": "end", "kept": 1})])
        with house.household.database.read() as connection:
            assert connection.execute("SELECT stand_in, meta FROM messages").fetchone() == (0, '{"kept": 1}')


# ---- what lies on disk


async def test_a_corrupt_job_file_is_set_aside_and_the_good_ones_are_done(tmp_path: Path) -> None:
    """P13."""
    async with home(tmp_path, run=False) as house, house.client() as alice:
        good = [(await alice.call("end", observations=[f"Parcel {n} 到了。"]))["job_id"] for n in range(3)]
    pending = tmp_path / "queues" / "pending"
    half = (pending / f"{good[1]}.json").read_bytes()
    for name, data in (
        ("0" * 32, half[: len(half) // 2]),
        ("1" * 32, b""),
        ("2" * 32, b"\xff\xfe\x00"),
        ("3" * 32, b"[" * 100_000),
        ("f" * 32, b'{"schema": 99}'),
    ):
        (pending / f"{name}.json").write_bytes(data)
    async with home(tmp_path) as house, house.client() as alice:
        for job in good:
            await alice.settled(job)
        await alice.remember("Parcel 9 到了。", source_message="x")
        assert len(await alice.texts("Parcel 到了", top_k=50)) == 4
        kept = {path.stem.partition(".")[0] for path in (tmp_path / "queues" / "failed").iterdir()}
        assert kept >= {"0" * 32, "1" * 32, "2" * 32, "3" * 32, "f" * 32}


async def test_a_job_that_does_not_say_when_it_was_made_stops_nothing(tmp_path: Path) -> None:
    """P13."""
    async with home(tmp_path, run=False) as house, house.client() as alice:
        job = (await alice.call("end", memo="订了票。", observations=["Parcel 1 到了。"]))["job_id"]
    path = tmp_path / "queues" / "pending" / f"{job}.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document | {"created_at": "the day before"}), encoding="utf-8")
    async with home(tmp_path, run=False) as house, house.client() as alice:
        assert [memo["text"] for memo in (await alice.call("memory_status"))["memos"]] == ["订了票。"]
    async with home(tmp_path) as house, house.client() as alice:
        await alice.settled(job)
        assert await alice.texts("Parcel 到了") == ["Parcel 1 到了。"]


async def test_a_job_whose_payload_makes_no_sense_fails_alone(tmp_path: Path) -> None:
    """P13, P27: a document that is a job, but not one that can be done."""
    (tmp_path / "shiguan.toml").write_text("[queue]\njob_max_retries = 0\n")
    async with home(tmp_path) as house, house.client() as alice:
        odd = [
            house.household.queue.enqueue("end", "user:alice", payload).job_id
            for payload in ({}, {"scope": 5}, {"turn": {"memo": "x"}, "session": {}, "ended_at": "x"})
        ]
        odd.append(house.household.queue.enqueue("riddle", "user:alice", {}).job_id)
        await alice.remember("Parcel 9 到了。", source_message="x")
        for job in odd:
            assert (await alice.settled(job, "failed"))["error"]
        status = await alice.call("memory_status")
        assert {failure["job_id"] for failure in status["failures"]} == set(odd)
        for failure in status["failures"]:
            clear(failure["reason"])


async def profile_of(alice: Person) -> tuple[str, list[str]]:
    answer = await alice.call("get_profile")
    return answer["text"], answer["warnings"]


@pytest.mark.parametrize(
    "broken",
    [
        b"---\nentity_type: [user\n---\n- I wrote this by hand\n",
        b"---\nentity_type: user\nentity_id: bob\n---\n- I wrote this by hand\n",
        b"\xff\xfe- I wrote this by hand\n",
        b"---\n- I wrote this by hand\n",
    ],
)
async def test_a_profile_broken_by_hand_still_answers_with_a_warning_and_its_text_is_kept(
    tmp_path: Path, broken: bytes
) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Alice 住在杭州。", source_message="x")
        path = tmp_path / "profiles" / "users" / "alice.md"
        path.write_bytes(broken)
        text, warnings = await profile_of(alice)
        assert warnings
        clear(warnings[0])
        assert "Alice 住在杭州。" in text
        assert "杭州" in str((await alice.call("search_profiles", query="Alice 住在杭州"))["profiles"])
        await alice.remember("Alice 养猫。", source_message="y")
        text, warnings = await profile_of(alice)
        assert "Alice 住在杭州。" in text
        assert "Alice 养猫。" in text
        assert warnings == []
        history = (tmp_path / "profiles" / "history" / "users" / "alice").iterdir()
        assert any(broken in file.read_bytes() for file in history)


async def test_a_profile_edited_by_hand_is_read_searched_and_merged_into(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Alice 住在杭州。", source_message="x")
        path = tmp_path / "profiles" / "users" / "alice.md"
        path.write_text(path.read_text(encoding="utf-8") + "- Alice plays the cello.\n", encoding="utf-8")
        assert "cello" in (await profile_of(alice))[0]
        assert [hit["snippet"] for hit in (await alice.call("search_profiles", query="cello"))["profiles"]] == [
            "Alice plays the cello."
        ]
        await alice.remember("Alice 养猫。", source_message="y")
        text = path.read_text(encoding="utf-8")
        assert [words in text for words in ("杭州", "cello", "养猫")] == [True] * 3


async def test_what_was_acknowledged_between_mistakes_is_all_there(tmp_path: Path) -> None:
    """P26: good and bad calls in turns; what has a receipt is found, the rest left no trace."""
    async with home(tmp_path) as house, house.client() as alice:
        receipts = []
        for number in range(6):
            receipts.append((await alice.call("end", observations=[f"Parcel {number} 到了。"]))["job_id"])
            await alice.refused("end", observations=[f"Parcel {number} went.", "\x00"])
            await alice.refused("end", observation=f"Parcel {number} went.")
            await alice.call("messages_append", messages=[message(number, content=f"said {number}"), {"bad": 1}])
        for job in receipts:
            await alice.settled(job)
        assert sorted(await alice.texts("Parcel 到了 went", top_k=50)) == [f"Parcel {n} 到了。" for n in range(6)]
        assert recorded(house) == [f"said {number}" for number in range(6)]
        status = await alice.call("memory_status")
        assert (status["pending"], status["processing"], status["failed"]) == (0, 0, 0)
