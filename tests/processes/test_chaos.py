"""Twenty people and five groups, a model that fails and dawdles, and a server that is killed again and again."""

from __future__ import annotations

import random
import re
import sqlite3
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from historian.clock import SystemClock
from historian.embed_fake import HashingEmbedder
from historian.hold import is_held
from historian.model import Owner
from historian.profiles import ProfileStore
from server.composition import open_household
from server.settings import load_settings
from tests.kit.chat import OUTAGES, ChatAsked, ScriptedModel
from tests.kit.clients import until
from tests.kit.endpoint import FakeEndpoint
from tests.kit.nest import Nest
from tests.kit.speaking import good
from tests.kit.stdio import CEILING, RpcError, ServerGone, Stdio, content

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")]

PEOPLE, GROUPS = 20, 5
IN_FLIGHT = 25
"""Turns sent between two deaths, about."""
SETTLING = CEILING * 5
FIRST_JOB = 30.0
"""Seconds within which a job reaches the model, however busy the machine is."""
GOODS = ("tea", "rice", "ink", "silk", "salt", "茶叶", "丝绸", "纸张")


class Weather:
    """How the model is disposed. It changes while requests come; when calm, every answer is right and at once."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._lock = threading.Condition()
        self._answer = good()
        self._asked = 0
        self.calm = threading.Event()
        self.mood = "fair"
        self.met: Counter[str] = Counter()

    def change(self) -> None:
        """Take on another mood."""
        with self._lock:
            self.mood = self._dice.choice(("fair", "outage", "slow", "fitful", "fitful"))

    def wait_for(self, requests: int, seconds: float) -> None:
        """Return when so many more requests have come, or after a while: an outage spares the model its requests."""
        with self._lock:
            goal = self._asked + requests
            self._lock.wait_for(lambda: self._asked >= goal, seconds)

    def __call__(self, asked: ChatAsked) -> object:
        """Answer one request, or fail as the mood is."""
        right = self._answer(asked)
        with self._lock:
            mood, chance = self.mood, self._dice.random()
            name = self._dice.choice(sorted(OUTAGES))
            wait = self._dice.uniform(0.2, 2.0)
            self._asked += 1
            self._lock.notify_all()
        if self.calm.is_set() or mood == "fair" or (mood == "fitful" and chance < 0.7):
            return right
        self.met[mood] += 1
        if mood == "slow":
            self.calm.wait(wait)  # a slow answer comes at once when the weather turns
            return right
        return OUTAGES[name]("{}")


@dataclass
class Turn:
    """One turn: whose, where, what it says, and whether it was acknowledged."""

    number: int
    user: str
    group: str | None
    job_id: str | None = None

    @property
    def marker(self) -> str:
        return f"K{self.number}X"

    @property
    def fact(self) -> str:
        goods = GOODS[self.number % len(GOODS)]
        if self.number % 2:
            return f"Depot {self.number + 5000} holds parcel {self.marker} with {goods}."
        return f"{self.number + 5000} 号仓库存放着包裹 {self.marker}（{goods}）。"

    def request(self) -> dict[str, Any]:
        meta = {"shiguan/user_id": self.user, "shiguan/sender_name": f"Name {self.user}"}
        if self.group is not None:
            meta["shiguan/group_id"] = self.group
        arguments = {"memo": f"Noted {self.marker}.", "observations": [self.fact], "source_message": self.fact}
        return {"name": "end", "arguments": arguments, "_meta": meta}

    @property
    def entities(self) -> list[Owner]:
        """Whose profiles it has to stand in."""
        own = Owner("user", self.user)
        return [own] if self.group is None else [own, Owner("group", self.group)]


@dataclass
class Chaos:
    """A folder, the model beside it, and what was acknowledged."""

    folder: Path
    nest: Nest
    endpoint: FakeEndpoint
    weather: Weather
    seed: int
    turns: list[Turn] = field(default_factory=list[Turn])
    deaths: int = 0

    def server(self) -> Stdio:
        """Start a server that trusts its host."""
        return Stdio(self.folder, "--trust-host", nest=self.nest)

    def prepare(self) -> None:
        """Write the settings."""
        self.folder.mkdir()
        (self.folder / "shiguan.toml").write_text(
            "[historian]\nworkers = 4\n[profile]\nmax_lines = 5000\n"
            f'[chat]\nbase_url = "{self.endpoint.base_url}"\nmodel = "m"\napi_key = "k"\ntimeout = 5\n',
            "utf-8",
        )

    def rage(self, count: int) -> None:
        """Close `count` turns while the weather changes and servers die."""
        dice = random.Random(self.seed)
        while len(self.turns) < count or any(turn.job_id is None for turn in self.turns):
            self.weather.change()
            for _ in range(min(dice.randint(IN_FLIGHT // 2, IN_FLIGHT * 3 // 2), count - len(self.turns))):
                group = f"group{dice.randrange(GROUPS)}" if dice.random() < 0.4 else None
                self.turns.append(Turn(len(self.turns), f"user{dice.randrange(PEOPLE)}", group))
            with self.server() as server:
                self.press(server, dice)
                seconds = dice.uniform(2.0, 8.0)  # a busy machine needs longer for its first job
                self.weather.wait_for(dice.randrange(30), seconds if self.weather.met else FIRST_JOB)
                time.sleep(dice.uniform(0.0, 0.1))  # the random instant is the point of this test
                server.kill()
            self.deaths += 1

    def press(self, server: Stdio, dice: random.Random) -> None:
        """Send what is not acknowledged, and note what is; now and then the server dies amid the calls."""
        flying: list[tuple[Turn, int]] = []
        doomed = dice.random() < 0.3
        try:
            server.initialize()
            for turn in [turn for turn in self.turns if turn.job_id is None]:
                flying.append((turn, server.send("tools/call", turn.request())))
            if doomed:
                time.sleep(dice.uniform(0.0, 0.3))  # so is this one
                server.kill()
        except ServerGone:
            pass
        for turn, number in flying:
            try:
                turn.job_id = content(server.answer(number))["job_id"]
            except (ServerGone, RpcError):
                return

    def settle(self) -> None:
        """Let the weather turn fair, and one server do all that is left."""
        self.weather.calm.set()
        with self.server() as server:
            server.initialize()
            until(self.is_settled, seconds=SETTLING, what=lambda: (self.left(), server.stderr[-3000:]))
            assert server.leave() == 0
            assert "HTTP Request" not in server.stderr, "nobody needs a line for each request, with its address"

    def left(self) -> dict[str, int]:
        """Return what is still to be done."""
        queues = self.folder / "queues"
        found = {state: len([*(queues / state).glob("*.json")]) for state in ("pending", "processing", "failed")}
        return found | {"merges": len(self.column("SELECT event_id FROM merge_waiting"))}

    def is_settled(self) -> bool:
        left = self.left()
        assert left["failed"] == 0, [path.read_text() for path in (self.folder / "queues" / "failed").glob("*.json")]
        return not any(left.values())

    def column(self, sql: str) -> list[str]:
        """Read one column of the database, changing nothing."""
        with closing(sqlite3.connect(f"file:{self.folder / 'memory.sqlite3'}?mode=ro", uri=True)) as connection:
            return [row[0] for row in connection.execute(sql)]

    def check(self) -> None:
        """Check every promise from outside, with nobody running."""
        texts = self.column("SELECT text FROM events WHERE has_new_info = 1")
        found = Counter(marker for text in texts for marker in re.findall(r"K\d+X", text))
        assert found == Counter(turn.marker for turn in self.turns), "each acknowledged turn is an event exactly once"
        jobs = self.column("SELECT job_id FROM receipts WHERE state = 'done'")
        assert sorted(jobs) == sorted({turn.job_id for turn in self.turns if turn.job_id})
        assert len(self.column("SELECT text FROM events WHERE has_new_info = 0")) == len(self.turns)
        store = ProfileStore(self.folder, clock=SystemClock())
        wanted: dict[Owner, Counter[str]] = {}
        for turn in self.turns:
            for entity in turn.entities:
                wanted.setdefault(entity, Counter())[turn.marker] += 1
        assert set(store.list()) == set(wanted)
        for entity, markers in wanted.items():
            profile = store.read(entity)
            assert profile is not None
            lines = Counter(marker for line in profile.lines for marker in re.findall(r"K\d+X", line.text))
            assert lines == markers, (entity, lines - markers, markers - lines)
        assert not is_held(self.folder)
        assert [*(self.folder / "queues" / "processing").iterdir()] == []
        self.check_that_it_opens()

    def check_that_it_opens(self) -> None:
        """No lock is left: everything opens, takes a job and gives it back."""
        settings = load_settings({"data_dir": self.folder, "user": "user0", "timezone": "UTC"}, {})
        household = open_household(settings, embedder=HashingEmbedder())
        try:
            assert household.queue.recover() == []
            assert household.queue.claim() is None
            with household.database.write() as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        finally:
            household.close()


def ravage(folder: Path, nest: Nest, count: int, seed: int) -> Chaos:
    weather = Weather(seed)
    with FakeEndpoint(chat=ScriptedModel(weather)) as endpoint:
        chaos = Chaos(folder, nest, endpoint, weather, seed)
        chaos.prepare()
        chaos.rage(count)
        chaos.settle()
        chaos.check()
    return chaos


@pytest.mark.long
def test_two_hundred_turns_amid_deaths_and_outages_are_each_an_event_once_and_no_profile_lost_a_line(
    tmp_path: Path, nest: Nest
) -> None:
    """P26, P29, P30, P33."""
    chaos = ravage(tmp_path / "data", nest, 200, seed=20261128)
    assert chaos.deaths >= 6
    assert sum(chaos.weather.met.values()) > 0


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_two_thousand_turns_amid_deaths_and_outages_are_each_an_event_once(tmp_path: Path, nest: Nest) -> None:
    """P26, P29, P30, P33: the same, longer."""
    chaos = ravage(tmp_path / "data", nest, 2000, seed=7)
    assert chaos.deaths >= 60
    assert {"outage", "slow", "fitful"} <= chaos.weather.met.keys()
