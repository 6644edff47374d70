"""The table of docs/isolation.md, cell by cell: what the document says is shown is shown, and nothing else is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from historian.group_store import GroupStore
from historian.group_strength import StrengthRule
from historian.group_versions import Moment
from historian.model import Owner
from server.toolsets import TOOLSETS
from tests.kit.home import Home, Person, home
from tests.kit.published import Request, as_text, every_request, listing

PAGE = Path(__file__).parents[2] / "docs" / "isolation.md"
PROBE = "tent 帐篷"
"""Stands in every text, so that one query finds them all."""
PEOPLE = {"own": "ann", "another's": "bob"}
PLACES: dict[str, str | None] = {"private": None, "in the group": "hikers", "in another group": "climbers"}
REQUESTS: dict[str, dict[str, Any]] = {
    "private": {},
    "private, group bound": {"groups": ["hikers"]},
    "target: the group": {"groups": ["hikers"], "target": "hikers"},
    "target: another group": {"groups": ["hikers"], "target": "climbers"},
    "in the group": {"group_id": "hikers"},
}
KINDS: dict[str, frozenset[str]] = {
    "message": frozenset({"messages", "page"}),
    "event": frozenset({"events", "page", "context"}),
    "memo": frozenset({"events", "page", "status", "context"}),
    "pinned note": frozenset({"pinned", "context"}),
    "group statement": frozenset({"statements", "context"}),
    "profile line": frozenset({"people", "groups", "context"}),
}
"""The kinds of row, and where each could show at all. The text of an event is also that of a profile line."""
IN_CONTEXT: dict[str, tuple[str, ...]] = {
    "event": ("events",),
    "memo": ("memos",),
    "pinned note": ("pinned",),
    "group statement": ("group_memories",),
    "profile line": ("profile", "group_profile", "events"),
}
"""The sections of a context that show each kind; what an event says there already, no profile line repeats."""
MARKER = re.compile(r"\b(?:M|O|K|P|S)-\w+-\w+\b")


@dataclass(frozen=True)
class Cell:
    """One cell: a kind of thing, whose, and where it was said; in which request; and where it shows."""

    kind: str
    whose: str
    where: str
    request: str
    shown: frozenset[str]

    @property
    def marker(self) -> str:
        """The mark that the texts of this row carry."""
        letter = {"message": "M", "memo": "K", "pinned note": "P", "group statement": "S"}.get(self.kind, "O")
        return f"{letter}-{PEOPLE[self.whose]}-{PLACES[self.where] or 'private'}"


def cells() -> Iterator[Cell]:
    """Read the table."""
    lines = [line.strip().strip("|").split("|") for line in PAGE.read_text("utf-8").splitlines() if line[:1] == "|"]
    table = [[cell.strip() for cell in line] for line in lines if len(line) == len(REQUESTS) + 1]
    header, _, *rows = table
    assert header[1:] == [*REQUESTS]
    for row in rows:
        kind, whose, where = re.fullmatch(r"(.*): (.*?), (.*)", row[0]).groups()  # type: ignore[union-attr]
        for request, cell in zip(header[1:], row[1:], strict=True):
            yield Cell(kind, whose, where, request, frozenset(word.strip() for word in cell.split(",") if word.strip()))


def test_the_table_has_a_row_for_everything_there_is() -> None:
    rows = {(cell.kind, cell.whose, cell.where) for cell in cells()}
    assert rows == set(itertools.product(KINDS, PEOPLE, PLACES))
    assert len(list(cells())) == len(rows) * len(REQUESTS)
    assert all(cell.shown <= KINDS[cell.kind] for cell in cells())


async def populate(house: Home, host: Person) -> tuple[list[str], list[str]]:
    """Let everybody close a turn everywhere, and each group know something of it; return the ids of jobs and events."""
    jobs: list[str] = []
    for user, group in itertools.product(PEOPLE.values(), PLACES.values()):
        mark = f"{user}-{group or 'private'}"
        person = host.acting(user, group_id=group, conversation_id=f"c-{mark}", sender_name=user)
        jobs.append(
            await person.remember(
                f"{user} owns the tent 帐篷 O-{mark}.",
                source_message=f"I own the tent 帐篷 M-{mark}.",
                memo=f"Noted the tent 帐篷 K-{mark}.",
            )
        )
        await person.call("memory_add", text=f"The tent 帐篷 P-{mark} is always meant.")
        if group is not None:
            know(house, Owner("group", group), f"The group shares the tent 帐篷 S-{mark}.", f"end:{jobs[-1]}")
    return jobs, [f"{job}:0:{index}" for job in jobs for index in range(2)]


def know(house: Home, group: Owner, statement: str, message_id: str) -> None:
    """Let a group have a statement, as a model would make it."""
    database = house.household.database
    step = Moment(1_771_588_800_000, StrengthRule()).create(statement, [], "said so", [message_id])
    with database.write() as connection:
        GroupStore(database).apply(connection, group, step)


@dataclass
class Asker:
    """One kind of request, and what its tools give."""

    person: Person
    target: Mapping[str, str]
    jobs: Sequence[str]
    events: Sequence[str]

    async def answers(self) -> dict[str, str]:
        """Return all that comes out, by family."""
        if self.target:
            return {
                "events": await self.told("search_events", query=PROBE, top_k=200, **self.target),
                "statements": await self.statements(**self.target),
            }
        found = {
            "messages": [
                await self.told("messages_list", page_size=200),
                await self.told("lexical_search", query_text=PROBE, page_size=200),
                await self.told("semantic_search", query_text=PROBE, top_k=200),
                *[await self.told("neighbors", message_id=f"end:{job}", after=20) for job in self.jobs],
            ],
            "events": [await self.told("search_events", query=PROBE, top_k=200)],
            "page": [await self.read(f"memory://events/{event}") for event in self.events],
            "people": [
                await self.read("memory://profile"),
                await self.told("search_profiles", query=PROBE, entity_type="user"),
                *[await self.told("get_profile", entity_id=user) for user in PEOPLE.values()],
            ],
            "groups": [
                await self.told("search_profiles", query=PROBE, entity_type="group"),
                *[await self.told("get_profile", entity_type="group", entity_id=g) for g in ("hikers", "climbers")],
                *[await self.read(f"memory://groups/{group}/profile") for group in ("hikers", "climbers")],
            ],
            "status": [
                await self.told("memory_status"),
                await self.read("memory://status"),
                *[await self.told("memory_status", job_id=job) for job in self.jobs],
            ],
            "pinned": [await self.told("memory_list")],
            "statements": [await self.statements()],
            **await self.context(),
        }
        return {family: "\n".join(texts) for family, texts in found.items()}

    async def statements(self, **target: str) -> str:
        """Return what the tools of group memory give."""
        listed = await self.told("group_memories", status="all", **target)
        found = await self.told("search_group_memories", query=PROBE, threshold=0, limit=200, **target)
        return "\n".join([listed, found, await self.told("memory_changes", days=3650, **target)])

    async def context(self) -> dict[str, list[str]]:
        """Return what a context holds of each kind."""
        asked = Request("tool", "build_context", {"message": PROBE})
        answer = await asked.send(self.person.client, self.person.meta)
        parts = {part["name"]: as_text(part) for part in answer["structuredContent"]["sections"]}
        return {f"context {kind}": [parts.get(name, "") for name in names] for kind, names in IN_CONTEXT.items()}

    async def told(self, tool: str, **arguments: Any) -> str:
        return await Request("tool", tool, arguments).answer(self.person.client, self.person.meta)

    async def read(self, uri: str) -> str:
        return await Request("resource", uri).answer(self.person.client, self.person.meta)


async def ask(host: Person, jobs: Sequence[str], events: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return what every kind of request is given, by request and family."""
    given: dict[str, dict[str, str]] = {}
    for request, said in REQUESTS.items():
        target = {"target_group_id": said["target"]} if "target" in said else {}
        person = host.acting("ann", **{key: value for key, value in said.items() if key != "target"})
        given[request] = await Asker(person, target, jobs, events).answers()
    return given


