"""Owners and clients killed at random instants: what was acknowledged is there once, and the next owner answers."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.kit.clients import Client, House, alive, end, is_of, processes, say, together, until
from tests.kit.stdio import ServerGone

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    with House(tmp_path / "data", env={"SHIGUAN_TOOLSETS": "host"}) as made:
        yield made


class Writer:
    """A host that closes turns and appends messages as fast as it can, and starts a new client when its own is gone."""

    def __init__(self, house: House, number: int) -> None:
        self.house = house
        self.number = number
        self.ended: list[str] = []
        self.appended: list[str] = []
        self.jobs: list[str] = []
        self.attempts = 0
        self.stopping = threading.Event()
        self.client = house.ready()

    def run(self) -> None:
        while not self.stopping.wait(0.05):  # the load is spread over the rounds
            self.attempts += 1
            mark = f"qx{self.number:02d}z{self.attempts:05d}k"
            try:
                text = f"Gardener {mark} planted quince trees near Lund on 2024-03-02."
                self.jobs.append(self.client.call("end", observations=[text], force=True)["job_id"])
                self.ended.append(mark)
                message = {
                    "message_id": mark,
                    "conversation_id": "c",
                    "role": "user",
                    "content": mark,
                    "ts": 1709366400,
                }
                self.client.call("messages_append", messages=[message])
                self.appended.append(mark)
            except ServerGone:
                self.client = self.house.ready()


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("rounds", [20, pytest.param(100, marks=pytest.mark.soak)])
def test_nothing_acknowledged_is_lost_or_doubled_when_owner_client_or_both_are_killed(
    house: House, rounds: int
) -> None:
    """P19, P26, P93: the client that lives on answers with the same request id, after whatever happened."""
    rng = random.Random(rounds)
    watcher = house.ready()
    writers = [Writer(house, number) for number in range(2)]
    slowest = 0.0
    killed: set[int] = set()
    with together(*(writer.run for writer in writers)):
        try:
            for number in range(rounds):
                owner = house.owner()
                threading.Event().wait(rng.uniform(0.0, 0.6))  # the random instant
                victims = number % 3
                if victims in (1, 2):
                    victim = rng.choice(writers).client.pid
                    killed.add(victim)
                    end(victim)
                if victims in (0, 2):
                    end(owner)
                    begun = time.monotonic()
                    watcher.call("memory_status")
                    slowest = max(slowest, time.monotonic() - begun)
        finally:
            for writer in writers:
                writer.stopping.set()
    house.embedded(watcher, seconds=300 + 10 * rounds)
    say(f"{rounds} rounds: the slowest first answer of a new owner took {slowest:.2f} s")
    assert slowest < 30
    for writer in writers:
        for mark in writer.ended:
            assert house.count("SELECT count(*) FROM events WHERE text LIKE ? AND same_as IS NULL", f"%{mark}%") == 1
        for mark in writer.appended:
            assert house.count("SELECT count(*) FROM messages WHERE message_id LIKE ?", f"%{mark}%") == 1
        assert writer.ended
        assert len({*writer.jobs}) == len(writer.jobs)
        mark = writer.ended[-1]
        assert sum(mark in text for text in watcher.texts(mark)) == 1
    attempts = sum(writer.attempts for writer in writers)
    assert house.count("SELECT count(*) FROM events WHERE same_as IS NULL") <= attempts
    assert house.count("SELECT count(*) FROM events WHERE embedded_by IS NULL") == 0
    assert len(house.owners()) == 1
    # a writer that was to stop when its client was killed has started no other
    leave_all(house, [watcher, *(writer.client for writer in writers if writer.client.pid not in killed)])


def leave_all(house: House, clients: list[Client]) -> None:
    """End clients and owner as a person does, and look whether anything stays behind."""
    for client in clients:
        assert client.leave() == 0
    house.command("owner", "stop")
    until(lambda: not [pid for pid, words in processes() if is_of(words, house.folder) and alive(pid)])
    assert not (house.folder / "owner.sock").exists()


def test_calls_in_flight_when_the_owner_dies_are_answered_with_their_own_ids(house: House) -> None:
    client = house.ready()
    for _ in range(3):
        owner = house.owner()
        numbers = [client.send_call("search_events", query=f"quince {index}") for index in range(10)]
        numbers += [client.send("tools/list"), client.send("resources/templates/list"), client.send("ping")]
        end(owner)
        for number in numbers:
            client.answer(number)
    assert client.stderr == ""
    answered = [message["id"] for message in client.messages() if "method" not in message]
    assert len(answered) == len({*answered})


def test_a_call_cut_off_by_the_owners_death_is_stored_once(house: House) -> None:
    """P33: `end` is repeated by the client, and recognised by the new owner."""
    client = house.ready()
    numbers = [
        client.send_call("end", observations=[f"Gardener qx{index:02d}k planted quinces on 2024-03-02."], force=True)
        for index in range(10)
    ]
    client.answer(numbers[0])
    end(house.owner())
    jobs = {client.answer(number)["structuredContent"]["job_id"] for number in numbers[1:]}
    assert len(jobs) == 9
    house.embedded(client)
    for index in range(10):
        assert house.count("SELECT count(*) FROM events WHERE text LIKE ?", f"%qx{index:02d}k%") == 1


@pytest.mark.parametrize("era", ["initialize", "discover"])
def test_a_client_of_either_era_outlives_its_owner(house: House, era: str) -> None:
    client = house.client()
    getattr(client, era)()
    first = house.owner()
    end(first)
    begun = time.monotonic()
    assert client.call("memory_status")["pending"] == 0
    say(f"{era}: a new owner answered after {time.monotonic() - begun:.2f} s")
    assert house.owner() != first
    opening = [message for message in client.messages() if "capabilities" in json.dumps(message)]
    assert len(opening) == 1


def test_the_second_client_takes_over_when_the_first_and_the_owner_die(house: House) -> None:
    """P19."""
    first, second = house.ready(), house.ready()
    end(house.owner())
    first.kill()
    assert second.call("memory_status")["pending"] == 0
    assert len(house.owners()) == 1


def test_an_owner_that_is_killed_while_it_starts_is_started_again(house: House) -> None:
    client = house.client()
    until(house.owners)
    for pid in house.owners():
        end(pid)
    client.initialize()
    assert client.call("memory_status")["pending"] == 0


def test_a_cancelled_call_is_cancelled_in_the_owner_and_the_connection_lives_on(house: House) -> None:
    client = house.ready()
    number = client.send_call("search_events", query="quince")
    client.notify("notifications/cancelled", {"requestId": number})
    assert client.call("memory_status")["pending"] == 0
    end(house.owner())
    assert client.call("memory_status")["pending"] == 0


@pytest.mark.soak
def test_an_owner_that_hangs_is_named_instead_of_waited_for_for_ever(house: House) -> None:
    """P9, P18: a stopped process accepts connections and answers nothing; once it goes on, so do its clients."""
    house.ready()
    owner = house.owner()
    os.kill(owner, signal.SIGSTOP)
    try:
        client = house.client()
        begun = time.monotonic()
        assert client.wait_exit(seconds=100) == 1
        took = time.monotonic() - begun
        say(f"a stopped owner was named after {took:.1f} s")
        assert took < 30
        assert client.stderr.count("\n") == 1
        assert f"its process {owner} is stopped; continue it (kill -CONT {owner})" in client.stderr
        stopping = house.command("owner", "stop", code=1)
        assert f"kill -KILL {owner}" in stopping.stderr.decode()
    finally:
        os.kill(owner, signal.SIGCONT)
    assert house.ready().call("memory_status")["pending"] == 0
    assert house.owner() == owner
