"""Whatever instant a server is killed at, what it acknowledged is done, and everything is there exactly once."""

from __future__ import annotations

import random
import re
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from historian.clock import SystemClock
from historian.model import Owner
from historian.profiles import ProfileStore
from tests.kit.dying_server import STEPS
from tests.kit.nest import Nest
from tests.kit.stdio import RpcError, ServerGone, Stdio, content

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")]

POINTS = (
    *STEPS,
    "before:historian.queue:Queue.finish",
    "after:historian.queue:Queue.finish",
    "after:historian.queue:Queue.claim",
    "after:historian.queue_additions:Additions._publish",
    "after:historian.receipts:ReceiptStore.begin",
    "after:historian.events:EventStore.add",
    "before:historian.biographer:Biographer.merge",
    "before:historian.profiles:ProfileStore.write",
    "after:historian.profiles:ProfileStore.write",
    "after:historian.profile_index:ProfileIndex.refresh",
    "before:historian.vectors:VectorStore.upsert",
    "after:historian.vectors:VectorStore.upsert",
    "after:historian.receipts:ReceiptStore.settle",
    "after:historian.record:Record.append",
)
KILLS = 12
GOODS = ("tea", "rice", "ink", "silk", "salt", "paper", "glass", "wool", "茶叶", "丝绸")


def observation(number: int) -> str:
    """Return a fact of its own, with a marker; Chinese and English in turns."""
    goods = GOODS[number % len(GOODS)]
    if number % 3 == 2:
        return f"爱丽丝把包裹 K{number}X（{goods}）存放在 {number + 5000} 号仓库。"
    return f"Alice stored parcel K{number}X with {goods} in depot {number + 5000}."


def message(number: int) -> dict[str, Any]:
    """Return a message for the record."""
    content = f"Message M{number}X about {GOODS[number % len(GOODS)]}."
    return {"message_id": f"m{number}", "conversation_id": "c", "role": "user", "content": content, "ts": 1772000000}


