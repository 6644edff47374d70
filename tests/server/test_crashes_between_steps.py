"""A job that dies as any of its steps begins, and is done again: with a model, every effect happens once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.kit.home import Home, home
from tests.kit.speaking import good, speaking_home
from tests.server.test_capture import said, verdict


class DiedError(BaseException):
    """The process is gone: nothing of it may run on."""


def done_again(house: Home, dies_at: str) -> set[str]:
    """Do all jobs; each dies once as the step begins, and is done again. Return the steps that were seen."""
    queue, pipeline = house.household.queue, house.household.historian.pipeline
    seen: set[str] = set()
    while (job := queue.claim()) is not None:
        for attempt in range(2):

            def step(name: str, attempt: int = attempt) -> None:
                seen.add(name)
                if name == dies_at and attempt == 0:
                    raise DiedError

            try:
                with house.household.database.lazily():
                    pipeline.run(job, step)
                break
            except DiedError:
                continue
        queue.finish(job)
    return seen


def told(house: Home) -> dict[str, Any]:
    with house.household.database.read() as connection:
        events = connection.execute("SELECT event_id, text, same_as IS NULL FROM events ORDER BY row").fetchall()
        words = connection.execute("SELECT row FROM events_lexical ORDER BY row").fetchall()
        waiting = connection.execute("SELECT count(*) FROM merge_waiting").fetchone()[0]
        messages = connection.execute("SELECT count(*) FROM messages").fetchone()[0]
        states = connection.execute("SELECT state, count(*) FROM receipts GROUP BY state").fetchall()
    return {"events": [text for _, text, stands in events if stands], "all": len(events), "words": len(words)} | {
        "waiting": waiting,
        "messages": messages,
        "states": dict(states),
    }


@pytest.mark.parametrize("dies_at", ["none", "evidence", "rewrite", "store", "merge", "settle"])
async def test_a_turn_and_its_rewording(tmp_path: Path, dies_at: str) -> None:
    """P83: doing everything twice makes nothing twice."""
    async with (
        speaking_home(tmp_path, good(), run=False) as (house, _, _endpoint),
        house.client(said_at="2026-02-21T14:30:00+08:00") as alice,
    ):
        await alice.call("end", observations=["他 2026-02-20 去了杭州"], source_message="他昨天去了杭州")
        await alice.call("end", observations=["王芳 2026-02-20 去了杭州", "Bo lives in Bern."], memo="talked")
        seen = await anyio.to_thread.run_sync(done_again, house, dies_at)
        assert dies_at == "none" or dies_at in seen
        assert told(house) == {
            "events": ["王芳 2026-02-20 去了杭州", "Bo lives in Bern.", "talked"],
            "all": 4,
            "words": 3,
            "waiting": 0,
            "messages": 1,
            "states": {"done": 2},
        }
        lines = [item["line"] for item in (await alice.call("get_profile"))["provenance"]]
        assert lines == ["王芳 2026-02-20 去了杭州", "Bo lives in Bern."]


@pytest.mark.parametrize("dies_at", ["none", "consider", "store", "merge", "settle"])
async def test_an_exchange_that_is_considered(tmp_path: Path, dies_at: str) -> None:
    model = good(capture=verdict("小明对花生过敏。", 1))
    async with (
        speaking_home(tmp_path, model, run=False) as (house, _, _endpoint),
        house.client(sender_name="小明") as alice,
    ):
        [job] = (await alice.call("messages_append", messages=said("我对花生过敏"), consider=True))["job_ids"]
        seen = await anyio.to_thread.run_sync(done_again, house, dies_at)
        assert dies_at == "none" or dies_at in seen
        assert told(house) == {
            "events": ["小明对花生过敏。"],
            "all": 1,
            "words": 1,
            "waiting": 0,
            "messages": 1,
            "states": {"done": 1},
        }
        decision = (await alice.call("memory_status", job_id=job))["job"]["decision"]
        assert (decision["should_remember"], decision["by"]) == (True, "model")
        assert [item["line"] for item in (await alice.call("get_profile"))["provenance"]] == ["小明对花生过敏。"]


async def test_the_same_by_rules(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client(sender_name="小明") as alice:
        await alice.call("messages_append", messages=said("我对花生过敏"), consider=True)
        await anyio.to_thread.run_sync(done_again, house, "merge")
        assert told(house)["events"] == ["小明对花生过敏"]
