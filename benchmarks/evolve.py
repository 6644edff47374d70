"""What group memory costs: a run beside its model call, a search beside the embedding: `python -m benchmarks.evolve`.

The run has 50 statements and 200 new messages; the model is a function in this process that answers at once, so
that all of the time is ours. It stands beside the bare write of as many rows in one transaction. The
searches ask one of many groups of 30 statements each, whose vectors are those of 600 sentences with a little noise. The
first argument is the number of groups (default 1000), the second the number of runs and searches (default 40).
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.kit import folder, p50, p95, table, timed, verdict
from benchmarks.search import BASES, NOISE, open_house, question, sentence
from historian.chat import Answer, ChatTrouble, Reply, Role, Shape
from historian.clock import FixedClock, SystemClock
from historian.group_store import GroupStore
from historian.group_strength import StrengthRule
from historian.group_versions import Moment
from historian.model import Message as Said
from historian.model import Owner, Scope
from historian.record import Record
from historian.session import Session
from prompts import Prompt

if TYPE_CHECKING:
    from server.composition import Household

STATEMENTS, MESSAGES, PER_GROUP = 50, 200, 30
WARM = 2
OVERHEAD_MS, SEARCH_MS = 200.0, 20.0
MODEL_MS = 3_000.0
"""What a call of a chat model takes at least at this length; for the ratio only."""
GROUP = Owner("group", "bench")


class InstantModel:
    """Says at once what it was told to say, as JSON that is read like any other answer."""

    def __init__(self) -> None:
        self.actions: list[dict[str, Any]] = []

    def configured(self, role: Role) -> bool:
        """Say that every role has it."""
        return bool(role)

    def answer(self, role: Role, prompt: Prompt, shape: type[Shape]) -> Answer[Shape]:
        """Return the actions."""
        del role, prompt
        text = json.dumps({"actions": self.actions}, ensure_ascii=False)
        return Answer(shape.model_validate_json(text), text, "instant")

    def converse(self, role: Role, messages: object, tools: object = ()) -> Reply:
        """Say nothing."""
        del role, messages, tools
        return Reply("", "instant")

    def troubles(self) -> tuple[ChatTrouble, ...]:
        """Return none."""
        return ()

    def close(self) -> None:
        """Nothing is open."""


def answered(number: int) -> list[dict[str, Any]]:
    """Return one action for each statement and two new ones: 43 kept (5 confirmed), 5 updated, 2 deleted."""
    actions: list[dict[str, Any]] = []
    for at in range(1, STATEMENTS + 1):
        kind = "update" if at <= 5 else "delete" if at <= 7 else "keep"
        ids = [f"m{at}", f"m{at + 60}"] if at <= 12 else []
        text = f"{sentence(at * 7)} （第 {number} 次）" if kind == "update" else ""
        actions.append(_action(kind, f"s{at}", text, ids))
    return [*actions, *(_action("create", "", f"{sentence(at)} new {number}", [f"m{at}"]) for at in (20, 21))]


def _action(kind: str, old_id: str, text: str, ids: list[str]) -> dict[str, Any]:
    return {
        "action": kind,
        "old_id": old_id,
        "statement": text,
        "change_reason": "said",
        "message_ids": ids,
        "tags": [],
    }


def runs(count: int) -> tuple[list[float], list[float]]:
    """Return how long runs took, and how long the bare writes of as many rows, in ms."""
    taken: list[float] = []
    bare: list[float] = []
    with folder() as data:
        from server.composition import open_household
        from server.settings import load_settings

        model, clock = InstantModel(), FixedClock(SystemClock().now())
        settings = load_settings({"data_dir": data, "user": "bench", "timezone": "Asia/Shanghai"}, {})
        household = open_household(settings, chat=model, clock=clock)
        memory = household.memory.of(Scope("bench", GROUP.id, frozenset({GROUP.id})))
        store = GroupStore(household.database)
        other = sqlite3.connect(data / "bare.sqlite3", isolation_level=None)
        other.execute("PRAGMA journal_mode = WAL").fetchone()
        other.execute("PRAGMA synchronous = FULL")
        other.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")
        for number in range(count + WARM):
            _renew(household, store, clock, number)
            model.actions = answered(number)
            taken.append(timed(memory.groups.evolve))
            bare.append(timed(lambda: _bare(other)))
        other.close()
        household.close()
    return taken[WARM:], bare[WARM:]


def _renew(household: Household, store: GroupStore, clock: FixedClock, number: int) -> None:
    """Let a group have 50 statements and 200 new messages."""
    moment = Moment(int(clock.now().timestamp() * 1000), StrengthRule())
    present = len(store.heads(GROUP))
    with household.database.write() as connection:
        for at in range(STATEMENTS - present):
            step = moment.create(f"{sentence(number * 50 + at)} {number}", [], "said", [])
            store.apply(connection, GROUP, step)
    clock.advance(seconds=3600)
    now = clock.now()
    said = [
        Said(f"x{number}-{at}", "chat", "user", question(at), now - timedelta(seconds=300 - at), f"u{at % 9}", "林晓")
        for at in range(MESSAGES)
    ]
    Record(household.database).append(GROUP, said)


def _bare(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    rows = [(sentence(at),) for at in range(2 * (5 + 2 + 5 + 2))]
    connection.executemany("INSERT INTO rows (text) VALUES (?)", rows)
    connection.execute("COMMIT")


def searches(groups: int, count: int) -> tuple[list[float], list[float]]:
    """Return how long searches took, each in another group, and how long embedding the question took, in ms."""
    with folder() as data:
        household = open_house(data)
        _fill(household, groups)
        taken: list[float] = []
        embedding: list[float] = []
        for number in range(count + 5):
            group = f"group-{number * 7 % groups}"
            memory = household.memory.of(Scope("bench", group, frozenset({group})), Session(timezone="UTC"))
            asked = question(number)
            taken.append(timed(lambda: memory.groups.search(asked, threshold=0)))  # noqa: B023
            embedding.append(timed(lambda: household.engine.embedder.embed([f"{asked} ?"])))  # noqa: B023
        household.close()
    return taken[5:], embedding[5:]


def _fill(household: Household, groups: int) -> None:
    import numpy as np

    from historian.backlog import group_backlog
    from historian.vectors import VectorRecord

    store = GroupStore(household.database)
    moment = Moment(int(time.time() * 1000), StrengthRule())
    for first in range(0, groups, 50):
        with household.database.write() as connection:
            for number in range(first, min(groups, first + 50)):
                for at in range(PER_GROUP):
                    step = moment.create(sentence(number * PER_GROUP + at), [], "said", [])
                    store.apply(connection, Owner("group", f"group-{number}"), step)
    embedder, random = household.engine.embedder, np.random.default_rng(7)
    bases = embedder.embed([sentence(n) for n in range(BASES)])
    backlog = group_backlog(household.database)
    while waiting := backlog.next(embedder.identity, 1_000):
        noise = random.normal(0, NOISE, (len(waiting), embedder.dimension)).astype(np.float32)
        records = [
            VectorRecord(str(one.row), bases[(one.row - 1) % BASES] + extra, one.owner, one.author, one.epoch)
            for one, extra in zip(waiting, noise, strict=True)
        ]
        household.engine.vectors.upsert("group_memories", records)
        backlog.done({one.row: 1 for one in waiting}, embedder.identity)


def main(arguments: list[str]) -> int:
    """Measure and print."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    groups, count = (*map(int, arguments), *(1_000, 40)[len(arguments) :])
    taken, bare = runs(count)
    table(
        f"One run over {STATEMENTS} statements and {MESSAGES} messages without its model call, in ms",
        ["", "bare write", "run", "ratio", f"of a model call of {MODEL_MS:.0f} ms", "target"],
        [
            [
                name,
                f"{of(bare):.1f}",
                f"{of(taken):.1f}",
                f"{of(taken) / of(bare):.1f}",
                f"{of(taken) / MODEL_MS:.1%}",
                goal,
            ]
            for name, of, goal in (("p50", p50, ""), ("p95", p95, verdict(p95(taken), OVERHEAD_MS, " ms")))
        ],
    )
    found, embedding = searches(groups, count)
    table(
        f"`search_group_memories` in one of {groups:,} groups of {PER_GROUP} statements, in ms",
        ["", "embedding the question", "search", "ratio", "target"],
        [
            [name, f"{of(embedding):.1f}", f"{of(found):.1f}", f"{of(found) / of(embedding):.1f}", goal]
            for name, of, goal in (("p50", p50, ""), ("p95", p95, verdict(p95(found), SEARCH_MS, " ms")))
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
