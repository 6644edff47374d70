"""Nobody reads what is not theirs: random people, groups and turns, then all that is published, asked by everyone.

Tools, resources, templates and prompts are taken from the server itself, so that a new one is covered without a change
here. Every stored text and every name carries a marker of its own; a marker that comes out must be the asker's to read.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError

from server.toolsets import TOOLSETS
from tests.kit.home import Home, Person, home
from tests.kit.published import UNKNOWN, Request, every_request, listing, without

USERS = ("bob", "Bob", "bob2", "小林", "user:bob")
GROUPS = ("hiking", "Hiking", "徒步/群..:1")
MARKER = re.compile(r"[MN]\d+zqx")
"""Long enough that no cursor or id spells one by chance."""
PROBE = "tent 帐篷 fact"
"""What every stored text says."""


@dataclass(frozen=True)
class Deed:
    """What one person did, in private or in a group: closed a turn, left a memo, or had a message recorded."""

    user: str
    group: str | None
    kind: str


@dataclass(frozen=True)
class Stored:
    """One marker, where it was said and by whom."""

    marker: str
    user: str
    group: str | None
    is_fact: bool = False

    def readable_by(self, asker: Asker) -> bool:
        """Say whether the design lets the asker read it, through whichever tool: a private fact is a profile line."""
        if asker.group is not None:
            return self.group == asker.group or (self.is_fact and self.group is None and self.user == asker.user)
        return self.user == asker.user or (self.group is not None and self.group in asker.groups)


@dataclass(frozen=True)
class Asker:
    user: str
    group: str | None
    groups: tuple[str, ...]

    @property
    def readable_groups(self) -> tuple[str, ...]:
        return (self.group,) if self.group is not None else self.groups

    @property
    def lane(self) -> tuple[str, str]:
        return ("group", self.group) if self.group is not None else ("user", self.user)


@dataclass
class World:
    """What was stored, and the id of everything there is, with the question whether an asker may know of it."""

    stored: list[Stored] = field(default_factory=list)
    jobs: dict[str, Deed] = field(default_factory=dict)
    messages: dict[str, Deed] = field(default_factory=dict)

    def readable(self, asker: Asker) -> set[str]:
        return {item.marker for item in self.stored if item.readable_by(asker)}

    def foreign(self, asker: Asker) -> list[str]:
        """Return ids of what exists and is none of the asker's."""
        known = {item.user for item in self.stored if item.group is not None and item.group in asker.readable_groups}
        users = [user for user in USERS if user != asker.user and user not in known]
        groups = [group for group in GROUPS if group not in asker.readable_groups]
        deeds = {**self.jobs, **self.messages}
        return [
            *users,
            *groups,
            *(i for i, deed in deeds.items() if not Stored("", deed.user, deed.group).readable_by(asker)),
        ]

    def ids(self) -> list[str]:
        return [*USERS, *GROUPS, *self.jobs, *self.messages, UNKNOWN]


def deeds() -> st.SearchStrategy[list[Deed]]:
    return st.lists(
        st.builds(
            Deed, st.sampled_from(USERS), st.sampled_from([None, *GROUPS]), st.sampled_from(["end", "memo", "append"])
        ),
        min_size=3,
        max_size=7,
    )


def askers() -> st.SearchStrategy[list[Asker]]:
    some = st.lists(st.sampled_from(GROUPS), unique=True, max_size=2).map(tuple)
    private = st.builds(Asker, st.sampled_from(USERS), st.none(), some)
    in_group = st.builds(Asker, st.sampled_from(USERS), st.sampled_from(GROUPS), st.just(()))
    return st.lists(st.one_of(private, in_group), min_size=2, max_size=2, unique=True)


async def populate(house: Home, done: Iterable[Deed], world: World, *, settled: bool = True) -> None:
    for deed in done:
        number = len(world.stored)
        is_fact = deed.kind == "end"
        text = Stored(f"M{number}zqx", deed.user, deed.group, is_fact)
        name = Stored(f"N{number}zqx", deed.user, deed.group, is_fact)
        world.stored += [text, name]
        said = f"{text.marker} {PROBE}"
        async with house.client(deed.user, group=deed.group, sender_name=name.marker) as person:
            if deed.kind == "append":
                message = {"message_id": f"m{number}", "conversation_id": f"c{number}", "role": "user", "content": said}
                sender = {"sender_id": deed.user, "sender_name": name.marker, "ts": "2026-05-01T10:00:00Z"}
                await person.call("messages_append", messages=[message | sender])
                world.messages[f"m{number}"] = deed
                continue
            fact = {"memo": said} if deed.kind == "memo" else {"observations": [said], "source_message": said}
            job = (await person.call("end", **fact))["job_id"]
            world.jobs[job] = deed
            if settled:
                await person.settled(job)
                world.messages |= {f"end:{job}": deed} if deed.kind == "end" else {}


