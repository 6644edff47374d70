"""`shiguan import --dry-run` of an export refuses what the import refuses."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import product
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from historian.formats.piece import Reading
from historian.formats.registry import chosen
from historian.memory import ScopedMemory
from historian.model import Scope
from historian.takeout import NO_GROUP, NOT_YOURS
from server.imports.importer import Importer, Plan, Send
from server.imports.reports import UNSEEN, Report
from server.imports.sources import opened
from tests.kit.home import Home, home

pytestmark = pytest.mark.anyio


def reported(source: Path, user: str, groups: frozenset[str], take_in: Send | None) -> Report:
    report = Report()
    plan = Plan(chosen("auto"), "auto", Reading(user, ZoneInfo("UTC")), groups=groups)
    with opened([str(source)]) as bundles:
        Importer(plan, report, None, lambda _done, _messages: None, take_in).run(bundles)
    return report


async def exported(house: Home, folder: Path) -> list[Path]:
    """Write an export of alice, who speaks in a group too, and one of that group."""
    message = {"conversation_id": "c", "role": "user", "content": "我喜欢乌龙茶。", "ts": "2026-03-01T10:00:00+08:00"}
    made: list[Path] = []
    for group in (None, "g1"):
        async with house.client("alice", group=group, toolsets=["host", "admin", "pinned"]) as alice:
            await alice.call("messages_append", messages=[message])
            done = await alice.call("end", observations=["Alice likes oolong."], force=True)
            await alice.settled(done["job_id"])
            await alice.call("memory_add", text="Answer in Chinese.")
            lines = (await alice.call("export", page_size=200))["lines"]
        made.append(folder / f"{group}.jsonl")
        made[-1].write_text("\n".join(lines), "utf-8")
    return made


async def test_a_rehearsal_refuses_the_lines_of_others_and_of_groups_like_the_import(tmp_path: Path) -> None:
    async with home(tmp_path / "one") as house:
        sources = await exported(house, tmp_path)
    scopes = product(("alice", "bob"), (frozenset[str](), frozenset({"g1"}), frozenset({"g1", "g2"})), sources)
    async with home(tmp_path / "two") as house:
        for user, groups, source in scopes:
            memory = house.household.memory.of(Scope(user, next(iter(groups)) if len(groups) == 1 else None, groups))
            rehearsed = reported(source, user, groups, None)
            real = reported(source, user, groups, taking_in(memory))
            assert (rehearsed.inserted, rehearsed.named) == (real.inserted + real.ignored, real.named)
            owners = [json.loads(line)["owner"] for line in source.read_text("utf-8").splitlines()[1:]]
            theirs = {"user:alice"} if user == "alice" else set[str]()
            assert rehearsed.inserted == sum(one in theirs | {f"group:{group}" for group in groups} for one in owners)
            assert rehearsed.refused == len(owners) - rehearsed.inserted
            assert {named.partition(": ")[2] for named in rehearsed.named} <= {NOT_YOURS, NO_GROUP}
            assert rehearsed.summary(dry=True)[0].endswith(UNSEEN)


def taking_in(memory: ScopedMemory) -> Send:
    return lambda lines: asdict(memory.take_in(lines))
