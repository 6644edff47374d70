"""Settings that change while the memory runs, and the switch that turns it off."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.kit.home import Home, Person, home

OFF = "enabled = false\n"


def write(folder: Path, toml: str) -> None:
    (folder / "shiguan.toml").write_text(toml, "utf-8")


async def until(condition: Callable[[], bool]) -> None:
    """Wait until the memory has looked at its settings file."""
    with anyio.fail_after(30):
        while True:
            if condition():
                return
            await anyio.sleep(0.02)


@asynccontextmanager
async def at_home(folder: Path, toml: str = "", **more: Any) -> AsyncGenerator[tuple[Home, Person]]:
    write(folder, toml)
    async with home(folder, **more) as house, house.client() as alice:
        yield house, alice


# ---- what is read again


async def test_ranking_and_clipping_are_read_again_without_a_restart(tmp_path: Path) -> None:
    async with at_home(tmp_path, "[query]\ntool_default_top_k = 4\n") as (house, alice):
        live = house.household.live
        assert live.query.tool_default_top_k == 4
        write(
            tmp_path, "[query]\ntime_decay_boost = 0\n[historian]\nsource_message_max_len = 12\nrewrite_max_retry = 5\n"
        )
        await until(lambda: live.historian.rewrite_max_retry == 5)
        assert live.query.tool_default_top_k == 12, "what is taken out of the file is the default again"
        assert live.query.time_decay_boost == 0
        await alice.remember("Bo 住在杭州。", source_message="一二三四五六七八九十一二三四五")
        items = (await alice.call("messages_list"))["items"]
        assert [len(item["content"]) for item in items] == [12]
        assert (await alice.call("memory_status"))["settings"] == []


async def test_a_file_that_cannot_be_read_changes_nothing_and_is_said_in_status_and_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with at_home(tmp_path, "[query]\nauto_top_k = 7\n") as (house, alice):
        for wrong in ("[query\n", "[query]\nauto_top_k = 'many'\n", "[query]\nnope = 1\n"):
            write(tmp_path, wrong)
            caplog.clear()
            await until(lambda: "have no effect" in caplog.text)
            [note] = (await alice.call("memory_status"))["settings"]
            assert note.startswith("The changed settings have no effect, the former ones stay: ")
            assert str(tmp_path) not in note
            assert house.household.live.query.auto_top_k == 7
        write(tmp_path, "[query]\nauto_top_k = 8\n")
        await until(lambda: house.household.live.query.auto_top_k == 8)
        assert (await alice.call("memory_status"))["settings"] == []


async def test_what_needs_a_restart_is_named_until_it_is_taken_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with at_home(tmp_path) as (house, alice):
        write(tmp_path, "[historian]\nworkers = 3\npoll_interval_seconds = 2\n[queue]\njob_max_retries = 9\n")
        await until(lambda: house.household.live.historian.poll_interval_seconds == 2)
        assert house.household.live.historian.workers == 1
        assert house.household.historian.workers == 1
        notes = (await alice.call("memory_status"))["settings"]
        assert notes == [
            f"{name} was changed and has no effect until a restart."
            for name in ("historian.workers", "queue.job_max_retries")
        ]
        assert notes[0] in caplog.text
        assert "settings took effect: historian.poll_interval_seconds" in caplog.text
        write(tmp_path, "[queue]\njob_max_retries = 9\n")
        await until(lambda: house.household.live.historian.poll_interval_seconds == 1)
        assert (await alice.call("memory_status"))["settings"] == notes[1:]
    async with home(tmp_path) as house, house.client() as alice:
        assert (await alice.call("memory_status"))["settings"] == []


async def test_a_key_that_was_changed_is_named_and_never_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with at_home(tmp_path) as (house, alice):
        write(tmp_path, '[chat]\napi_key = "sk-secret"\n')
        await until(lambda: house.household.watch.notes() != ())
        status = await alice.call("memory_status")
        assert status["settings"] == ["chat.api_key was changed and has no effect until a restart."]
        assert "sk-secret" not in str(status) + caplog.text


# ---- the switch


async def test_switched_off_only_memos_are_kept_and_the_receipt_says_so(tmp_path: Path) -> None:
    async with at_home(tmp_path, OFF) as (house, alice):
        kept = await alice.call(
            "end", memo="订了票。", observations=["Bo 住在杭州。"], source_message="Bo 住在杭州，记一下。"
        )
        assert kept["queued"]
        assert "switched off" in kept["note"]
        assert "observations are not" in kept["note"]
        nothing = await alice.call("end", observations=["Bo 养了一只猫。"])
        assert (nothing["job_id"], nothing["queued"]) == (None, False)
        assert "nothing of the turn is kept" in nothing["note"]
        status = await alice.call("memory_status", job_id=kept["job_id"])
        assert (status["pending"], status["job"]["state"]) == (1, "pending")
        assert [memo["text"] for memo in status["memos"]] == ["订了票。"]
        assert "杭州" not in "".join(path.read_text("utf-8") for path in (tmp_path / "queues").rglob("*.json"))
        assert not house.household.has_work(), "an owner may leave: what waits can wait without it"


async def test_switched_off_every_tool_that_answers_from_memory_says_so(tmp_path: Path) -> None:
    async with at_home(tmp_path) as (house, alice):
        await alice.remember("Bo 住在杭州。")
        write(tmp_path, OFF)
        await until(lambda: not house.household.live.enabled)
        found = await alice.call("search_events", query="杭州")
        assert [event["text"] for event in found["events"]] == ["Bo 住在杭州。"], "what is known is still found"
        profiles = await alice.call("search_profiles", query="杭州")
        profile = await alice.call("get_profile")
        status = await alice.call("memory_status")
        for said in (found["degraded"], profiles["degraded"], profile["warnings"], status["degraded"]):
            assert any("switched off" in sentence for sentence in said), said
        assert "enabled = true" in status["hint"]
        assert (await alice.call("messages_list"))["items"] == [], "the record is another matter, and answers as ever"


async def test_switched_off_the_memory_of_a_group_says_so_and_what_shall_be_considered_waits_with_a_word(
    tmp_path: Path,
) -> None:
    async with at_home(tmp_path) as (house, _), house.client(group="team", toolsets=("host", "group")) as alice:
        write(tmp_path, OFF)
        await until(lambda: not house.household.live.enabled)
        listed = await alice.call("group_memories")
        found = await alice.call("search_group_memories", query="杭州")
        said = {"message_id": "m", "conversation_id": "c", "role": "user", "content": "我对花生过敏", "ts": 1771569000}
        taken = await alice.call("messages_append", messages=[said], consider=True)
        assert taken["job_ids"]
        for sentences in (listed["degraded"], found["degraded"], taken["warnings"]):
            assert any("switched off" in sentence for sentence in sentences), sentences
        silent = await alice.call("messages_append", messages=[said | {"message_id": "m2"}])
        assert silent["warnings"] == []


async def test_what_waits_is_done_when_the_memory_is_switched_on_again_while_it_runs(tmp_path: Path) -> None:
    async with at_home(tmp_path, "[historian]\npoll_interval_seconds = 3600\n", run=False) as (_, alice):
        jobs = [(await alice.call("end", observations=[f"Parcel {n} 到了。"]))["job_id"] for n in range(3)]
    async with at_home(tmp_path, OFF + "[historian]\npoll_interval_seconds = 3600\n") as (_, alice):
        memo = await alice.call("end", memo="收了包裹。", observations=["Parcel 9 到了。"])
        with anyio.move_on_after(0.5):
            await alice.drained()
        assert (await alice.call("memory_status"))["pending"] == 4
        write(tmp_path, "[historian]\npoll_interval_seconds = 3600\n")
        for job in (*jobs, memo["job_id"]):
            await alice.settled(job)
        assert sorted(await alice.texts("Parcel 到了", top_k=50)) == [f"Parcel {n} 到了。" for n in range(3)]
        again = await alice.call("end", memo="收了包裹。", observations=["Parcel 9 到了。"])
        assert not again["duplicate"], "the same turn is no repeat of the memo that was kept of it"
        await alice.settled(again["job_id"])
        assert "Parcel 9 到了。" in await alice.texts("Parcel 9 到了")


async def test_what_waits_is_done_after_a_restart_that_switches_on(tmp_path: Path) -> None:
    async with at_home(tmp_path, OFF) as (_, alice):
        job = (await alice.call("end", memo="订了票。"))["job_id"]
    async with at_home(tmp_path) as (_, alice):
        await alice.settled(job)
        assert await alice.texts("订了票") == ["订了票。"]
        assert "switched off" not in str(await alice.call("memory_status"))
