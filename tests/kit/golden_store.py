"""A small store with a bit of everything, written by each released version, and what it must answer ever after.

`python -m tests.kit.golden_store` writes that of the present version into `tests/stores`, for a release.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

import anyio

from server import __version__
from tests.kit.home import home

STORES = Path(__file__).parents[1] / "stores"
SAID = ("我对花生过敏，也不吃辣。", "I live in Lund and keep bees.", "下周五我去苏州看园林。")
CLOSED = (
    (("Alice 对花生过敏。",), "m1", "Allergy noted."),
    (("Alice lives in Lund.", "Alice keeps bees."), "m2", ""),
    (("Alice 2026-03-13 去苏州看园林。",), "m3", "记下了行程。"),
)
GOLDEN = {
    "花生": "Alice 对花生过敏。",
    "Where does Alice live? Lund": "Alice lives in Lund.",
    "bees": "Alice keeps bees.",
    "苏州园林": "Alice 2026-03-13 去苏州看园林。",
}
"""What is asked, and the event that comes first."""


async def populate(folder: Path) -> None:
    """Fill a folder through the tools, as a host and an agent do."""
    async with home(folder) as house:
        async with house.client("alice") as alice:
            messages = [
                {
                    "message_id": f"m{number}",
                    "conversation_id": "c1",
                    "role": "user",
                    "sender_id": "alice",
                    "sender_name": "Alice",
                    "content": text,
                    "ts": f"2026-03-0{number}T10:00:00+08:00",
                }
                for number, text in enumerate(SAID, start=1)
            ]
            await alice.call("messages_append", messages=messages)
            for observations, message_id, memo in CLOSED:
                await alice.remember(*observations, message_ids=[message_id], memo=memo, force=True)
        async with house.client("alice", group="choir") as alice:
            await alice.remember("Alice conducts the choir.", source_message="I conduct the choir.", force=True)
            await alice.embedded()


def unpacked(version: str, folder: Path) -> Path:
    """Return the folder of a released version's store, laid out below `folder`."""
    with tarfile.open(STORES / f"{version}.tar.gz") as packed:
        packed.extractall(folder / "data", filter="data")
    (folder / "data").chmod(0o700)
    return folder / "data"


def write(version: str) -> Path:
    """Write the store of the version that runs, and return where."""
    target = STORES / f"{version}.tar.gz"
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(populate, Path(folder) / "data")
        with tarfile.open(target, "w:gz") as packed:
            packed.add(Path(folder) / "data", arcname=".")
    return target


if __name__ == "__main__":
    sys.stdout.write(f"{write(__version__)}\n")
