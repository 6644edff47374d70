"""Few tools read at a time; what is handed in is behind none of them, and background work steps aside for all."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from historian.embed_fake import HashingEmbedder
from server.models import asks_endpoints
from server.seats import CHECKERS, READERS, RECALLERS, WAITERS, Room, Seats
from server.settings import load_settings
from server.toolsets import published
from tests.kit.home import home
from tests.kit.recalled import view

SECONDS = 60


@pytest.mark.parametrize(
    ("toml", "asks"),
    [
        ("", False),
        ('[embedding]\nprovider = "openai"\nmodel = "e"\nbase_url = "http://127.0.0.1:9"\n', True),
        ('[rerank]\nmodel = "r"\nbase_url = "http://127.0.0.1:9"\n', True),
    ],
    ids=["built-in", "embedding", "rerank"],
)
def test_reads_that_wait_for_an_endpoint_do_not_wait_for_each_other(tmp_path: Path, toml: str, asks: bool) -> None:
    (tmp_path / "shiguan.toml").write_text(toml, encoding="utf-8")
    asking = asks_endpoints(load_settings({"data_dir": tmp_path, "user": "alice"}, {}))
    assert asking is asks
    seats = Seats(lambda: asking)
    assert seats.room(reads=True) is (seats.waiting if asks else seats.reading)
    assert seats.room(reads=True, takes_long=True) is seats.checking


def test_what_waits_for_a_chat_model_runs_apart_and_what_is_handed_in_by_none_of_them() -> None:
    seats = Seats(lambda: False)
    rooms = {tool.name: tool.room(seats) for tool in published(("recall", "group", "pinned", "host"))}
    assert rooms["evolve_memories"] is seats.recalling
    assert rooms["verify_view"] is seats.checking
    assert {rooms[name] for name in ("end", "memory_add", "messages_append", "restore_memory")} == {None}
    assert {rooms[name] for name in ("search_events", "messages_list", "search_group_memories")} == {seats.reading}


async def test_a_turn_is_handed_in_while_reads_wait_for_their_turn_and_the_background_steps_aside(
    tmp_path: Path,
) -> None:
    async with home(tmp_path, run=False) as house, house.client() as alice:
        seats, foreground = house.household.seats, house.household.historian.baton.foreground
        reading, room = seats.reading.all, partial(seats.room, reads=True)
        assert room() is seats.waiting, "reads may wait for the embedder, and not for each other"
        house.household.engine.start()
        assert house.household.engine.wait(SECONDS)
        assert room() is seats.reading
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


async def test_views_that_are_verified_wait_for_each_other_and_keep_nobody_from_reading(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client(toolsets=("recall",)) as alice:
        checking = house.household.seats.checking.all
        others = [object() for _ in range(CHECKERS)]
        for other in others:
            checking.acquire_on_behalf_of_nowait(other)
        verified: list[Any] = []

        async def verify() -> None:
            verified.append(await alice.call("verify_view", view=view(("I drink tea", ["m1"]))))

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                for _ in range(READERS + 1):
                    tasks.start_soon(verify)
                while not checking.statistics().tasks_waiting:
                    await anyio.lowlevel.checkpoint()
                assert (await alice.call("messages_list"))["items"] == []
                assert not verified
                checking.release_on_behalf_of(others[0])
        assert len(verified) == READERS + 1
        for other in others[1:]:
            checking.release_on_behalf_of(other)


async def test_searches_that_wait_for_a_model_keep_nobody_from_writing(tmp_path: Path) -> None:
    loaded = threading.Event()
    embedder = HashingEmbedder(gate=loaded)
    async with (
        home(tmp_path, embedder=embedder, run=False) as house,
        house.client(toolsets=("pinned",)) as alice,
        house.client("bob", toolsets=("pinned",)) as bob,
    ):
        house.household.engine.start()
        waiting = house.household.seats.waiting.all
        found: list[Any] = []

        async def search() -> None:
            found.append(await alice.call("search_events", query="tea"))

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                for _ in range(2 * WAITERS):
                    tasks.start_soon(search)
                while waiting.borrowed_tokens <= WAITERS // 2:
                    await anyio.lowlevel.checkpoint()
                assert (await alice.call("memory_add", text="I drink tea."))["note"]
                assert (await bob.call("messages_list"))["items"] == [], "alice took every seat"
                assert not found
                loaded.set()
        assert len(found) == 2 * WAITERS


async def test_one_user_who_asks_a_lot_waits_behind_himself() -> None:
    room, held = Room(3), [threading.Event() for _ in range(4)]
    begun: list[int] = []

    async def ask(user_id: str, number: int) -> None:
        def wait() -> None:
            begun.append(number)
            assert held[number].wait(SECONDS)

        await room.run(user_id, wait)

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(ask, "alice", number)
            while len(begun) < 2:
                await anyio.lowlevel.checkpoint()
            tasks.start_soon(ask, "bob", 3)
            while len(begun) < 3:
                await anyio.lowlevel.checkpoint()
            assert begun[2] == 3
            for event in held:
                event.set()
    assert sorted(begun) == [0, 1, 2, 3]
    assert room.of("alice").total_tokens == 2


async def test_recalls_wait_for_each_other_and_keep_nobody_from_writing(tmp_path: Path) -> None:
    async with home(tmp_path, run=False) as house, house.client(toolsets=("recall", "pinned")) as alice:
        recalling = house.household.seats.recalling.all
        others = [object() for _ in range(RECALLERS)]
        for other in others:
            recalling.acquire_on_behalf_of_nowait(other)

        async def recall() -> None:
            await alice.call("recall", question="What do I drink?")

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(recall)
                while not recalling.statistics().tasks_waiting:
                    await anyio.lowlevel.checkpoint()
                assert (await alice.call("memory_add", text="I drink tea."))["note"]
                tasks.cancel_scope.cancel()
            while recalling.statistics().tasks_waiting:
                await anyio.lowlevel.checkpoint()
        for other in others:
            recalling.release_on_behalf_of(other)
        assert recalling.borrowed_tokens == 0
