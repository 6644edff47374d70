"""`end` with a chat model behind it, over real HTTP: what is stored, what waits, and what comes back."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.kit.chat import UNUSABLE, ChatAsked, Erring
from tests.kit.home import Home, Person, home, prose
from tests.kit.pauses import pauses
from tests.kit.reply import failing
from tests.kit.speaking import good, rewritten, speaking_home

SECONDS = 60


async def events(person: Person, query: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await person.call("search_events", query=query, top_k=200, **more))["events"]
    return found


async def event(person: Person, query: str) -> dict[str, Any]:
    [only] = await events(person, query)
    return only


async def lines(person: Person) -> list[str]:
    return [item["line"] for item in (await person.call("get_profile"))["provenance"]]


async def until(condition: Any) -> None:
    """Wait for what tells nobody when it comes."""
    with anyio.fail_after(SECONDS):
        for pause in pauses():
            if await condition():
                return
            await anyio.sleep(pause)


# ---- the model's work


async def test_what_a_model_phrased_is_stored_searched_and_carried_into_the_profile(tmp_path: Path) -> None:
    phrases = {"我昨天搬到了上海": "小明 2026-02-20 搬到了上海。", "I love tea": "小明 loves tea."}
    async with (
        speaking_home(tmp_path, good(phrases)) as (house, model, _),
        house.client(sender_name="小明", said_at="2026-02-21T14:30:00+08:00") as alice,
    ):
        await alice.remember("我昨天搬到了上海", "I love tea")
        moved = await event(alice, "上海")
        assert moved["text"] == "小明 2026-02-20 搬到了上海。"
        assert (moved["origin"], moved["is_absolute"], moved["flags"]) == ("model", True, ["evidence:none"])
        assert await lines(alice) == ["小明 2026-02-20 搬到了上海。", "小明 loves tea."]
    asked = [one for one in model.asked if "<observations " in one.messages[1]["content"]]
    assert len(asked) == 1
    assert asked[0].entries("observations") == ["我昨天搬到了上海", "I love tea"]
    assert "昨天 = 2026-02-20" in asked[0].entries("facts")


async def test_a_memo_costs_no_call_and_what_is_known_already_is_not_asked_again(tmp_path: Path) -> None:
    async with speaking_home(tmp_path, good()) as (house, model, _), house.client() as alice:
        await alice.remember(memo="Booked it.")
        assert model.asked == []
        await alice.remember("Bo lives in Bern.")
        asked = len(model.asked)
        await alice.remember("Bo lives in Bern!", memo="again")
        assert not any("<observations " in one.messages[1]["content"] for one in model.asked[asked:])


@pytest.mark.parametrize(
    "broken",
    ['{"statements": [{"number": 1, "te', "Sorry, here it is:", "", '{"statements": []}', '["Bo lives in Bern."]'],
)
async def test_a_broken_first_answer_is_asked_for_again(tmp_path: Path, broken: str) -> None:
    """P37: malformed JSON the first time, fine the second: the event is stored."""
    left = [broken]

    def say(asked: ChatAsked) -> object:
        if "<observations " in asked.messages[1]["content"] and left:
            return left.pop()
        return good()(asked)

    async with speaking_home(tmp_path, say) as (house, _, _endpoint), house.client() as alice:
        await alice.remember("Bo lives in Bern.")
        stored = await event(alice, "Bern")
        assert (stored["text"], stored["origin"]) == ("Bo lives in Bern.", "model")


async def test_json_inside_chatty_text_is_found(tmp_path: Path) -> None:
    """P90: prose, JSON, prose."""

    def say(asked: ChatAsked) -> object:
        if "<observations " not in asked.messages[1]["content"]:
            return good()(asked)
        return f"Sure! {{here}} it is:\n```json\n{json.dumps(rewritten(asked, {}))}\n```\nAnything else? {{no}}"

    async with speaking_home(tmp_path, say) as (house, _, _endpoint), house.client() as alice:
        await alice.remember("Bo lives in Bern.")
        assert (await event(alice, "Bern"))["origin"] == "model"


@pytest.mark.parametrize("kind", sorted(UNUSABLE))
async def test_a_model_that_never_answers_usably_loses_nothing(tmp_path: Path, kind: str) -> None:
    """P92, P37: empty, null, lists, other keys, refusals and cut off answers."""

    def say(asked: ChatAsked) -> object:
        return UNUSABLE[kind](json.dumps(good()(asked)))

    async with speaking_home(tmp_path, say) as (house, _, _endpoint), house.client(sender_name="Alice") as alice:
        job = await alice.remember("I live in Bern")
        stored = await event(alice, "Bern")
        assert (stored["text"], stored["origin"], stored["is_absolute"]) == ("Alice lives in Bern", "degraded", True)
        assert "model:unusable" in stored["flags"]
        assert await lines(alice) == ["Alice lives in Bern"]
        told = await alice.client.call_tool("memory_status", {"job_id": job})
        assert told.structured_content is not None
        assert "no usable answer" in told.structured_content["job"]["error"]
        assert ".." not in prose(told)


# ---- outages


@pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
async def test_a_failing_endpoint_keeps_no_event_back_and_the_status_says_why(tmp_path: Path, status: int) -> None:
    """P27, P34: the model always errs; the event is stored by rules, marked so, and the status says what is wrong."""
    async with (
        speaking_home(tmp_path, lambda asked: failing(status)) as (house, _, _endpoint),
        house.client(sender_name="Alice") as alice,
    ):
        receipt = await alice.call("end", observations=["I live in Bern"])

        async def stored() -> bool:
            return bool(await events(alice, "Bern"))

        await until(stored)
        found = await event(alice, "Bern")
        assert (found["text"], found["origin"]) == ("Alice lives in Bern", "degraded")
        assert any(flag.startswith("model:") for flag in found["flags"])
        assert (await alice.call("memory_status"))["degraded"]
        job = await alice.settled(receipt["job_id"])
        assert job["error"]
        assert await lines(alice) == ["Alice lives in Bern"]


async def test_a_slow_model_never_holds_up_end_or_a_search(tmp_path: Path) -> None:
    """P32: the model takes for ever; `end` answers at once, and so do searches."""
    gate = threading.Event()

    def say(asked: ChatAsked) -> object:
        gate.wait(SECONDS)
        return good()(asked)

    async with speaking_home(tmp_path, say, timeout=SECONDS) as (house, _, _endpoint), house.client() as alice:
        took: list[float] = []
        for number in range(10):
            begun = time.monotonic()
            await alice.call("end", observations=[f"Bo has {number} cats."])
            took.append(time.monotonic() - begun)
        assert await events(alice, "Bo") == []
        assert sorted(took)[len(took) // 2] < 5
        gate.set()

        async def drained() -> bool:
            return (await alice.call("memory_status"))["pending"] == 0

        await until(drained)


async def test_a_call_repeated_after_a_client_gave_up_is_stored_once(tmp_path: Path) -> None:
    """P33: the tool seems to fail, the memory appears later; the same `end` again makes no second one."""
    gate = threading.Event()

    def say(asked: ChatAsked) -> object:
        gate.wait(SECONDS)
        return good()(asked)

    async with speaking_home(tmp_path, say, timeout=SECONDS) as (house, _, _endpoint), house.client() as alice:
        first = await alice.call("end", observations=["Bo lives in Bern."])
        again = await alice.call("end", observations=["Bo lives in Bern."])
        assert again == {**first, "duplicate": True}
        gate.set()
        await alice.settled(first["job_id"])
        assert len(await events(alice, "Bern")) == 1


async def test_a_backlog_drains_after_a_restart_and_shows_its_age(tmp_path: Path) -> None:
    """P30: many pending jobs, a restart; health shows counts and the oldest age, and all are stored."""
    async with speaking_home(tmp_path, good(), run=False) as (house, _, _endpoint), house.client() as alice:
        for number in range(60):
            await alice.call("end", observations=[f"Parcel {number} went to Bern."])
        status = await alice.call("memory_status")
        assert status["pending"] == 60
        assert status["oldest_age_seconds"] >= 0
        assert status["hint"]
    async with speaking_home(tmp_path, good()) as (house, _, _endpoint), house.client() as alice:

        async def drained() -> bool:
            return (await alice.call("memory_status"))["pending"] == 0

        await until(drained)
        await until(lambda: all_stored(house, 60))


async def all_stored(house: Home, count: int) -> bool:
    with house.household.database.read() as connection:
        found = connection.execute("SELECT count(*) FROM events WHERE same_as IS NULL").fetchone()[0]
    return bool(found == count)


async def test_many_search_while_the_historian_writes(tmp_path: Path) -> None:
    """P21: fifty searches at once during writes in one process."""
    async with speaking_home(tmp_path, good()) as (house, _, _endpoint), house.client() as alice:
        jobs = [(await alice.call("end", observations=[f"Parcel {n} went to Bern."]))["job_id"] for n in range(20)]
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                for _ in range(50):
                    tasks.start_soon(events, alice, "Bern")
        for job in jobs:
            await alice.settled(job)
        assert len(await events(alice, "parcel Bern")) == 20


async def test_nearly_all_come_through_with_a_model_that_errs_in_a_fifth_of_its_answers(tmp_path: Path) -> None:
    """Success over 99 %: every job done, every fact stored once and in the profile, and most in the model's words."""
    erring = Erring(good(), 0.2, seed=3)
    facts = [f"Parcel {number} went to Bern." for number in range(60)]
    async with speaking_home(tmp_path, erring) as (house, _, _endpoint), house.client() as alice:
        jobs = [(await alice.call("end", observations=[fact]))["job_id"] for fact in facts]
        for job in jobs:
            await alice.settled(job)
        with house.household.database.read() as connection:
            stored = connection.execute("SELECT text, origin FROM events WHERE same_as IS NULL ORDER BY row").fetchall()
        assert [text for text, _ in stored] == facts
        assert sum(origin == "model" for _, origin in stored) > len(facts) * 0.7
        assert sorted(await lines(alice)) == sorted(facts)
        assert (await alice.call("memory_status"))["failed"] == 0
    assert erring.met


