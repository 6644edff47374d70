"""Receipts: where each job stands, why it failed, what runs degraded since when, and what can be done about it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from historian.clock import FixedClock
from historian.model import Owner, Scope
from server.commands.queue import job_line
from server.commands.status import profile_line, status_lines
from server.owner.overview import Overview
from tests.kit.home import Home, Person, home
from tests.kit.reply import failing
from tests.kit.speaking import speaking_home

NEVER = "0123456789abcdef0123456789abcdef"


def blocked(folder: Path, retries: int = 0) -> None:
    """Let every job fail that merges a profile: a file stands where the folder of profiles should be."""
    (folder / "shiguan.toml").write_text(f"[queue]\njob_max_retries = {retries}\n", "utf-8")
    (folder / "profiles").write_text("in the way", "utf-8")


async def failed(person: Person, *observations: str) -> str:
    job: str = (await person.call("end", observations=[*observations]))["job_id"]
    await person.settled(job, "failed")
    return job


# ---- what is told


async def test_a_failed_job_is_told_with_reason_attempts_and_age(tmp_path: Path) -> None:
    """P27: not only `queued`, also what became of it."""
    blocked(tmp_path)
    async with home(tmp_path) as house, house.client() as alice:
        job = await failed(alice, "林晓 2026-03-01 搬到杭州。")
        status = await alice.call("memory_status", job_id=job)
        assert (status["pending"], status["processing"], status["failed"]) == (0, 0, 1)
        [failure] = status["failures"]
        assert failure["job_id"] == job
        assert failure["reason"] == status["job"]["error"]
        assert failure["reason"].endswith(".")
        assert failure["attempts"] == status["job"]["attempts"] == 1
        assert failure["age_seconds"] >= 0
        assert "retry" in status["hint"]


async def test_a_job_between_two_attempts_says_what_went_wrong_and_when_it_is_tried_again(tmp_path: Path) -> None:
    blocked(tmp_path, retries=5)
    async with home(tmp_path) as house, house.client() as alice:
        job_id = (await alice.call("end", observations=["Bo 住在杭州。"]))["job_id"]
        with anyio.fail_after(30):
            while True:
                job = (await alice.call("memory_status", job_id=job_id))["job"]
                if job["attempts"]:
                    break
                await anyio.sleep(0.02)
        assert job["state"] in ("pending", "processing")
        assert job["error"]
        if job["state"] == "pending":
            ahead = datetime.fromisoformat(job["next_retry"]) - datetime.now(UTC)
            assert timedelta(seconds=-2) < ahead <= timedelta(seconds=5)
            assert job["next_retry"].endswith("+08:00"), "in the zone of the session"
        (tmp_path / "profiles").unlink()
        done = await alice.settled(job_id)
        assert done["next_retry"] is None


async def test_without_a_historian_the_status_says_so_with_age_and_what_to_do(tmp_path: Path) -> None:
    """P28: queued, and nobody works on it."""
    clock = FixedClock(datetime(2026, 3, 1, 8, tzinfo=UTC))
    async with home(tmp_path, run=False, clock=clock) as house, house.client() as alice:
        await alice.call("end", observations=["Bo 住在杭州。"])
        clock.advance(seconds=3 * 3600)
        status = await alice.call("memory_status")
        assert status["pending"] == 1
        assert status["oldest_age_seconds"] == 3 * 3600
        assert "No historian works" in status["hint"]
    async with home(tmp_path) as house, house.client() as alice:
        assert (await alice.drained())["hint"] == ""


async def test_four_hundred_waiting_jobs_are_counted_with_their_age_and_worked_off_after_a_restart(
    tmp_path: Path,
) -> None:
    """P30: also while they are, counts and the oldest age can be read."""
    clock = FixedClock(datetime(2026, 3, 1, 8, tzinfo=UTC))
    async with home(tmp_path, run=False, clock=clock) as house:
        for number in range(400):
            memory = house.household.memory.of(Scope(f"user{number % 40}", None, frozenset()))
            memory.end(observations=[f"Parcel {number} 放在 {number + 500} 号仓库。"], force=True)
        clock.advance(seconds=300)
        async with house.client("user7") as one:
            status = await one.call("memory_status")
            assert (status["pending"], house.household.queue.stats().pending) == (10, 400)
            assert "400" not in str(status)
            assert status["oldest_age_seconds"] == 300
            assert "No historian works" in status["hint"]
    async with home(tmp_path) as house:
        seen: list[int] = []
        async with house.client("user39") as last:
            with anyio.fail_after(120):
                while (in_all := house.household.queue.stats()).pending or in_all.processing:
                    status = await last.call("memory_status")
                    seen.append(in_all.pending)
                    assert (status["oldest_age_seconds"] or 0) >= 0
                    await anyio.sleep(0.1)
            assert seen == sorted(seen, reverse=True)
            assert len(await last.texts("Parcel", top_k=200)) == 10
        stats = house.household.queue.stats()
        assert (stats.pending, stats.processing, stats.failed) == (0, 0, 0)
        with house.household.database.read() as connection:
            assert connection.execute("SELECT count(*) FROM events").fetchone() == (400,)


async def test_what_runs_by_rules_is_told_with_the_moment_since_when(tmp_path: Path) -> None:
    async with home(tmp_path) as house, house.client() as alice:
        first = await alice.call("memory_status")
        [trouble] = [one for one in first["troubles"] if "no chat model" in one["what"]]
        assert first["offline"] == [trouble["what"]]
        since = datetime.fromisoformat(trouble["since"])
        assert timedelta(0) <= datetime.now(UTC) - since < timedelta(minutes=2)
        again = await alice.call("memory_status")
        assert trouble in again["troubles"]  # beside it may stand that the search by meaning warms up


async def test_the_command_line_tells_of_the_whole_folder_what_memory_status_tells_of_one_scope(tmp_path: Path) -> None:
    blocked(tmp_path)
    async with home(tmp_path) as house, house.client("bob") as bob:
        job_id = await failed(bob, "Bo 住在杭州。")
        status = await bob.call("memory_status", job_id=job_id)
        shown = Overview(house.household)
        [job] = shown.queue({"action": "list"})["jobs"]
        mine = status["job"]
        assert (job["whose"], job["state"], job["step"]) == ("user:bob", "failed", mine["step"])
        assert (job["attempts"], job["error"], job["next_retry"]) == (mine["attempts"], mine["error"], None)
        assert 0 <= job["age_seconds"] < 600
        house.household.historian.steps.enter(job_id, "merge")
        line = job_line(shown.queue({})["jobs"][0])
        for told in ("failed", "user:bob", "step merge", f"attempts {mine['attempts']}", mine["error"]):
            assert told in line

        house.household.live.replace(replace(house.household.live.now, enabled=False))
        house.household.profiles.waiting.note_rules(Owner("user", "bob"), "the model gave no usable answer")
        told = "\n".join(status_lines(shown.status({})))
        assert "memory is switched off" in told
        assert f"(since {datetime.now(UTC).year}" in told
        assert "no chat model is configured" in told
        assert "user:bob merged by rules: the model gave no usable answer" in told
        assert "all in effect" in told


async def test_the_queue_names_the_profile_whose_merge_a_job_waits_for(tmp_path: Path) -> None:
    """P28: `memory_status` calls the job pending, so the list of the queue is not empty without a word of it."""
    async with speaking_home(tmp_path, lambda asked: failing(503)) as (house, _, _endpoint), house.client() as alice:
        job_id = (await alice.call("end", observations=["Bo lives in Bern."]))["job_id"]
        shown = Overview(house.household)
        with anyio.fail_after(30):
            while not (merges := shown.queue({})["merges"]):  # noqa: ASYNC110 - it can only be looked at
                await anyio.sleep(0.05)
        assert (await alice.call("memory_status", job_id=job_id))["job"]["step"] == "merge"
        assert "user:alice waits for its merge until" in profile_line(merges[0])
        assert "status 503" in profile_line(merges[0])


# ---- what can be done


async def test_a_retry_by_tool_starts_a_fresh_count_and_a_discard_is_for_good(tmp_path: Path) -> None:
    blocked(tmp_path, retries=1)
    async with home(tmp_path) as house, house.client(toolsets=("admin",)) as alice:
        job = await failed(alice, "Bo 住在杭州。")
        assert (await alice.call("memory_status", job_id=job))["job"]["attempts"] == 2
        assert await alice.call("retry_job", job_id=job) == {"job_ids": [job]}
        again = await alice.settled(job, "failed")
        assert again["attempts"] == 2, "counted anew"
        other = await failed(alice, "Bo 养了一只猫。")
        assert await alice.call("discard_job", job_id=other) == {"job_ids": [other]}
        assert (await alice.call("memory_status"))["failed"] == 1
        (tmp_path / "profiles").unlink()
        assert await alice.call("retry_job") == {"job_ids": [job]}
        await alice.settled(job)
        assert "Bo 住在杭州。" in (await alice.call("get_profile"))["text"]
        assert await alice.call("retry_job") == {"job_ids": []}


@pytest.mark.parametrize("tool", ["retry_job", "discard_job"])
async def test_a_foreign_failed_job_is_not_there_in_the_same_words_as_one_that_never_was(
    tmp_path: Path, tool: str
) -> None:
    blocked(tmp_path)
    async with home(tmp_path) as house, house.client("bob") as bob, house.client("alice", toolsets=("admin",)) as alice:
        theirs = await failed(bob, "Bo 住在杭州。")
        sentences = {await alice.refused(tool, job_id=job) for job in (theirs, NEVER, "../../etc", "X" * 64)}
        assert len(sentences) == 1
        assert await alice.call(tool) == {"job_ids": []}
        assert (await bob.call("memory_status"))["failed"] == 1
        async with house.client("bob", group="hikers", toolsets=("admin",)) as in_group:
            assert await in_group.refused(tool, job_id=theirs) in sentences


async def test_what_is_not_failed_cannot_be_retried_or_discarded(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client(toolsets=("admin",)) as alice:
        job = (await alice.call("end", memo="Booked it."))["job_id"]
        for tool in ("retry_job", "discard_job"):
            assert "only a failed job" in await alice.refused(tool, job_id=job)
        assert (await alice.call("memory_status"))["pending"] == 1


async def test_the_tools_of_the_operator_are_published_only_where_asked_for(tmp_path: Path) -> None:
    async def names(house: Home, *toolsets: str) -> set[str]:
        async with house.client(toolsets=toolsets) as person:
            return {tool.name for tool in (await person.client.list_tools()).tools}

    async with home(tmp_path, run=False) as house:
        assert not {"retry_job", "discard_job"} & await names(house)
        assert {"retry_job", "discard_job"} <= await names(house, "admin")


# ---- failures are said to be failures


async def test_every_failure_of_a_tool_is_marked_as_one_and_never_hides_in_a_success(tmp_path: Path) -> None:
    """P101: a model sees `isError` and one sentence, whatever went wrong; instructions of a server may be ignored."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("memory_status", {"job_id": NEVER}),
        ("get_profile", {"entity_id": "nobody-at-all"}),
        ("end", {"observations": ["x" * 5000]}),
        ("end", {"message_ids": ["m-none"], "observations": ["Bo 住在杭州。"]}),
        ("search_events", {"query": "Bo", "time_from": "soonish"}),
        ("search_events", {"query": "Bo", "top_k": 201}),
        ("search_events", {"quary": "Bo"}),
        ("retry_job", {"job_id": NEVER}),
    ]
    async with home(tmp_path, run=False) as house, house.client(toolsets=("admin",)) as alice:
        for tool, arguments in calls:
            sentence = await alice.refused(tool, **arguments)
            assert "\n" not in sentence, tool
            assert str(tmp_path) not in sentence
            assert sentence.endswith((".", "?")), (tool, sentence)
