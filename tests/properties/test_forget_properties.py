"""Random memories, random forgetting: no byte is left of it, everything else answers as before, nothing dangles."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.kit.home import Home, Person, home
from tests.kit.scanning import traces
from tests.server.test_forget import dangling, forget, healthy, person

LETTERS = "bcdfghjklmnpqrstvwxz"
SYLLABLES = ("紫苏", "榅桲", "鲤鱼", "木槿", "青瓷", "檀香", "竹简", "砚台")


@dataclass(frozen=True)
class Said:
    """A message: who said it where; its token stands in no other text but in what rests on it."""

    number: int
    user: str
    group: str | None
    conversation: str

    @property
    def id(self) -> str:
        return f"message-{self.number}"

    @property
    def token(self) -> str:
        """A word that nothing else has, Chinese for every second message."""
        one, two = divmod(self.number, len(SYLLABLES))
        if self.number % 2:
            return f"{SYLLABLES[two]}{SYLLABLES[-1 - two]}{SYLLABLES[one]}"
        return "".join(LETTERS[(self.number * 7 + step * 3) % len(LETTERS)] for step in range(8)).capitalize()

    @property
    def day(self) -> str:
        return f"2026-03-{self.number % 28 + 1:02}"


@dataclass(frozen=True)
class Fact:
    """An observation on some messages of one owner, quoting all of them, or the first only."""

    number: int
    messages: tuple[Said, ...]
    quotes_all: bool
    settled: bool

    @property
    def text(self) -> str:
        quoted = self.messages if self.quotes_all else self.messages[:1]
        return " ".join(f"Somebody has a {one.token}." for one in quoted)

    @property
    def memo(self) -> str:
        """A memo for every second turn."""
        quoted = self.messages if self.quotes_all else self.messages[:1]
        return " ".join(f"Noted {one.token}." for one in quoted) if self.number % 2 else ""


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Said], list[Fact]]:
    said = [
        Said(number, draw(st.sampled_from(["alice", "bob"])), draw(st.sampled_from([None, "choir"])), f"c{number % 3}")
        for number in range(draw(st.integers(4, 8)))
    ]
    facts: list[Fact] = []
    for number in range(draw(st.integers(2, 4))):
        first = draw(st.sampled_from(said))
        beside = [one for one in said if (one.user, one.group) == (first.user, first.group) and one != first]
        more = tuple(draw(st.lists(st.sampled_from(beside), unique=True, max_size=2))) if beside else ()
        facts.append(Fact(number, (first, *more), draw(st.booleans()), draw(st.booleans())))
    return said, sorted(facts, key=lambda fact: not fact.settled)


async def populate(house: Home, said: Sequence[Said], facts: Sequence[Fact]) -> None:
    for one in said:
        message: dict[str, Any] = {
            "message_id": one.id,
            "conversation_id": one.conversation,
            "role": "user",
            "sender_id": one.user,
            "content": f"I own a {one.token} now.",
            "ts": f"{one.day}T10:00:00+08:00",
        }
        async with person(house, one.user, group=one.group) as client:
            await client.call("messages_append", messages=[message])
    for fact in facts:
        first = fact.messages[0]
        async with person(house, first.user, group=first.group) as client:
            ids = [one.id for one in fact.messages]
            done = await client.call("end", observations=[fact.text], message_ids=ids, memo=fact.memo, force=True)
            if fact.settled:
                await client.settled(done["job_id"])


async def answers(house: Home, said: Sequence[Said], doomed: set[Said]) -> dict[str, Any]:
    """Return what everybody is told about what rests on nothing that is doomed."""
    found: dict[str, Any] = {}
    for user in ("alice", "bob"):
        for group in (None, "choir"):
            async with person(house, user, group=group) as client:
                listed = (await client.call("messages_list", page_size=200))["items"]
                gone = {one.id for one in doomed}
                found[f"{user} {group}"] = [message for message in listed if message["message_id"] not in gone]
                for one in said:
                    if one in doomed:
                        continue
                    events = (await client.call("search_events", query=one.token))["events"]
                    found[f"{user} {group} {one.id}"] = sorted(
                        (event["event_id"], event["text"])
                        for event in events
                        if one.token in event["text"] and not gone & set(event["message_ids"])
                    )
                    words = (await client.call("lexical_search", query_text=one.token))["items"]
                    ids = {message["message_id"] for message in words}
                    found[f"{user} {group} {one.id} words"] = ids - gone
    return found


def meant(said: Sequence[Said], way: str, chosen: Said) -> tuple[dict[str, Any], set[Said]]:
    """Return the arguments of a call of whoever said `chosen`, and the messages that they mean."""
    own = {one for one in said if (one.group == chosen.group if chosen.group else one.user == chosen.user)}
    match way:
        case "message":
            return {"message_ids": [chosen.id]}, {chosen}
        case "conversation":
            return {"conversation_id": chosen.conversation}, {o for o in own if o.conversation == chosen.conversation}
        case "time":
            last = f"2026-03-{int(chosen.day[-2:]) + 1:02}"
            inside = {one for one in own if chosen.day <= one.day <= last}
            return {"since": chosen.day, "until": last}, inside
        case "search":
            return {"query": chosen.token}, {chosen}
        case _:
            return {"everything": True}, own


def break_jobs(folder: Path, said: Sequence[Said]) -> None:
    """Put a file for each message where jobs wait that is none: half of a document, escaped or not."""
    for one in said:
        text = json.dumps(f"I own a {one.token} now.", ensure_ascii=one.number % 4 == 1)
        broken = folder / "queues" / "pending" / f"{one.number:032x}.json"
        broken.write_text(f'{{"schema":1,"payload":{{"content":{text[:-6]}', "utf-8")


def kept_originals(folder: Path) -> set[str]:
    """Return the names of files that were no jobs and are kept."""
    return {path.stem for path in (folder / "queues" / "failed").glob("*.poison")}


async def check(folder: Path, said: list[Said], facts: list[Fact], chosen: Said, way: str) -> None:
    async with home(folder) as house:
        await populate(house, said, [fact for fact in facts if fact.settled])
        what, doomed = meant(said, way, chosen)
        before = await answers(house, said, doomed)
    async with home(folder, run=False) as house:
        await populate(house, [], [fact for fact in facts if not fact.settled])
        break_jobs(folder, said)
        async with person(house, chosen.user, group=chosen.group) as client:
            await forget(client, **what)
        found = traces(folder, *(one.token for one in doomed))
        assert found == [], found
        assert kept_originals(folder) == {f"{one.number:032x}" for one in said if one not in doomed}
        assert dangling(folder) == []
    async with home(folder) as house:
        await all_done(house)
        await healthy(house)
        tokens = [one.token for one in doomed]
        assert traces(folder, *tokens) == []
        after = await answers(house, said, doomed)
        for name, told in before.items():
            if name.endswith("words") or name in ("alice None", "alice choir", "bob None", "bob choir"):
                assert after[name] == told, name
            else:
                assert set(after[name]) >= set(told), name


async def all_done(house: Home) -> None:
    for user in ("alice", "bob"):
        for group in (None, "choir"):
            async with person(house, user, group=group) as client:
                await _drained(client)


async def _drained(client: Person) -> None:
    await client.drained()


@pytest.mark.long
@pytest.mark.parametrize("examples", [3, pytest.param(60, marks=pytest.mark.soak)])
@pytest.mark.timeout(1800)
def test_no_byte_is_left_and_everything_else_answers_as_before(examples: int) -> None:
    """P102, P103: by message, conversation, time range, search, or everything; jobs that still wait among it."""

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=examples < 10,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(worlds(), st.data(), st.sampled_from(["message", "conversation", "time", "search", "everything"]))
    def run(world: tuple[list[Said], list[Fact]], data: st.DataObject, way: str) -> None:
        said, facts = world
        chosen = data.draw(st.sampled_from(said))
        with tempfile.TemporaryDirectory() as folder:
            anyio.run(check, Path(folder) / "data", said, facts, chosen, way)

    run()