async def test_nearly_all_pass_the_gate_when_the_model_complies_on_retry(tmp_path: Path) -> None:
    """Over 99 % of the events pass after rewriting."""

    def say(asked: ChatAsked) -> object:
        if "<observations " not in asked.messages[1]["content"]:
            return good()(asked)
        who = "王芳" if "<violations " in asked.last else "他"
        return rewritten(asked, lambda text: text.replace("他", who).replace("昨天", "2026-02-20"))

    recent = [{"content": "王芳来了", "sender_name": "小明"}]
    async with (
        speaking_home(tmp_path, say) as (house, _, _endpoint),
        house.client(said_at="2026-02-21T14:30:00+08:00") as alice,
    ):
        observations = [f"他昨天买了 {number} 本书" for number in range(2, 32)]
        for start in range(0, 30, 10):
            await alice.remember(*observations[start : start + 10], recent_messages=recent)
        with house.household.database.read() as connection:
            passed, count = connection.execute("SELECT sum(is_absolute), count(*) FROM events").fetchone()
        assert (passed, count) == (30, 30)


# ---- upgrading


@pytest.mark.long
async def test_what_rules_wrote_during_an_outage_is_phrased_again_when_the_model_is_back(tmp_path: Path) -> None:
    away = threading.Event()
    away.set()
    phrases = {"她昨天搬到了上海": "王芳 2026-02-20 搬到了上海。"}

    def say(asked: ChatAsked) -> object:
        return failing(503) if away.is_set() else good(phrases)(asked)

    async with (
        speaking_home(tmp_path, say) as (house, _, _endpoint),
        house.client(said_at="2026-02-21T14:30:00+08:00") as alice,
    ):
        recent = [{"content": "王芳: 我搬家了"}]
        job = await alice.remember("她昨天搬到了上海", recent_messages=recent, source_message="王芳昨天搬到了上海")
        before = await event(alice, "上海")
        assert (before["text"], before["origin"]) == ("她 2026-02-20 搬到了上海", "degraded")
        away.clear()

        async def better() -> bool:
            return (await event(alice, "上海"))["origin"] == "model"

        await until(better)
        after = await event(alice, "上海")
        assert (after["text"], after["is_absolute"]) == ("王芳 2026-02-20 搬到了上海。", True)
        assert after["event_id"] == before["event_id"]
        assert after["message_ids"] == before["message_ids"]
        await until(lambda: says(alice, ["王芳 2026-02-20 搬到了上海。"]))
        [item] = (await alice.call("get_profile"))["provenance"]
        assert item["event_ids"] == [before["event_id"]]
        assert await alice.texts("王芳") == ["王芳 2026-02-20 搬到了上海。"]
        assert job


