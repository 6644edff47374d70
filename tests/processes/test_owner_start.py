"""Several hosts start at once, in every order: one owner comes up, and it belongs to none of them."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from server.toolsets import published
from tests.kit.clients import House, alive, at_once, resident, say

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]
TOOLS = {tool.name for tool in published([])}


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    with House(tmp_path / "data") as made:
        yield made


def open_files(pid: int) -> dict[int, str]:
    """Return descriptor → what it is, of those that are not closed while one looks."""
    found: dict[int, str] = {}
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found[int(link.name)] = str(link.readlink())
    return found


@pytest.mark.parametrize("count", [8, pytest.param(24, marks=pytest.mark.soak)])
def test_clients_that_start_at_once_on_an_empty_folder_all_list_tools_from_one_owner(house: House, count: int) -> None:
    """P11, P18, P19."""
    begun = time.monotonic()
    clients = [house.client() for _ in range(count)]
    names: list[set[str]] = []

    def list_tools(index: int) -> None:
        answer = clients[index].initialize().request("tools/list")
        names.append({tool["name"] for tool in answer["tools"]})

    at_once(*(lambda index=index: list_tools(index) for index in range(count)))
    took = time.monotonic() - begun
    say(f"{count} clients on an empty folder listed their tools within {took:.2f} s")
    assert names == [TOOLS] * count
    assert took < 15 * count / 8
    assert house.owners() == [house.owner()]
    assert all(client.stderr == "" for client in clients)


def test_clients_that_come_one_after_the_other_share_the_owner(house: House) -> None:
    """P18, P19."""
    clients = []
    for _ in range(5):
        begun = time.monotonic()
        client = house.ready()
        assert {tool["name"] for tool in client.request("tools/list")["tools"]} == TOOLS
        assert time.monotonic() - begun < 10
        clients.append(client)
    assert house.owners() == [house.owner()]


def test_the_owner_is_detached_from_the_client_that_started_it(house: House, tmp_path: Path) -> None:
    """Its own session, the folder as its working folder, and none of the client's pipes."""
    client = house.ready()
    owner = house.owner()
    assert os.getsid(owner) == owner
    assert owner != client.pid
    assert Path(f"/proc/{owner}/cwd").readlink() == house.folder
    opened = open_files(owner)
    assert opened[0] == "/dev/null"
    assert opened[1] == opened[2] == str(house.folder / "owner.log")
    theirs = {*open_files(client.pid).values()}
    pipes = {target for target in theirs if target.startswith("pipe:")}
    assert pipes
    assert not pipes & {*opened.values()}
    assert not [target for target in opened.values() if target.endswith("spawn.lock")]


@pytest.mark.parametrize("ending", ["leave", "kill"])
def test_the_owner_outlives_the_client_that_started_it(house: House, ending: str) -> None:
    first = house.ready()
    owner = house.owner()
    if ending == "leave":
        assert first.leave() == 0
    else:
        first.kill()
    assert alive(owner)
    second = house.ready()
    assert second.call("memory_status")["pending"] == 0
    assert house.owners() == [owner]


def test_the_owner_answers_before_its_embedder_is_loaded_and_words_are_found_meanwhile(tmp_path: Path) -> None:
    """P41, P42, P43, P44: initialize, the first `end` and a search come at once while the model hangs for a minute."""
    with House(tmp_path / "data", shims=["hung"]) as house:
        begun = time.monotonic()
        client = house.ready()
        took = time.monotonic() - begun
        say(f"cold client with a hanging model: initialize after {took:.2f} s")
        assert took < 10
        receipt = client.call("end", observations=["Marlene planted 12 quince trees in Lund on 2024-03-02."])
        assert receipt["queued"]
        client.settled(receipt["job_id"])
        found = client.call("search_events", query="quince")
        assert found["degraded"]
        assert "Marlene" in json.dumps(found["events"])
        loaded = Path(f"/proc/{house.owner()}/maps").read_text()
        assert "chromadb" not in loaded


def test_an_owner_that_only_commands_ask_never_loads_the_protocol(tmp_path: Path) -> None:
    """P44: it is most of what a start loads, so that a command waits half as long; the first MCP client brings it."""
    with House(tmp_path / "data", env={"PYTHONPROFILEIMPORTTIME": "1"}) as house:
        turn = ("log", "--user", "alice", "--message-id", "m1", "Marlene planted 12 quince trees in Lund.")
        for command in (turn, ("status",), ("search", "quince"), ("context", "quince"), ("queue", "list")):
            house.command(*command)
        owner = house.owner()
        assert "server.owner.control" in loaded_by(house)
        assert not loaded_by(house) & {"mcp", "mcp_types", "starlette", "uvicorn"}
        client = house.ready()
        assert {tool["name"] for tool in client.request("tools/list")["tools"]} == TOOLS
        assert {"mcp", "mcp_types"} <= loaded_by(house), "the spy sees what it is to miss"
        assert house.owners() == [owner]


def loaded_by(house: House) -> set[str]:
    """Return the modules that the owners have loaded, which are told to write that down."""
    return set(re.findall(r"^import time: .*\| +([\w.]+)$", house.log(), re.MULTILINE))


def test_a_client_loads_the_standard_library_only_and_weighs_little(house: House) -> None:
    """P96 for the light end."""
    house.ready().call("memory_status")
    client = house.ready()
    client.call("memory_status")
    weight = resident(client.pid)
    say(f"a further client weighs {weight:.1f} MB")
    assert weight < 20
    maps = Path(f"/proc/{client.pid}/maps").read_text()
    assert not [name for name in ("pydantic", "numpy", "rpds", "chromadb") if name in maps]


def test_the_folder_and_the_socket_are_closed_to_others(house: House) -> None:
    house.ready()
    house.owner()
    assert stat.S_IMODE(house.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((house.folder / "owner.sock").stat().st_mode) == 0o600
    for name in ("owner.token", "owner.json", "owner.lock", "owner.log", "memory.sqlite3"):
        assert stat.S_IMODE((house.folder / name).stat().st_mode) == 0o600, name
