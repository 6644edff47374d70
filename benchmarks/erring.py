"""What comes through a model that errs: `python -m benchmarks.erring [COUNT]`.

A real memory with a scripted model over HTTP. One model gives a fifth of its answers in one of the ways models err;
the other one copies what needs context, and complies when it is told so. Both by a fixed seed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import anyio

from benchmarks.kit import table
from tests.kit.chat import Answer, ChatAsked, Erring
from tests.kit.home import Home, Person
from tests.kit.speaking import good, rewritten, speaking_home

TARGET = 99.0
AT_ONCE = 20


def copying(asked: ChatAsked) -> object:
    """Answer with what needs context, and rightly when the violations are named."""
    if "<observations " not in asked.messages[1]["content"]:
        return good()(asked)
    who = "王芳" if "<violations " in asked.last else "他"
    return rewritten(asked, lambda text: text.replace("他", who).replace("昨天", "2026-02-20"))


async def told(alice: Person, observations: Sequence[str]) -> int:
    """Close a turn for each observation, and return how many jobs failed."""
    recent = [{"content": "王芳来了", "sender_name": "小明"}]
    for start in range(0, len(observations), AT_ONCE):
        some = observations[start : start + AT_ONCE]
        for text in some:
            await alice.call("end", observations=[text], recent_messages=recent)
        await alice.drained(300)
    return int((await alice.call("memory_status"))["failed"])


def stored(house: Home) -> tuple[int, int, int]:
    """Return how many statements there are, how many a model worded, and how many need no context."""
    with house.household.database.read() as connection:
        found = connection.execute(
            "SELECT count(*), sum(origin = 'model'), sum(is_absolute) FROM events"
            " WHERE same_as IS NULL AND has_new_info = 1"
        ).fetchone()
    return int(found[0]), int(found[1] or 0), int(found[2] or 0)


async def measured(answer: Answer, observations: Sequence[str]) -> tuple[int, int, int, int]:
    """Return jobs that failed, and what is stored."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            speaking_home(Path(folder), answer) as (house, _, _endpoint),
            house.client(said_at="2026-02-21T14:30:00+08:00") as alice,
        ):
            failed = await told(alice, observations)
            return failed, *stored(house)


def line(name: str, count: int, good_ones: int, taken: tuple[int, int, int, int]) -> list[str]:
    """Return one row of the table."""
    failed, _, worded, absolute = taken
    share = 100 * good_ones / count
    judged = f"{'met' if share > TARGET else 'MISSED'} (> {TARGET:g} %)"
    return [name, str(count), str(failed), str(worded), str(absolute), f"{share:.1f} %", judged]


async def run(count: int) -> None:
    """Measure and print."""
    parcels = [f"Parcel {number} went to Bern." for number in range(count)]
    books = [f"他昨天买了 {number} 本书" for number in range(2, count + 2)]
    erring = await measured(Erring(good(), 0.2, seed=3), parcels)
    complying = await measured(copying, books)
    table(
        "What comes through",
        ["model", "jobs", "failed", "worded by the model", "without context", "share", "target"],
        [
            line("errs in 20 % of its answers: stored", count, erring[1] - erring[0], erring),
            line("complies on retry: passes the gate", count, complying[3], complying),
        ],
    )


def main(arguments: list[str]) -> int:
    """Measure and print."""
    anyio.run(run, int(arguments[0]) if arguments else 300)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