async def says(person: Person, wanted: list[str]) -> bool:
    return await lines(person) == wanted


async def test_a_folder_that_never_had_a_model_is_phrased_by_the_one_that_appears(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client(sender_name="Alice") as alice:
        await alice.remember("Ann's wife works at Acme")
        await alice.remember("I do not eat beef", source_message="I do not eat beef")
        assert {one["origin"] for one in await events(alice, "Acme beef")} == {"offline"}
    phrases = {
        "I do not eat beef": "Alice does not eat beef.",
        "Ann's wife works at Acme": "Ann's husband works at Acme",
    }
    async with speaking_home(tmp_path, good(phrases), run=False) as (house, _, _endpoint):
        upgrader = house.household.historian.upkeep.upgrader
        first = await anyio.to_thread.run_sync(upgrader.turn)
        second = await anyio.to_thread.run_sync(lambda: upgrader.turn(after=first.last))
        assert (first.better, second.better) == (0, 1)
        async with house.client(sender_name="Alice") as alice:
            stored = {one["text"]: one["origin"] for one in await events(alice, "Acme beef")}
            assert stored == {"Ann's wife works at Acme": "offline", "Alice does not eat beef.": "model"}
            assert await lines(alice) == ["Ann's wife works at Acme", "Alice does not eat beef."]
        assert await anyio.to_thread.run_sync(lambda: upgrader.turn(after=second.last)) is None


async def test_a_kill_between_an_event_and_its_profile_line_is_made_up_for(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client(sender_name="Alice") as alice:
        await alice.remember("I do not eat beef")
        with house.household.database.write() as connection:
            connection.execute(
                "UPDATE events SET restated_from = text, text = 'Alice eats no beef.', origin = 'model' WHERE row = 1"
            )
        await anyio.to_thread.run_sync(house.household.historian.upkeep.upgrader.quietly)
        assert await lines(alice) == ["Alice eats no beef."]
        with house.household.database.read() as connection:
            assert connection.execute("SELECT restated_from FROM events").fetchall() == [(None,)]


async def test_the_background_keeps_within_its_budget_and_gives_up_on_what_a_model_cannot_do(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        await alice.remember("Bo does not eat beef.")
    stubborn = good(lambda text: "Bo eats beef.")
    async with speaking_home(tmp_path, stubborn, run=False) as (house, model, _):
        upgrader = house.household.historian.upkeep.upgrader
        for _ in range(30):
            await anyio.to_thread.run_sync(upgrader.quietly)
        assert len(model.asked) == 3 * 3
        async with house.client() as alice:
            assert (await event(alice, "beef"))["text"] == "Bo does not eat beef."


# ---- wordings


async def test_a_rewording_after_advice_takes_the_place_of_the_flagged_event(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client(said_at="2026-02-21T14:30:00+08:00") as alice:
        first = await alice.call("end", observations=["他昨天去了杭州", "Bo lives in Bern."], memo="talked")
        assert first["gate"]
        await alice.settled(first["job_id"])
        assert [one["is_absolute"] for one in await events(alice, "杭州")] == [False]
        await alice.remember("王芳 2026-02-20 去了杭州")
        [stored] = await events(alice, "杭州")
        assert (stored["text"], stored["is_absolute"]) == ("王芳 2026-02-20 去了杭州", True)
        assert await lines(alice) == ["王芳 2026-02-20 去了杭州", "Bo lives in Bern."]
        assert len(await events(alice, "Bern")) == 1


@pytest.mark.parametrize(
    "other",
    ["王芳 2026-02-20 没去杭州", "王芳 2026-02-20 去了上海", "王芳 2026-02-20 在家", "王芳 2025-01-01 去了杭州"],
)
async def test_another_fact_soon_after_advice_stands_beside_it(tmp_path: Path, other: str) -> None:
    async with home(tmp_path) as house, house.client(said_at="2026-02-21T14:30:00+08:00") as alice:
        await alice.remember("他昨天去了杭州")
        await alice.remember(other)
        with house.household.database.read() as connection:
            assert connection.execute("SELECT count(*) FROM events WHERE same_as IS NULL").fetchone() == (2,)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Alice met Bo yesterday.", "Alice met Bo on 2025-01-01."),
        ("Alice 昨天见了 Bo。", "Alice 2025-01-01 见了 Bo。"),
        ("Alice ran 5 km yesterday.", "Alice ran 5 km on 2026-01-03."),
    ],
)
async def test_what_rules_made_absolute_is_no_wording_to_be_replaced(tmp_path: Path, first: str, second: str) -> None:
    """P68: the same on another day is another fact."""
    async with home(tmp_path) as house, house.client(said_at="2026-02-21T14:30:00+08:00") as alice:
        await alice.remember(first)
        await alice.remember(second)
        assert len(await lines(alice)) == len(await events(alice, "Alice Bo 5 km")) == 2


@pytest.mark.parametrize("text", ["Alice lives in Bern.", "Alice 住在杭州。"])
async def test_what_was_given_out_and_then_forgotten_is_news_when_it_is_said_again(tmp_path: Path, text: str) -> None:
    """P27, P68, P80: only what still stands is an echo."""
    async with home(tmp_path) as house, house.client(toolsets=("host", "admin")) as alice:
        await alice.remember(text)
        [found] = await events(alice, text)
        ask = {"event_id": found["event_id"]}
        looked = await alice.call("forget", **ask)
        await alice.call("forget", **ask, confirm=looked["confirm"])
        assert await events(alice, text) == []
        await alice.remember(text)
        assert [one["text"] for one in await events(alice, text)] == [text]
        assert await lines(alice) == [text]


@pytest.mark.parametrize("text", ["Bob lives in Bern.", "Bob 住在杭州。"])
async def test_what_somebody_read_in_a_group_is_news_in_her_own_memory(tmp_path: Path, text: str) -> None:
    """P27, P68, P80."""
    async with home(tmp_path) as house:
        async with house.client("bob", group="hikers") as bob:
            await bob.remember(text)
        async with house.client("alice", group="hikers") as there:
            assert await events(there, text)
        async with house.client("alice") as alice:
            await alice.remember(text)
            assert await lines(alice) == [text]


async def test_what_was_overtaken_since_it_was_given_out_is_news_when_it_is_so_again(tmp_path: Path) -> None:
    """P68, P80: Bern, then Oslo, then Bern again, each looked at in between."""
    places = ("Bern", "Oslo", "Bern")

    def say(asked: ChatAsked) -> object:
        if not asked.entries("lines") or "<observations " in asked.messages[1]["content"]:
            return good()(asked)
        text = asked.entries("statements")[0].split(") ", 1)[-1].split(" (said", 1)[0]
        return {
            "lines": [{"line": 1, "action": "update", "text": text, "statements": [1], "reason": "Alice moved."}],
            "added": [],
            "passing": [],
            "tags": [],
        }

    async with speaking_home(tmp_path, say) as (house, _, _endpoint), house.client() as alice:
        for number, place in enumerate(places):
            await alice.remember(f"Alice lives in {place}.", memo=f"turn {number}")
            await events(alice, f"Alice lives in {place}.")
            assert await lines(alice) == [f"Alice lives in {place}."]


async def test_what_the_server_gave_is_no_news_also_after_a_restart_and_as_it_was_listed(tmp_path: Path) -> None:
    """P80: search output fed back ten times is one event."""
    async with speaking_home(tmp_path, good()) as (house, _, _endpoint), house.client() as alice:
        await alice.remember("Bo lives in Bern.")
        result = await alice.client.call_tool("search_events", {"query": "Bern"})
        listed = next(line for line in result.content[0].text.splitlines() if line.startswith("1. "))  # type: ignore[union-attr]
        for number in range(5):
            await alice.remember(listed, memo=f"turn {number}")
    async with speaking_home(tmp_path, good()) as (house, _, _endpoint), house.client() as alice:
        for number in range(5):
            await alice.remember(listed, memo=f"later turn {number}")
        assert len([one for one in await events(alice, "Bern") if one["has_new_info"]]) == 1
        [item] = (await alice.call("get_profile"))["provenance"]
        assert (item["line"], item["confirmed"]) == ("Bo lives in Bern.", 1)


# ---- what a model is sent


async def test_however_long_the_messages_of_the_record_are_a_model_reads_only_their_beginnings(tmp_path: Path) -> None:
    """P81: a turn amid pages of pasted text costs no more than any other."""
    (tmp_path / "shiguan.toml").write_text("[historian]\nrecent_messages_inject_k = 3\n", "utf-8")
    pasted = [f"第{number}段 paste " + "很长 and long " * 4_000 for number in range(5)]
    async with (
        speaking_home(tmp_path, good(capture={"should_remember": False, "reason": "x"})) as (house, model, _),
        house.client(conversation_id="c1", sender_name="小明") as alice,
    ):
        raw = [
            {
                "message_id": f"m{at}",
                "conversation_id": "c1",
                "role": role,
                "content": content,
                "ts": time.time() - 60 + at,
            }
            for at, (role, content) in enumerate(
                zip(["assistant", "user"] * 3, [*pasted, "我对花生过敏"], strict=False)
            )
        ]
        [job_id] = (await alice.call("messages_append", messages=raw, consider=True))["job_ids"]
        await alice.settled(job_id)
        await alice.remember("小明对花生过敏", message_ids=["m5", "m3"])
        asked = next(one for one in model.asked if "<observations " in one.messages[1]["content"])
        assert asked.entries("recent_messages") == [f"assistant: {pasted[4][:240]}"]
        assert [asked.block("source_message").count(word) for word in ("第3段", "我对花生过敏")] == [1, 1]
        assert sum(len(one["content"]) for one in asked.messages) < 10_000
        considered = next(one for one in model.asked if "<exchange " in one.messages[1]["content"])
        assert "我对花生过敏" in considered.last
        assert sum(len(one["content"]) for one in considered.messages) < 20_000


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ("recent_messages_inject_k = 0", []),
        ("recent_messages_inject_k = 1", ["assistant: 第二句在这里"]),
        ("recent_messages_inject_k = 2\nrecent_message_line_max_len = 3", ["user: 第一句", "assistant: 第二句"]),
    ],
)
async def test_as_many_recent_messages_as_are_set_are_shown_to_a_model_as_long_as_is_set(
    tmp_path: Path, settings: str, shown: list[str]
) -> None:
    (tmp_path / "shiguan.toml").write_text(f"[historian]\n{settings}\n", "utf-8")
    async with (
        speaking_home(tmp_path, good()) as (house, model, _),
        house.client(conversation_id="c1", sender_name="小明") as alice,
    ):
        lines = [("user", "第一句在这里"), ("assistant", "第二句在这里")]
        raw = [
            {
                "message_id": f"m{at}",
                "conversation_id": "c1",
                "role": role,
                "content": text,
                "ts": time.time() - 60 + at,
            }
            for at, (role, text) in enumerate(lines)
        ]
        await alice.call("messages_append", messages=raw)
        await alice.remember("小明对花生过敏")
        asked = next(one for one in model.asked if "<observations " in one.messages[1]["content"])
        assert asked.entries("recent_messages") == shown