class Load:
    """What a client wants done. What was not acknowledged is sent again, as a host does that got no answer."""

    def __init__(self, folder: Path, nest: Nest, *flags: str) -> None:
        self.folder = folder
        self.nest = nest
        self.flags = ("--user", "alice", "--toolsets", "host", *flags)
        self.job_ids: dict[int, str] = {}
        self.recorded: set[int] = set()
        self.ends: list[int] = []
        self.messages: list[int] = []
        self.deaths = 0
        self.cut_off = 0
        folder.mkdir()
        (folder / "shiguan.toml").write_text("[profile]\nmax_lines = 5000\n", "utf-8")

    def server(self, *command: str, anew: bool = False) -> Stdio:
        """Start a server on the folder; `command` says where it dies. With `anew` it has everything to load first."""
        return Stdio(self.folder, *self.flags, command=command or None, nest=None if anew else self.nest)

    def add(self, ends: int, messages: int) -> None:
        """Want more."""
        self.ends += range(len(self.ends), len(self.ends) + ends)
        self.messages += range(len(self.messages), len(self.messages) + messages)

    def press(self, server: Stdio) -> list[tuple[str, int, int]]:
        """Send everything that is not acknowledged, without waiting; return what is in flight."""
        flying: list[tuple[str, int, int]] = []
        wanted = [("end", number) for number in self.ends if number not in self.job_ids]
        wanted += [("message", number) for number in self.messages if number not in self.recorded]
        wanted.sort(key=lambda one: one[1])
        try:
            for kind, number in wanted:
                if kind == "end":
                    request = server.send_call("end", memo="", observations=[observation(number)])
                else:
                    request = server.send_call("messages_append", messages=[message(number)])
                flying.append((kind, number, request))
        except ServerGone:
            pass
        return flying

    def collect(self, server: Stdio, flying: Iterable[tuple[str, int, int]]) -> None:
        """Note what was acknowledged before the server died, if it did."""
        for kind, number, request in flying:
            try:
                answer = content(server.answer(request))
            except (ServerGone, RpcError):
                self.cut_off += 1
                continue
            if kind == "end":
                self.job_ids[number] = answer["job_id"]
            else:
                assert answer["inserted"] + answer["ignored"] == 1
                self.recorded.add(number)

    def finish(self) -> None:
        """Start once more, have everything acknowledged, wait until all is done, and check every promise."""
        with self.server() as server:
            server.initialize()
            self.collect(server, self.press(server))
            assert len(self.job_ids) == len(self.ends)
            assert len(self.recorded) == len(self.messages)
            status = server.drained()
            assert (status["failed"], status["failures"]) == (0, []), status
            for job_id in self.job_ids.values():
                assert server.call("memory_status", job_id=job_id)["job"]["state"] == "done"
            server.ready()
            assert server.embedded()["unembedded"] == 0
            for number in self.ends[:: max(1, len(self.ends) // 8)]:
                found = server.texts(f"K{number}X", top_k=200)
                assert sum(f"K{number}X" in text for text in found) == 1, found
            assert server.leave() == 0
            server.messages()
        self.check_files()

    def check_files(self) -> None:
        """Look into the folder: nothing lost, nothing twice."""
        markers = [f"K{number}X" for number in self.ends]
        assert once(markers, self.column("SELECT text FROM events WHERE has_new_info = 1"))
        assert once([f"m{number}" for number in self.messages], self.column("SELECT message_id FROM messages"))
        assert set(self.column("SELECT state FROM receipts")) == {"done"}
        jobs = self.column("SELECT job_id FROM receipts")
        assert len(jobs) == len(set(jobs)) == len(self.ends)
        for entity in self.entities():
            profile = ProfileStore(self.folder, clock=SystemClock()).read(entity)
            assert profile is not None
            assert once(markers, [line.text for line in profile.lines])
            assert all(len(line.events) == line.confirmed == 1 for line in profile.lines)
        for state in ("pending", "processing", "failed"):
            assert [file.name for file in (self.folder / "queues" / state).iterdir() if file.suffix != ".tmp"] == []
        assert len([*self.folder.rglob("*.tmp")]) <= self.deaths + self.cut_off  # of a job, and of each call

    def entities(self) -> list[Owner]:
        """Return whose profiles there must be."""
        groups = [Owner("group", self.flags[i + 1]) for i, flag in enumerate(self.flags) if flag == "--group"]
        return [Owner("user", "alice"), *groups]

    def column(self, sql: str) -> list[str]:
        """Read one column of the database, changing nothing."""
        with closing(sqlite3.connect(f"file:{self.folder / 'memory.sqlite3'}?mode=ro", uri=True)) as connection:
            return [row[0] for row in connection.execute(sql)]


def once(markers: list[str], texts: list[str]) -> bool:
    """Say whether each marker stands in exactly one text, and there are no further texts."""
    found = Counter(marker for text in texts for marker in re.findall(r"K\d+X|m\d+", text))
    assert found == Counter(markers), (found - Counter(markers), Counter(markers) - found)
    return len(texts) == len(markers)


def two_at_a_time(work: Callable[[Any], None], items: Iterable[Any]) -> None:
    """Run `work` on each item, two of them at once, and raise what it raises."""
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work, item) for item in items]:
            done.result()


@pytest.mark.long
def test_kill_nine_between_any_two_steps_of_a_job_repeats_it_without_a_second_effect(
    tmp_path: Path, nest: Nest
) -> None:
    """P26, P30, P33, P83: each death leaves the next server a job half done; the speaker's and the group's profile."""

    def die_at_each(part: int) -> None:
        load = Load(tmp_path / f"data{part}", nest, "--group", "hikers")
        for point in POINTS[part::2]:
            load.add(ends=3, messages=2)
            with load.server(point, "2") as server:
                flying: list[tuple[str, int, int]] = []
                with suppress(ServerGone):  # it may die while it takes up what its predecessor left
                    server.initialize()
                    server.ready()
                    flying = load.press(server)
                assert server.wait_exit() == -9, point
                load.deaths += 1
                load.collect(server, flying)
        load.finish()

    two_at_a_time(die_at_each, range(2))


@pytest.mark.long
def test_kill_nine_at_random_instants_under_load_loses_and_doubles_nothing(tmp_path: Path, nest: Nest) -> None:
    """P26, P30, P33, P37: during the start, while calls are in flight, and while jobs are worked on."""

    def die_at_random(part: int) -> None:
        dice = random.Random(1000 + part)
        load = Load(tmp_path / f"data{part}", nest)
        for number in range(KILLS // 2):
            load.add(ends=5, messages=15)
            is_starting = number % 5 == 4
            with load.server(anew=is_starting) as server:
                if is_starting:
                    server.said("nothing at all", dice.uniform(0.1, 1.5))  # the instant is the point of this test
                    server.kill()
                else:
                    server.initialize()
                    flying = load.press(server)
                    time.sleep(dice.uniform(0.0, 0.6))  # so is this one
                    server.kill()
                    load.collect(server, flying)
                load.deaths += 1
        load.finish()

    two_at_a_time(die_at_random, range(2))
