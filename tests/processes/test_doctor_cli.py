"""`shiguan doctor` on a real owner: what it finds, what it mends, and that nothing true is lost."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from server.owner.address import read_holder
from tests.kit.clients import House
from tests.kit.patient import make_deadly

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]
SAID = [f"The {number}. colleague of Alice is called Name{number}." for number in range(110)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with over a hundred events and their vectors, whose owner has left."""
    folder = tmp_path_factory.mktemp("filled") / "data"
    with House(folder) as house:
        client = house.ready("--user", "alice")
        for start in range(0, len(SAID), 32):
            client.call("end", observations=SAID[start : start + 32])
        client.settled(client.call("end", observations=["小明不吃辣。"])["job_id"])
        client.ready()
        house.embedded(client)
        client.leave()
        _stop(house)
    return folder


def _stop(house: House) -> None:
    from tests.kit.stdio import environment, run

    run("owner", "stop", "--data-dir", str(house.folder), env=environment(*house.shims), code=None)


@pytest.fixture
def house(filled: Path, tmp_path: Path) -> Generator[House]:
    shutil.copytree(filled, tmp_path / "data", ignore=shutil.ignore_patterns("owner.json", "*.sock"))
    with House(tmp_path / "data") as made:
        yield made


def examined(house: House, *flags: str, code: int | None = 0) -> dict[str, Any]:
    """Return what `shiguan doctor --json` says."""
    report: dict[str, Any] = json.loads(house.command("doctor", "--json", *flags, code=code).stdout)
    return report


def errors(report: dict[str, Any]) -> list[str]:
    return [one["check"] for one in report["findings"] if one["severity"] == "error"]


def damage_segment(folder: Path) -> None:
    os.truncate(next(folder.glob("chroma/*/data_level0.bin")), 1_000)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: shutil.rmtree(folder / "chroma"),
        damage_segment,
        lambda folder: (folder / "chroma" / "chroma.sqlite3").write_bytes(b"garbage" * 9_999),
        lambda folder: make_deadly(folder / "chroma"),
    ],
    ids=["deleted", "truncated", "garbage", "deadly"],
)
def test_vectors_that_were_damaged_are_found_and_made_again(house: House, damage: Callable[[Path], object]) -> None:
    """P1, P13."""
    damage(house.folder)
    report = examined(house, "--fix")
    assert errors(report) == []
    assert ("vectors", "error") in [(one["check"], one["severity"]) for one in report["fixed"]]
    client = house.ready("--user", "alice")
    client.ready()
    assert "小明不吃辣。" in client.texts("小明 不吃辣")
    assert client.call("memory_status")["unembedded"] == 0
    assert [path.name for path in house.folder.glob("chroma*")] == ["chroma"]


def test_an_owner_that_its_vectors_killed_has_a_successor_that_makes_them_anew(house: House) -> None:
    """P1, P13: nobody calls the doctor; the next owner examines what the last one did not come through."""
    make_deadly(house.folder / "chroma")
    (house.folder / "chroma.trial").touch(0o600)
    client = house.ready("--user", "alice")
    client.ready()
    house.embedded(client)
    assert "小明不吃辣。" in client.texts("小明 不吃辣")
    assert not (house.folder / "chroma.trial").exists()
    assert len([*house.folder.glob("chroma.damaged-*")]) == 1


def test_one_line_a_finding_and_the_exit_code_says_whether_an_error_is_left(house: House) -> None:
    """P13: a broken profile, half a job and a token that others may read."""
    profile = house.folder / "profiles" / "users" / "alice.md"
    broken = "---\nentity_id: [alice\n---\n- 手写的一行\n"
    profile.write_text(broken, "utf-8")
    (house.folder / "queues" / "pending" / "0abc.json").write_text('{"schema": 1, "job')
    token = house.folder / "owner.token"
    token.chmod(0o644)
    lines = house.command("doctor", code=1).stdout.decode().splitlines()
    words = [line.split()[:2] for line in lines]
    assert ["error", "profiles"] in words
    assert ["warning", "queue"] in words
    assert ["warning", "permissions"] in words
    assert all(str(house.folder) not in line for line in lines)
    report = examined(house, "--fix", code=1)
    assert errors(report) == ["profiles"]
    assert "permissions" in [one["check"] for one in report["fixed"]]
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert profile.read_text("utf-8") == broken
    assert "pid" in read_holder(house.folder)
