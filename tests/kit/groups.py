"""A record with groups in it and the parts of group memory over it, with a scripted model and without vectors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from historian.chat import Chat
from historian.clock import FixedClock
from historian.database import Database
from historian.evolve_model import EvolveModel
from historian.evolve_window import WindowReader
from historian.evolving import Books, Deciding, Evolver
from historian.group_runs import GroupRuns
from historian.group_store import GroupStore
from historian.group_versions import Version
from historian.live import LiveOptions
from historian.model import Message, Owner
from historian.options import GroupOptions, Options
from historian.record import Record
from historian.standstill import Standstill
from prompts import Prompt, PromptLibrary
from tests.kit.chat import ChatAsked

NOON = datetime(2026, 2, 20, 12, tzinfo=UTC)
CLUB = Owner("group", "club")

Actions = Sequence[Mapping[str, Any]]


class GroupHouse:
    """Everything between a record and a model, in a folder."""

    def __init__(self, folder: Path, chat: Chat, *, group: GroupOptions | None = None) -> None:
        self.clock = FixedClock(NOON)
        self.database = Database(folder / "memory.sqlite3")
        self.record = Record(self.database)
        self.store = GroupStore(self.database)
        self.runs = GroupRuns(self.database, folder / "locks")
        self.options = LiveOptions(Options(group=group or GroupOptions()))
        self.windows = WindowReader(self.database, self.record, self.runs, lambda: self.options.now.group)
        self.left: list[int] = []
        self.evolver = Evolver(
            Books(self.database, self.store, self.runs, self.windows),
            Deciding(lambda: chat.configured("evolve"), lambda: EvolveModel(chat, PromptLibrary(), lambda: 1)),
            self.options,
            Standstill(),
            self.clock,
            self.left.extend,
        )

    def say(self, *texts: str, group: Owner = CLUB, sender: str = "u1", name: str | None = "小林") -> list[str]:
        """Record messages of one second each, ending now, and return their ids."""
        now = self.clock.now()
        made: list[Message] = []
        for number, text in enumerate(texts):
            ts = now - timedelta(seconds=len(texts) - 1 - number)
            message_id = f"{sender}-{int(ts.timestamp())}-{number}"
            made.append(Message(message_id, "chat", "user", text, ts, sender, name))
        self.record.append(group, made)
        return [message.message_id for message in made]

    def later(self, **delta: float) -> None:
        """Let time pass."""
        self.clock.advance(seconds=timedelta(**delta).total_seconds())

    def statements(self, group: Owner = CLUB) -> dict[str, Version]:
        """Return the active statements by their text."""
        return {one.statement: one for one in self.store.heads(group)}

    def check(self, group: Owner = CLUB) -> None:
        """Assert what must hold of any group at any time: linear chains with one head, and a log that replays."""
        present = self.store.present(group)
        for memory_id in {one.memory_id for one in present.values()}:
            chain = self.store.versions(group, memory_id)
            assert [one.version for one in chain] == list(range(1, len(chain) + 1))
            assert [one.parent_version for one in chain] == [None, *range(1, len(chain))]
            assert all(one.status == "deprecated" for one in chain[:-1])
        with self.database.read() as connection:
            heads = connection.execute(
                "SELECT count(*), count(DISTINCT memory_id) FROM group_memories WHERE owner_key = ? AND is_head = 1",
                (group.key,),
            ).fetchone()
        assert heads[0] == heads[1] == len({one.memory_id for one in present.values()})
        assert self.store.replay(group) == present

    def close(self) -> None:
        self.database.close()


def create(statement: str, *message_ids: str, reason: str = "said so", tags: Sequence[str] = ()) -> dict[str, Any]:
    """Return the action that makes a statement."""
    return {
        "action": "create",
        "old_id": "",
        "statement": statement,
        "change_reason": reason,
        "message_ids": [*(message_ids or ("m1",))],
        "tags": [*tags],
    }


def act(action: str, old_id: str, statement: str = "", *message_ids: str, reason: str = "said so") -> dict[str, Any]:
    """Return an action on a statement."""
    return {
        "action": action,
        "old_id": old_id,
        "statement": statement,
        "change_reason": reason,
        "message_ids": [*message_ids],
        "tags": [],
    }


def saying(*answers: Actions | str) -> Callable[[object, Prompt], str]:
    """Return a script for `ScriptedChat`: each answer in turn, the last one again and again."""
    waiting = [*answers]

    def say(role: object, prompt: Prompt) -> str:
        del role, prompt
        said = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return said if isinstance(said, str) else json.dumps({"actions": [*said]}, ensure_ascii=False)

    return say


def names(asked: ChatAsked) -> dict[str, str]:
    """Return the statements that a prompt shows: text → short name."""
    lines = [line.split(" (version", 1)[0].split("（第", 1)[0] for line in asked.entries("statements")]
    texts = [line.split("): ", 1)[-1].split("）：", 1)[-1] for line in asked.entries("statements")]
    return dict(zip(texts, lines, strict=True))
