"""`end` through a real client: what is acknowledged, what becomes of it, and what it rests on."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from historian.clock import FixedClock
from tests.kit.home import Home, Person, home

SECONDS = 60


async def together(calls: list[Callable[[], Awaitable[dict[str, Any]]]]) -> list[dict[str, Any]]:
    """Make all calls at once and return their answers in order."""
    answers: list[dict[str, Any]] = [{}] * len(calls)

    async def make(index: int) -> None:
        answers[index] = await calls[index]()

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            for index in range(len(calls)):
                tasks.start_soon(make, index)
    return answers


async def events(person: Person, query: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await person.call("search_events", query=query, top_k=200, **more))["events"]
    return found


async def event(person: Person, query: str) -> dict[str, Any]:
    [only] = await events(person, query)
    return only


def rows(house: Home, table: str) -> int:
    with house.household.database.read() as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def message(house: Home, message_id: str, owner: str = "user:alice") -> tuple[str, str, str]:
    """Return (id, text, role) of the message that an id or alias leads to."""
    [found] = house.household.memory._parts.record.within(frozenset({owner})).get([message_id])
    return found.message.message_id, found.message.content, found.message.role


# ---- the receipt


async def test_a_receipt_names_a_job_and_has_nothing_to_note_as_long_as_all_is_well(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        receipt = await alice.call("end", memo="Booked it.", observations=["Bo 2026-03-01 搬到杭州。"])
        assert receipt.keys() == {"job_id", "queued", "duplicate", "gate", "note"}
        assert receipt["queued"]
        assert not receipt["duplicate"]
        assert receipt["gate"] == []
        assert re.fullmatch(r"[0-9a-f]{32}", receipt["job_id"])
        assert (await alice.call("memory_status", job_id=receipt["job_id"]))["job"]["state"] == "pending"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"memo": "", "observations": []},
        {"memo": " \n\t", "observations": ["", "  "]},
        {"source_message": "hello"},
        {"force": True, "message_ids": [], "location": "Bern"},
        {"observations": ""},
        {"new_info": ""},
    ],
)
async def test_an_empty_turn_is_closed_and_nothing_is_queued(tmp_path: Path, arguments: dict[str, Any]) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        receipt = await alice.call("end", **arguments)
        assert receipt == {"job_id": None, "queued": False, "duplicate": False, "gate": [], "note": ""}
        assert (await alice.call("memory_status"))["pending"] == 0


async def test_observations_without_a_word_are_nothing_to_remember_and_the_receipt_says_so(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        receipt = await alice.call("end", observations=["", "  ", "\u200b", ".", "……？！"])
        assert (receipt["job_id"], receipt["queued"], receipt["gate"]) == (None, False, [])
        assert "nothing to remember" in receipt["note"]
        for said in ("茶", "7", "é", "♥"):
            assert (await alice.call("end", observations=["…", said]))["queued"]
        assert (await alice.call("end", observations=["."], memo="Waved."))["note"] == ""
        assert (await alice.call("memory_status"))["pending"] == 5


@pytest.mark.parametrize(
    ("observation", "kind", "found"),
    [
        ("Bo 昨天去了杭州。", "time", "昨天"),
        ("Bo went to Bern yesterday.", "time", "yesterday"),
        ("他在杭州买了房。", "pronoun", "他"),
        ("She bought a flat in Bern.", "pronoun", "She"),
        ("Bo 住在这里。", "place", "这里"),
        ("Bo 的 deadline 是 tomorrow。", "time", "tomorrow"),
    ],
)
async def test_the_gate_tells_the_writer_at_once_and_the_job_is_queued_all_the_same(
    tmp_path: Path, observation: str, kind: str, found: str
) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        receipt = await alice.call("end", observations=["Bo lives in Bern.", observation])
        assert receipt["queued"]
        assert [(a["index"], a["kind"], a["found"]) for a in receipt["gate"]] == [(1, kind, found)]
        assert found in receipt["gate"][0]["hint"]
        assert receipt["gate"][0]["hint"].endswith(".")
        forced = await alice.call("end", observations=["Bo lives in Bern.", observation], force=True)
        assert forced["gate"] == []
        assert forced["job_id"] != receipt["job_id"]


async def test_what_is_forced_is_stored_as_worded_without_a_flag(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("最近 Bo 在学德语。", source_message="最近 Bo 在学德语。", force=True)
        stored = await event(alice, "德语")
        assert stored["text"] == "最近 Bo 在学德语。"
        assert stored["flags"] == []


# ---- repeats


async def test_the_same_turn_within_ten_minutes_is_a_repeat_and_later_a_new_one(tmp_path: Path) -> None:
    clock = FixedClock(datetime(2026, 5, 1, 12, tzinfo=UTC))
    async with home(tmp_path, clock=clock, run=False) as house, house.client() as alice:
        turn = {"memo": "Booked it.", "observations": ["Bo lives in Bern."]}
        first = await alice.call("end", **turn)
        clock.advance(seconds=599)
        second = await alice.call("end", **turn)
        assert second == {**first, "duplicate": True}
        clock.advance(seconds=1)
        third = await alice.call("end", **turn)
        assert not third["duplicate"]
        assert third["job_id"] != first["job_id"]


async def test_a_restart_does_not_forget_what_repeats(tmp_path: Path) -> None:
    clock = FixedClock(datetime(2026, 5, 1, 12, tzinfo=UTC))
    turn = {"observations": ["Bo lives in Bern."]}
    async with home(tmp_path, clock=clock, run=False) as house, house.client() as alice:
        waiting = await alice.call("end", **turn)
    async with home(tmp_path, clock=clock) as house, house.client() as alice:
        assert await alice.call("end", **turn) == {**waiting, "duplicate": True}
        await alice.settled(waiting["job_id"])
    clock.advance(seconds=300)
    async with home(tmp_path, clock=clock, run=False) as house, house.client() as alice:
        assert await alice.call("end", **turn) == {**waiting, "duplicate": True}
        clock.advance(seconds=300)
        assert not (await alice.call("end", **turn))["duplicate"]


async def test_a_request_id_makes_a_repeat_a_repeat_for_good(tmp_path: Path) -> None:
    clock = FixedClock(datetime(2026, 5, 1, 12, tzinfo=UTC))
    async with home(tmp_path, clock=clock, run=False) as house:
        async with house.client(request_id="r1") as alice:
            first = await alice.call("end", observations=["Bo lives in Bern."])
            clock.advance(seconds=3600)
            assert await alice.call("end", observations=["Bo lives in Bern."]) == {**first, "duplicate": True}
            other = await alice.call("end", observations=["Bo lives in Basel."])
            assert not other["duplicate"]
        async with house.client(request_id="r2") as alice:
            assert not (await alice.call("end", observations=["Bo lives in Bern."]))["duplicate"]


async def test_a_turn_whose_job_failed_may_be_closed_anew(tmp_path: Path) -> None:
    """P27: the failure is told with its reason, and does not swallow the next try."""
    (tmp_path / "shiguan.toml").write_text("[queue]\njob_max_retries = 0\n")
    (tmp_path / "profiles").write_text("in the way")
    async with home(tmp_path) as house, house.client() as alice:
        failed = await alice.call("end", observations=["Bo 住在杭州。"])
        job = await alice.settled(failed["job_id"], "failed")
        assert job["error"]
        assert str(tmp_path) not in job["error"]
        status = await alice.call("memory_status")
        assert [failure["job_id"] for failure in status["failures"]] == [failed["job_id"]]
        assert status["hint"]
        (tmp_path / "profiles").unlink()
        again = await alice.call("end", observations=["Bo 住在杭州。"])
        assert not again["duplicate"]
        await alice.settled(again["job_id"])
        assert await alice.texts("杭州") == ["Bo 住在杭州。"]
        house.household.queue.discard(failed["job_id"])
        assert (await alice.call("memory_status", job_id=failed["job_id"]))["job"]["state"] == "failed"


async def test_other_people_and_groups_have_turns_of_their_own(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house:
        ids = []
        for user, group in (("alice", None), ("bob", None), ("alice", "hiking"), ("bob", "hiking")):
            async with house.client(user, group=group) as person:
                receipt = await person.call("end", observations=["Bo lives in Bern."])
                assert not receipt["duplicate"]
                ids.append(receipt["job_id"])
        assert len(set(ids)) == 4


async def test_the_same_call_made_many_times_at_once_is_one_job(tmp_path: Path) -> None:
    """P33."""
    async with home(tmp_path, run=False) as house, house.client() as alice:
        answers = await together([lambda: alice.call("end", observations=["Bo 住在杭州。"])] * 16)
        assert len({answer["job_id"] for answer in answers}) == 1
        assert sorted(answer["duplicate"] for answer in answers) == [False] + [True] * 15
        assert (await alice.call("memory_status"))["pending"] == 1


async def test_a_retry_after_the_client_gave_up_waiting_stores_nothing_twice(tmp_path: Path) -> None:
    """P33: the client times out, though the server took the turn, and asks again."""
    async with home(tmp_path) as house, house.client() as alice:
        with anyio.move_on_after(0.001):
            await alice.call("end", observations=["Bo 住在杭州。"], source_message="Bo 住在杭州。")
        await alice.remember("Bo 住在杭州。", source_message="Bo 住在杭州。")
        assert len(await events(alice, "杭州")) == 1
        assert rows(house, "receipts") == 1
        assert rows(house, "messages") == 1


async def test_twenty_turns_closed_at_once_are_twenty_jobs(tmp_path: Path) -> None:
    """P12, P26."""
    async with home(tmp_path) as house, house.client() as alice:

        def closing(number: int) -> Callable[[], Awaitable[dict[str, Any]]]:
            return lambda: alice.call("end", observations=[f"Parcel {number} weighs {number} kg."])

        answers = await together([closing(number) for number in range(20)])
        assert len({answer["job_id"] for answer in answers}) == 20
        for answer in answers:
            await alice.settled(answer["job_id"])
        found = [item["text"] for item in await events(alice, "parcel weighs")]
        assert sorted(found) == sorted(f"Parcel {number} weighs {number} kg." for number in range(20))


# ---- memos


async def test_a_memo_can_be_read_before_the_historian_has_run(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        await alice.call("end", memo="订了两张票。")
        receipt = await alice.call("end", memo="Told Bo about the tickets.")
        memos = (await alice.call("memory_status"))["memos"]
        assert [memo["text"] for memo in memos] == ["Told Bo about the tickets.", "订了两张票。"]
        assert memos[0]["job_id"] == receipt["job_id"]
        assert memos[0]["timestamp_local"].endswith("+08:00")
        async with house.client("bob") as bob:
            assert (await bob.call("memory_status"))["memos"] == []


async def test_a_memo_alone_suffices_and_is_an_event_without_news(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        receipt = await alice.call("end", memo="Booked two tickets for the opera.")
        await alice.settled(receipt["job_id"])
        stored = await event(alice, "opera tickets")
        assert stored["has_new_info"] is False
        assert "opera" not in (await alice.call("get_profile"))["text"]
        assert (await alice.call("search_profiles", query="opera"))["profiles"] == []
        [memo] = (await alice.call("memory_status"))["memos"]
        assert memo["text"] == "Booked two tickets for the opera."


# ---- evidence


async def test_the_message_of_the_turn_becomes_the_evidence_of_what_was_learnt(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Alice 对花生过敏。", source_message="我对花生过敏")
        stored = await event(alice, "花生")
        [message_id] = stored["message_ids"]
        assert message(house, message_id) == (message_id, "我对花生过敏", "user")
        assert "evidence:none" not in stored["flags"]


async def test_a_later_append_of_the_same_words_takes_the_place_of_the_stand_in(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Alice 对花生过敏。", source_message="我对花生过敏")
        [stand_in] = (await event(alice, "花生"))["message_ids"]
        appended = await alice.call(
            "messages_append", messages=[turn("m1", "我对花生过敏", datetime.now(UTC).isoformat())]
        )
        assert appended["inserted"] == 1
        assert (await event(alice, "花生"))["message_ids"] == ["m1"]
        assert message(house, stand_in) == message(house, "m1") == ("m1", "我对花生过敏", "user")
        assert rows(house, "messages") == 1
        assert (await alice.call("end", memo="x", message_ids=[stand_in]))["queued"]


async def test_a_turn_that_is_in_the_record_is_not_recorded_again(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.call("messages_append", messages=[turn("m1", "我对花生过敏", datetime.now(UTC).isoformat())])
        await alice.remember("Alice 对花生过敏。", source_message=" 我对花生过敏\n")
        assert (await event(alice, "花生"))["message_ids"] == ["m1"]
        assert rows(house, "messages") == 1


async def test_the_text_of_a_framed_message_is_what_stands_in_its_content(tmp_path: Path) -> None:
    framed = (
        '<message id="7"><sender>Bo &amp; Co</sender><content>我 &lt;真的&gt; 对花生过敏</content></message>\n'
        "<message><content>I moved to Bern</content></message>"
    )
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Alice 对花生过敏。", source_message=framed)
        [message_id] = (await event(alice, "花生"))["message_ids"]
        assert message(house, message_id)[1] == "我 <真的> 对花生过敏\nI moved to Bern"


async def test_a_long_message_is_clipped_and_still_known_for_the_one_of_the_record(tmp_path: Path) -> None:
    long = "我对花生过敏，" * 200
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Alice 对花生过敏。", source_message=long)
        [stand_in] = (await event(alice, "花生"))["message_ids"]
        assert len(message(house, stand_in)[1]) == 800
        await alice.call("messages_append", messages=[turn("m1", long, datetime.now(UTC).isoformat())])
        assert message(house, stand_in) == ("m1", long, "user")


async def test_named_messages_are_the_evidence_in_their_order(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        messages = [
            turn("m1", "要不要花生?", "2026-05-01T10:00:00+08:00"),
            turn("m2", "不要", "2026-05-01T10:01:00+08:00"),
        ]
        await alice.call("messages_append", messages=messages)
        await alice.remember("Alice 不要花生。", message_ids=["m1", "m2", "m1"])
        assert (await event(alice, "花生"))["message_ids"] == ["m1", "m2"]
        assert rows(house, "messages") == 2


async def test_a_foreign_message_is_refused_in_the_same_words_as_one_that_is_not_there(tmp_path: Path) -> None:
    """P45, P48."""
    async with home(tmp_path, run=False) as house:
        async with house.client("bob") as bob:
            await bob.call("messages_append", messages=[turn("m1", "secret", "2026-05-01T10:00:00Z")])
        async with house.client("alice") as alice:
            foreign = await alice.refused("end", memo="x", message_ids=["m1"])
            unknown = await alice.refused("end", memo="x", message_ids=["m2"])
            assert foreign.replace("m1", "…") == unknown.replace("m2", "…")
            assert (await alice.call("memory_status"))["pending"] == 0


async def test_a_place_that_is_known_stands_where_here_stood(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Bo 住在这里。", source_message="Bo 住在这里。", location="杭州")
        await alice.remember("Mia works here.", source_message="Mia works here.", location="Bern")
        assert sorted(await alice.texts("Bo Mia 住 works", top_k=9)) == ["Bo 住在杭州。", "Mia works in Bern."]


def turn(message_id: str, content: str, ts: str, **more: Any) -> dict[str, Any]:
    """Return a message as a host sends it."""
    return {"message_id": message_id, "conversation_id": "c", "role": "user", "content": content, "ts": ts, **more}


# ---- time


async def test_a_message_of_long_ago_is_dated_by_its_own_day(tmp_path: Path) -> None:
    """P76: dated 2023-05-24, processed now."""
    async with home(tmp_path) as house, house.client() as alice:
        said = "I flew to Bern last week"
        await alice.call("messages_append", messages=[turn("m1", said, "2023-05-24T10:00:00+08:00")])
        await alice.remember("Alice flew to Bern last week.", message_ids=["m1"])
        stored = await event(alice, "Bern")
        assert stored["text"] == "Alice flew to Bern in the week of 2023-05-15 to 2023-05-21."
        assert stored["timestamp_local"] == "2023-05-24T10:00:00+08:00"


@pytest.mark.parametrize(
    ("observation", "meant"),
    [
        ("Alice 今天搬到杭州。", "Alice 2026-02-21 搬到杭州。"),
        ("Alice moved to Bern today.", "Alice moved to Bern on 2026-02-21."),
        ("Alice 昨天去了 Bern。", "Alice 2026-02-20 去了 Bern。"),
        ("Alice 上周二见了 Bo。", "Alice 2026-02-10 见了 Bo。"),
        ("Alice 前天晚上见了 Bo。", "Alice 2026-02-19 晚上见了 Bo。"),
        ("Alice 下个月去 Bern。", "Alice 2026-03 去 Bern。"),
    ],
)
async def test_a_day_is_that_of_the_speaker_and_not_of_the_machine(
    tmp_path: Path, observation: str, meant: str
) -> None:
    """P74, P79: 23:30 UTC is the next morning in Shanghai; words for times become dates."""
    clock = FixedClock(datetime(2026, 2, 20, 23, 30, tzinfo=UTC))
    async with home(tmp_path, clock=clock) as house, house.client(timezone="Asia/Shanghai") as alice:
        await alice.remember(observation, source_message=observation)
        stored = await event(alice, "Alice")
        assert stored["text"] == meant
        assert stored["timestamp_local"] == "2026-02-21T07:30:00+08:00"


@pytest.mark.parametrize(
    ("ts", "day"),
    [
        ("2026-02-20T23:30:00Z", "2026-02-21"),
        ("2026-02-20T23:30:00+00:00", "2026-02-21"),
        ("2026-02-21T07:30:00", "2026-02-21"),
        (1771630200, "2026-02-21"),
    ],
)
async def test_a_message_is_read_in_the_zone_of_its_user_however_its_time_is_written(
    tmp_path: Path, ts: object, day: str
) -> None:
    """P74, P75."""
    async with home(tmp_path) as house, house.client(timezone="Asia/Shanghai") as alice:
        await alice.call("messages_append", messages=[turn("m1", "我今天搬家", "", sender_id="alice") | {"ts": ts}])
        await alice.remember("Alice 今天搬家。", message_ids=["m1"])
        assert (await event(alice, "搬家"))["text"] == f"Alice {day} 搬家。"


async def test_somebody_elses_message_is_read_in_the_zone_it_names(tmp_path: Path) -> None:
    """P74."""
    async with home(tmp_path) as house, house.client(timezone="Asia/Shanghai") as alice:
        said = turn("m1", "I move today", "2026-02-20T23:30:00+01:00", sender_id="bo", sender_name="Bo")
        await alice.call("messages_append", messages=[said])
        await alice.remember("Bo moves today.", message_ids=["m1"])
        assert (await event(alice, "moves"))["text"] == "Bo moves on 2026-02-20."


async def test_the_day_on_which_clocks_change_is_a_day_like_any_other(tmp_path: Path) -> None:
    """P79."""
    clock = FixedClock(datetime(2026, 3, 29, 0, 30, tzinfo=UTC))
    async with home(tmp_path, clock=clock) as house, house.client(timezone="Europe/Berlin") as alice:
        await alice.remember(
            "Alice 昨天搬家。", "Alice paints the flat tomorrow.", source_message="昨天搬家, tomorrow paint"
        )
        assert sorted(await alice.texts("Alice 搬家 paints flat", top_k=9)) == [
            "Alice 2026-03-28 搬家。",
            "Alice paints the flat on 2026-03-30.",
        ]


async def test_every_event_has_a_time_and_one_without_evidence_says_so(tmp_path: Path) -> None:
    """P77."""
    clock = FixedClock(datetime(2026, 2, 20, 23, 30, tzinfo=UTC))
    async with home(tmp_path, clock=clock) as house, house.client() as alice:
        receipt = await alice.call("end", memo="Noted it.", observations=["Bo 住在杭州。"])
        await alice.settled(receipt["job_id"])
        for stored in await events(alice, "Bo 住在杭州 noted it"):
            assert stored["timestamp_local"] == "2026-02-21T07:30:00+08:00"
        [fact] = [item for item in await events(alice, "杭州") if item["has_new_info"]]
        assert fact["message_ids"] == []
        assert "evidence:none" in fact["flags"]


# ---- without a model


async def test_without_a_model_facts_are_kept_by_rules_and_it_is_said_that_they_are(tmp_path: Path) -> None:
    """P34."""
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Alice 昨天搬到杭州。", source_message="昨天搬到杭州")
        assert (await event(alice, "杭州"))["origin"] == "offline"
        status = await alice.call("memory_status")
        assert any("no chat model" in line for line in status["offline"])
        assert status["degraded"] == []


@pytest.mark.parametrize(
    "fact", ["Alice 对花生过敏。", "Alice 住在杭州。", "Alice is allergic to peanuts.", "Alice 用 Vim。"]
)
async def test_what_comes_in_chinese_stays_chinese_and_nothing_is_too_short(tmp_path: Path, fact: str) -> None:
    """P67, P69."""
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember(fact, source_message=fact)
        assert await alice.texts(fact) == [fact]
        assert fact in (await alice.call("get_profile"))["text"]


async def test_the_first_person_of_a_short_chinese_fact_becomes_the_speaker(tmp_path: Path) -> None:
    """P69."""
    async with home(tmp_path) as house, house.client(sender_name="小林") as alice:
        await alice.remember("我对花生过敏", source_message="我对花生过敏")
        assert await alice.texts("花生") == ["小林对花生过敏"]


@pytest.mark.parametrize(
    "facts",
    [
        ("Alice 喜欢猫。", "Alice 住杭州。"),
        ("Alice 吃辣。", "Alice 不吃辣。"),
        ("Parcel 17 was sent.", "Parcel 18 was sent."),
        ("Alice eats meat.", "Alice does not eat meat."),
        ("Bo 喜欢 jazz。", "Mia 喜欢 jazz。"),
    ],
)
async def test_two_facts_are_both_kept_however_near_they_are(tmp_path: Path, facts: tuple[str, str]) -> None:
    """P68, P81."""
    async with home(tmp_path) as house, house.client() as alice:
        for fact in facts:
            await alice.remember(fact, source_message=fact)
        assert sorted(await alice.texts(" ".join(facts))) == sorted(facts)
        assert len((await alice.call("get_profile"))["provenance"]) == 2


@pytest.mark.parametrize(
    "wordings",
    [
        ("Alice is allergic to peanuts.", "alice is allergic to peanuts", "Alice  is allergic to PEANUTS!"),
        ("Alice 对花生过敏。", "Alice 对花生过敏", "alice对花生过敏！"),
        ("Alice 的 deadline 是 2026-03-01。", "alice 的 Deadline 是 2026-03-01", "Alice 的 deadline 是 2026年3月1日"),
    ],
)
async def test_one_fact_in_other_letters_is_one_event_that_was_confirmed(
    tmp_path: Path, wordings: tuple[str, ...]
) -> None:
    """P81."""
    async with home(tmp_path) as house, house.client() as alice:
        for wording in wordings:
            await alice.remember(wording, source_message=wording)
        assert await alice.texts(wordings[0]) == [wordings[0]]
        [line] = (await alice.call("get_profile"))["provenance"]
        assert line["line"] == wordings[0]
        assert line["confirmed"] == len(wordings)
        assert len(set(line["event_ids"])) == len(wordings)


# ---- junk


async def test_what_the_server_gave_back_is_not_learnt_again(tmp_path: Path) -> None:
    """P80: the answer of a search, fed back ten times."""
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Alice 对花生过敏。", source_message="我对花生过敏")
        for number in range(10):
            [text] = await alice.texts("花生")
            await alice.remember(text, source_message=f"Question {number}?", memo=f"Answered question {number}.")
        assert len([item for item in await events(alice, "花生") if item["has_new_info"]]) == 1
        [line] = (await alice.call("get_profile"))["provenance"]
        assert line["confirmed"] == 1


async def test_a_profile_line_fed_back_confirms_nothing(tmp_path: Path) -> None:
    """P80."""
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Alice moved to Bern in 2025.", source_message="I moved to Bern in 2025.")
        [line] = (await alice.call("get_profile"))["provenance"]
        await alice.remember(line["line"], source_message="Where do I live?")
        [line] = (await alice.call("get_profile"))["provenance"]
        assert line["confirmed"] == 1


@pytest.mark.parametrize(
    ("source", "observation", "invented"),
    [("I moved to Bern.", "Jonathan moved to Bern.", "Jonathan"), ("我搬到了杭州。", "王小明搬到了杭州。", "王小明")],
)
async def test_a_person_whom_nobody_mentioned_is_flagged(
    tmp_path: Path, source: str, observation: str, invented: str
) -> None:
    """P80."""
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember(observation, source_message=source)
        assert f"person:{invented}" in (await event(alice, observation))["flags"]


async def test_replaying_the_queue_adds_no_row(tmp_path: Path) -> None:
    """P83."""
    pending, kept = tmp_path / "data" / "queues" / "pending", tmp_path / "kept"
    async with home(tmp_path / "data", run=False) as house, house.client() as alice:
        ids = [
            (await alice.call("end", memo=f"Did {n}.", observations=[f"Parcel {n}."], source_message=f"Parcel {n}"))[
                "job_id"
            ]
            for n in range(5)
        ]
    kept.mkdir()
    for name in ids:
        shutil.copy(pending / f"{name}.json", kept)
    counts, profiles = [], []
    for _ in range(3):
        async with home(tmp_path / "data") as house, house.client() as alice:
            for name in ids:
                await alice.settled(name)
            counts.append(
                [rows(house, table) for table in ("events", "messages", "memos", "receipts", "event_messages")]
            )
            profiles.append(await alice.call("get_profile"))
        for name in ids:
            shutil.copy(kept / f"{name}.json", pending)
    assert counts[0][:4] == [10, 5, 5, 5]
    assert counts == [counts[0]] * 3
    assert profiles == [profiles[0]] * 3


# ---- one request, several calls


async def test_calls_that_share_a_request_and_a_sequence_by_mistake_are_both_stored(tmp_path: Path) -> None:
    """P33: nothing acknowledged is lost when a host puts the same numbers on every call of a turn."""
    async with home(tmp_path) as house, house.client(request_id="r1", end_seq=2) as alice:
        await alice.remember("Alice moved to Bern", memo="Asked about Bern.")
        again = await alice.call("end", observations=["Alice moved to Bern"], memo="Asked about Bern.")
        assert again["duplicate"]
        await alice.remember("爱丽丝对花生过敏", memo="问了花生。")
        async with house.client(request_id="r1") as later:
            await later.remember("Alice plays the cello")
        found = {one["event_id"]: one["text"] for one in await events(alice, "Bern 花生 cello Alice")}
        assert found["r1:2:0"] == "Alice moved to Bern"
        assert found["r1:3:0"] == "爱丽丝对花生过敏"
        assert found["r1:4:0"] == "Alice plays the cello"
        memos = [memo["text"] for memo in (await alice.call("memory_status"))["memos"]]
        assert {"Asked about Bern.", "问了花生。"} <= set(memos)


# ---- a turn that the record has already


@pytest.mark.parametrize("before", [True, False])
async def test_a_framed_or_shortened_turn_is_the_message_of_the_record(tmp_path: Path, before: bool) -> None:
    """P83: with a frame around it, and cut by a setting; before the host records it and after."""
    (tmp_path / "shiguan.toml").write_text("[historian]\nsource_message_max_len = 40\n", "utf-8")
    long = "我对花生过敏，也不能吃虾，" * 9
    framed = f"<message><sender>alice</sender><content>{long}</content></message>"
    for source, content in ((long, long), (framed, framed), (long, framed), (framed, long)):
        folder = tmp_path / f"{source == long}{content == long}"
        folder.mkdir()
        shutil.copy(tmp_path / "shiguan.toml", folder)
        async with home(folder) as house, house.client(conversation_id="c1") as alice:
            told = {"message_id": "m1", "conversation_id": "c1", "role": "user", "content": content, "ts": time.time()}
            if before:
                await alice.call("messages_append", messages=[told])
            await alice.remember("爱丽丝对花生过敏", source_message=source)
            await alice.call("messages_append", messages=[told])
            assert rows(house, "messages") == 1
            [found] = await events(alice, "花生")
            assert len(found["message_ids"]) == 1
            assert message(house, found["message_ids"][0])[:2] == ("m1", content)