@asynccontextmanager
async def populated(folder: Path, done: Iterable[Deed], waiting: Iterable[Deed]) -> AsyncGenerator[tuple[Home, World]]:
    """A household in which some deeds are done, and the jobs of others still wait."""
    world = World()
    async with home(folder) as house:
        await populate(house, done, world)
    async with home(folder, run=False) as house:
        await populate(house, waiting, world, settled=False)
        yield house, world


@asynccontextmanager
async def asking(house: Home, asker: Asker) -> AsyncGenerator[Person]:
    async with house.client(asker.user, group=asker.group, groups=asker.groups, toolsets=[*TOOLSETS]) as person:
        yield person


async def check(house: Home, world: World, asker: Asker) -> set[str]:
    """Ask for everything on behalf of one asker; return the markers that came out."""
    may, foreign, seen = world.readable(asker), world.foreign(asker), set[str]()
    async with asking(house, asker) as person:
        published = await listing(person.client)
        assert len(published.tools) >= 6
        answers: dict[tuple[str, str, str], str] = {}
        for request in every_request(published, world.ids(), PROBE):
            answer = await request.answer(person.client)
            seen |= set(MARKER.findall(answer))
            assert seen <= may, (request, asker)
            answers[_what(request), request.shape, request.value] = timeless(answer)
        compare(answers, foreign)
    return seen


def _what(request: Request) -> str:
    """Return what is asked, whichever identifier is in it."""
    varies = request.kind == "resource" and request.shape
    return f"{request.kind} {request.argument} {'' if varies else request.name}"


def compare(answers: Mapping[tuple[str, str, str], str], foreign: Collection[str]) -> None:
    """Every identifier of somebody else is answered like one of nobody."""
    for (what, shape, value), answer in answers.items():
        if value in foreign:
            assert without(answer, value) == without(answers[what, shape, UNKNOWN], UNKNOWN), (what, shape, value)


def timeless(answer: str) -> str:
    return re.sub(r'(age_seconds|score)(\\?"?: )[-\d.e]+', r"\1\2…", answer)


@pytest.mark.long
@given(deeds(), askers())
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a finding would take minutes
)
def test_nothing_comes_out_that_is_not_the_askers_and_not_yours_is_said_like_not_there(
    done: list[Deed], asking_ones: list[Asker]
) -> None:
    """P45, P46, P48, P52."""

    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with populated(Path(folder), done[:-2], done[-2:]) as (house, world):
                for asker in asking_ones:
                    await check(house, world, asker)

    anyio.run(run)


async def test_the_check_itself_sees_what_may_be_seen(tmp_path: Path) -> None:
    """A property that nothing could break would prove nothing: here everything readable does come out."""
    done = [
        Deed("bob", None, "end"),
        Deed("bob", "hiking", "end"),
        Deed("小林", "hiking", "end"),
        Deed("小林", None, "memo"),
    ]
    async with populated(tmp_path, done, [Deed("bob2", None, "memo")]) as (house, world):
        for asker, expected in (
            (Asker("bob", None, ("hiking",)), {"M0zqx", "M2zqx", "M4zqx", "N0zqx", "N2zqx", "N4zqx"}),
            (Asker("bob", None, ()), {"M0zqx", "M2zqx", "N0zqx", "N2zqx"}),
            (Asker("Bob", "hiking", ()), {"M2zqx", "M4zqx", "N2zqx", "N4zqx"}),
            (Asker("小林", None, ()), {"M4zqx", "M6zqx", "N4zqx", "N6zqx"}),
            (Asker("bob2", None, ()), {"M8zqx"}),
            (Asker("user:bob", None, ()), set()),
        ):
            assert world.readable(asker) >= expected
            assert await check(house, world, asker) == expected


@pytest.mark.parametrize("key", ["shiguan/user_id", "shiguan/group_id", "shiguan/anything"])
async def test_an_identity_in_the_request_is_an_error_and_never_ignored(tmp_path: Path, key: str) -> None:
    """P45, P55."""
    async with home(tmp_path, run=False) as house, house.client("bob") as bob:
        meta: Any = {key: "小林"}
        with pytest.raises(MCPError, match="bound to one user"):
            await bob.client.call_tool("memory_status", {}, meta=meta)
        with pytest.raises(MCPError, match="bound to one user"):
            await bob.client.read_resource("memory://profile", meta=meta)
