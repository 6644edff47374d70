"""Few tools read at a time; what is handed in is behind none of them, and background work steps aside for all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from server.models import READERS, reading_limit
from server.settings import Settings, load_settings
from tests.kit.home import home

SECONDS = 60


def settings(tmp_path: Path, toml: str = "") -> Settings:
    (tmp_path / "shiguan.toml").write_text(toml, encoding="utf-8")
    return load_settings({"data_dir": tmp_path, "user": "alice"}, {})


def test_few_read_at_a_time_where_they_only_compute(tmp_path: Path) -> None:
    limit = reading_limit(settings(tmp_path))
    assert limit is not None
    assert limit.total_tokens == READERS


@pytest.mark.parametrize(
    "toml",
    [
        '[embedding]\nprovider = "openai"\nmodel = "e"\nbase_url = "http://127.0.0.1:9"\n',
        '[rerank]\nmodel = "r"\nbase_url = "http://127.0.0.1:9"\n',
    ],
    ids=["embedding", "rerank"],
)
def test_reads_that_wait_for_an_endpoint_do_not_wait_for_each_other(tmp_path: Path, toml: str) -> None:
    assert reading_limit(settings(tmp_path, toml)) is None


async def test_a_turn_is_handed_in_while_reads_wait_for_their_turn_and_the_background_steps_aside(
    tmp_path: Path,
) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        reading, foreground = house.household.reading, house.household.historian.baton.foreground
        assert reading is not None
        assert house.household.reading_now() is None, "reads may wait for the embedder, and not for each other"
        house.household.engine.start()
        assert house.household.engine.wait(SECONDS)
        assert house.household.reading_now() is reading
        others = [object() for _ in range(READERS)]
        for other in others:
            reading.acquire_on_behalf_of_nowait(other)
        listed: list[Any] = []

        async def read() -> None:
            listed.append(await alice.call("messages_list"))

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                while not reading.statistics().tasks_waiting:
                    await anyio.lowlevel.checkpoint()
                assert foreground.is_busy()
                assert (await alice.call("end", memo="Talked.", observations=["Bo 2026-03-01 搬到杭州。"]))["queued"]
                assert not listed
                reading.release_on_behalf_of(others[0])
        assert [answer["items"] for answer in listed] == [[]]
        for other in others[1:]:
            reading.release_on_behalf_of(other)