async def test_every_cell_of_the_table_is_true(tmp_path: Path) -> None:
    """P45, P46, P48, P52."""
    async with home(tmp_path) as house, house.host(toolsets=("host", "pinned", "group")) as host:
        given = await ask(host, *await populate(house, host))
    wrong: list[str] = []
    for cell in cells():
        asked = given[cell.request]
        told = {family: asked.get(f"{family} {cell.kind}", asked.get(family)) for family in KINDS[cell.kind]}
        given_by = {family: text for family, text in told.items() if text is not None}
        for family, text in given_by.items():
            is_shown = re.search(rf"{cell.marker}\b", text) is not None
            if is_shown != (family in cell.shown):
                wrong.append(f"{cell}: {family} {'shows' if is_shown else 'hides'} it")
        if not cell.shown <= given_by.keys():
            wrong.append(f"{cell}: {cell.shown - given_by.keys()} takes no target")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("request_name", [name for name in REQUESTS if "target" not in REQUESTS[name]])
async def test_no_other_tool_shows_what_no_cell_shows(tmp_path: Path, request_name: str) -> None:
    """P46, P52: what the table does not name yet is held to the sum of its column, whichever its arguments."""
    bound = REQUESTS[request_name].get("groups")
    targets = [name for name, said in REQUESTS.items() if "target" in said and said["groups"] == bound]
    may = {cell.marker for cell in cells() if cell.request in {request_name, *targets} and cell.shown}
    async with home(tmp_path) as house, house.host(toolsets=[*TOOLSETS]) as host:
        jobs, events = await populate(house, host)
        person = host.acting("ann", **REQUESTS[request_name])
        ids = [*PEOPLE.values(), "hikers", "climbers", *jobs, *events, *(f"end:{job}" for job in jobs)]
        published = await listing(person.client)
        seen: set[str] = set()
        for request in every_request(published, ids, PROBE):
            seen |= set(MARKER.findall(await request.answer(person.client, person.meta)))
    assert seen <= may, seen - may
    assert seen
