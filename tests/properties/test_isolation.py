"""Nobody can tell whether anybody else is there: the same questions, with another person's secrets and without them.

Two data folders are alike but for one thing: in the first, one person has said things in private and in a group of her
own. Everybody else then asks both the same, at random, of everything that the server lists, with every identifier that
either ever named, hers among them. Both must give the same answers, word for word: results, errors and counts. So
nothing of hers shows, and "not yours" is "not there". Tools are called by their schemas, new ones included.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from historian.ids import normalise_id
from historian.model import Scope
from historian.session import Session
from server.binding import Binding
from server.trust import TrustedBinder
from tests.kit.asking import IDENTIFIER, WHEN, Asker, Both, Pair, is_reading
from tests.kit.published import Listing, Request, as_text, filled, listing
from tests.kit.worlds import (
    CANARY,
    Counter,
    Heard,
    Transport,
    World,
    difference,
    harvest,
    in_this_process,
    over_http,
    over_stdio,
    said_by,
    settled,
    undated,
)

ANN, CLUB, SHARED = "café:ann", "café:ann's club", "walkers"
"""Who has secrets, the group that only she is in, and the one that she is in with others."""
NEAR = (
    "café:an",
    "café:ann2",
    "Café:ann",
    "ｃafé:ann",
    "cafe:ann",
    "café:\u200bann",
    "café: ann",
    "café：ann",
    "café/ann",
    "café:ann/",
    "café:ann/..",
    "../café:ann",
    "..\\café:ann",
    "café:ann'",
    'café:ann"',
    "café:ann*",
    "café:ann%",
    "caf_:ann",
    "café:ann' OR '1'='1",
    "user:café:ann",
    "author:café:ann",
    "café:ann's Club",
    "café:ann's clu",
    "group:café:ann's club",
    "x" * 300,
    "x" * 299,
    "*",
    "%",
    "_",
    "?",
    ".",
    "..",
    "None",
    "null",
    "undefined",
    "0",
    "false",
    "[]",
    "{}",
    "~",
    "private",
    "user",
    "group",
    "CON",
)
"""Identifiers beside hers: prefixes, other case, width, normal form and white space, separators, quotes, wildcards."""
NO_IDENTIFIER = ("", " ", "\u2003", "a\nb", "x" * 600)
WORDS = (
    "tent",
    "帐篷",
    "花生",
    "过敏",
    "coffee",
    "Berlin",
    "上海",
    "the",
    "我",
    "tent 帐篷",
    "*",
    "%",
    "café:ann",
    "None",
)
PROCESSES: dict[str, Transport] = {
    "standalone": over_stdio("--standalone"),
    "owner": over_stdio(),
    "http": over_http,
}


def everybody() -> list[dict[str, Any]]:
    """Return on whose behalf calls are made: nobody of them is Ann, or in her group."""
    assert not [name for name in NEAR if normalise_id(name) in (ANN, CLUB)]
    people = [said_by("bob"), said_by("bob", groups=[SHARED]), said_by("bob", group_id=SHARED), said_by("eve")]
    people += [said_by(name) for name in NEAR]
    people += [said_by("eve", group_id=name) for name in NEAR]
    people += [said_by("eve", groups=[name, SHARED]) for name in NEAR]
    people += [said_by(name) for name in NO_IDENTIFIER] + [said_by(None)]
    return people * 1 + people[:3] * 30


def test_one_identifier_in_two_normal_forms_is_one_person() -> None:
    """The one folding that is documented."""
    assert normalise_id(unicodedata.normalize("NFD", f" {ANN}\t")) == ANN


# ---- what was said

THINGS = (
    "a tent 帐篷",
    "an old tent 帐篷 that was mended twice",
    "two very small red tents 帐篷 for the children, as a gift",
)
ALLERGIES = ("对花生过敏", "从小就对花生和牛奶都过敏", "一闻到花生酱的味道就过敏，会起疹子")
"""So unlike that no two of them fit a question equally well."""


async def common(client: Client) -> list[str]:
    """Say what is said in both worlds: Bob's things, and what both said in their group; return the jobs."""
    jobs: list[str] = []
    for number, meta in enumerate((said_by("bob"), said_by("bob", group_id=SHARED), said_by(ANN, group_id=SHARED))):
        meta |= {"shiguan/request_id": f"common{number}", "shiguan/sender_name": f"Name{number}"}
        fact = {
            "observations": [
                f"Number {number} has {THINGS[number]} from Berlin.",
                f"第{number}位{ALLERGIES[number]}。",
            ],
            "source_message": f"I am number {number}, my tent 帐篷 is from Berlin; 我{ALLERGIES[number]}",
            "memo": f"Talked to number {number} about the tent 帐篷.",
        }
        messages = [
            {
                "message_id": f"m{number}-{k}",
                "conversation_id": f"c{number}",
                "role": "user",
                "content": f"tent {k} 帐篷",
                "ts": f"2025-05-0{k + 1}",
            }
            for k in range(5)
        ]
        for tool, arguments in (("end", fact), ("messages_append", {"messages": messages})):
            answer = await Request("tool", tool, arguments).send(client, meta)
            assert not answer.get("isError"), answer
            jobs += [answer["structuredContent"]["job_id"]] if tool == "end" else []
    for meta in (said_by("bob"), said_by("bob", group_id=SHARED)):
        await settled(client, meta)
    return jobs


async def secrets(client: Client, published: Listing, canary: Counter) -> list[Any]:
    """What Ann says, in private and in her group, through everything that takes texts; return what she is answered."""
    answers: list[Any] = []
    for place in ({}, {"group_id": CLUB, "group_name": canary()}):
        for tool in published.tools:
            if is_reading(tool) or (tool.annotations is not None and tool.annotations.destructive_hint):
                continue
            named = {
                key: canary() for key in ("request_id", "conversation_id", "sender_name", "agent_name", "location")
            }
            meta = said_by(ANN, **place, **named)
            answers.append(await Request("tool", tool.name, told(tool.input_schema, canary)).send(client, meta))
        await settled(client, said_by(ANN, **place))
    return answers


def told(schema: Mapping[str, Any], canary: Counter) -> dict[str, Any]:
    """Return arguments whose every text holds a canary; identifiers and times only where they must be sent."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    texts = {
        name
        for name, inner in properties.items()
        if inner.get("type") in ("string", "array") and not IDENTIFIER.search(name) and not WHEN.search(name)
    }
    return {name: value_for(name, properties[name], canary) for name in {*texts, *schema.get("required", ())}}


def value_for(name: str, schema: Mapping[str, Any], canary: Counter) -> Any:
    match schema.get("type"):
        case "array":
            item = schema.get("items", {"type": "string"})
            return [value_for(name.removesuffix("s"), item, canary) for _ in range(2)]
        case "object":
            return {key: value_for(key, inner, canary) for key, inner in schema.get("properties", {}).items()}
        case "integer" | "number" | "boolean":
            return schema.get("minimum", 0)
    return text_for(name, schema, canary)


def text_for(name: str, schema: Mapping[str, Any], canary: Counter) -> str:
    if schema.get("enum"):
        return next(choice for choice in schema["enum"] if choice)
    if WHEN.search(name):
        return "2025-05-20T10:00:00Z"
    return f"id-{canary()}" if IDENTIFIER.search(name) else f"The tent 帐篷 of {canary()} is from Berlin; 花生过敏"


def questions(published: Listing, ids: Sequence[str]) -> list[Request]:
    """Return requests that read and change nothing, for everything that is published."""
    asked: list[Request] = [Request("resource", uri) for uri in published.resources]
    asked += [Request("resource", filled(template, value)) for template in published.templates for value in ids]
    for tool in published.tools:
        if is_reading(tool):
            properties: Mapping[str, Any] = tool.input_schema.get("properties", {})
            needed = dict.fromkeys(tool.input_schema.get("required", ()), "tent 帐篷")
            small = {name: 1 for name in ("page_size",) if name in properties}
            asked += [Request("tool", tool.name, needed | small), Request("tool", tool.name, needed)]
            asked += [
                Request("tool", tool.name, needed | {name: value})
                for name in properties
                if IDENTIFIER.search(name) and properties[name].get("type") == "string"
                for value in ids
            ]
    return asked


# ---- asking


class Contest:
    """Two worlds, and the same random questions to both."""

    def __init__(self, chance: random.Random, transport: Transport, folder: Path, mode: str) -> None:
        self._chance = chance
        self._transport = transport
        self._folder = folder
        self._mode = mode
        self._heard = Heard()
        self._identifiers: list[Pair] = []
        self._cursors: list[tuple[str, Mapping[str, Any], Mapping[str, Any], Pair]] = []
        self._fixed = 0
        self.answered = self.refused = 0
        self.seen: set[str] = set()
        self._sent: set[str] = set()
        self._made: dict[str, str] = {}

    async def run(self, calls: int) -> None:
        """Fill the worlds, ask, and look at what was heard and logged."""
        async with self._opened("one") as one, self._opened("other") as other:
            canary = Counter()
            async with one.connect(Heard()) as first, other.connect(Heard()) as second:
                published = await listing(first)
                await self._fill(first, second, published, canary)
            before = await self._of_ann(one, published)
            async with one.connect(self._heard) as first, other.connect(Heard()) as second:
                await self._ask(first, second, published, calls)
            after = await self._of_ann(one, published)
            for request, then, now in zip(*before, after[1], strict=True):
                changed = difference(undated(then), undated(now))
                assert changed is None, f"{request}: what Ann has is changed: {changed}"
            assert not CANARY.findall("\n".join(self._heard.messages)), "a secret was told without being asked for"
            assert not CANARY.findall(one.log()), "a secret stands in the log"

    @asynccontextmanager
    async def _opened(self, name: str) -> AsyncGenerator[World]:
        async with self._transport(self._folder / name, self._mode) as world:
            yield world

    async def _fill(self, first: Client, second: Client, published: Listing, canary: Counter) -> None:
        answers = await secrets(first, published, canary)
        self._made |= dict(zip(await common(first), await common(second), strict=True))
        answers += await secrets(first, published, canary)
        for meta in (said_by(ANN), said_by(ANN, groups=[CLUB]), said_by(ANN, group_id=CLUB)):
            for request in questions(published, ()):
                answer = await request.send(first, meta)
                answers.append(answer)
                for name, value in harvest(answer):
                    if "cursor" in name:
                        self._cursors.append((request.name, request.arguments, request.arguments, Pair(value, value)))
        self._take_in(answers)

    def _take_in(self, answers: Sequence[Any]) -> None:
        """Make a stock of identifiers: all of hers, which nobody was given in the other world, and some of all."""
        hers = {(value, name) for answer in answers for name, value in harvest(answer) if "cursor" not in name}
        self._identifiers += [Pair(value, self._elsewhere(value) or value, name) for value, name in sorted(hers)]
        assert len(hers) > 20
        people = [*[ANN, CLUB, SHARED, "bob"] * len(NEAR), *NEAR, *NO_IDENTIFIER]
        self._identifiers += [Pair(value, value) for value in people]
        self._identifiers += [Pair(value, value, "event_id") for value in ("common0:0:0", "common1:0:1", "common2:0:1")]
        self._identifiers += [Pair(value, value, "message_id") for value in ("m0-1", "m1-2", "m2-3")]
        self._fixed = len(self._identifiers)

    async def _of_ann(self, world: World, published: Listing) -> tuple[list[Request], list[Any]]:
        """Return what she can read, in private and in her group; what others add elsewhere is not hers."""
        ids = [pair.one for pair in self._identifiers[: self._fixed] if CANARY.search(pair.one)]
        asked = [request for _ in range(2) for request in questions(published, ids[:: len(ids) // 4 or 1])]
        half, answers = len(asked) // 2, list[Any]()
        async with world.connect(Heard()) as client:
            for at, request in enumerate(asked):
                answers.append(await request.send(client, said_by(ANN, group_id=None if at < half else CLUB)))
        assert len(set(CANARY.findall(as_text(answers)))) > 20
        return asked, answers

    async def _ask(self, first: Client, second: Client, published: Listing, calls: int) -> None:
        asker = Asker(self._chance, published, WORDS, self._identifiers, self._cursors)
        people = everybody()
        writing = {tool.name for tool in published.tools if not is_reading(tool)}
        for number in range(calls):
            meta, both = self._chance.choice(people), asker.request()
            meta = meta | {"shiguan/request_id": f"r{number}"}
            if both[0].name in writing and "shiguan/group_id" in meta and f'"{ANN}"' in as_text(both[0].arguments):
                continue  # a trusted host that says in a group who spoke is believed: those words would be hers
            one, other = await self._answers(first, second, both, meta)
            self._judge(both, meta, one, other)
            if both[0].name in writing and not one.get("isError"):
                await both_settled(first, second, meta)
            self._grow(both, one, other)

    async def _answers(self, first: Client, second: Client, both: Both, meta: Mapping[str, Any]) -> tuple[Any, Any]:
        found: dict[int, Any] = {}

        async def ask(at: int, client: Client) -> None:
            found[at] = await both[at].send(client, meta)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, 0, first)
            tasks.start_soon(ask, 1, second)
        return found[0], found[1]

    def _judge(self, both: Both, meta: Mapping[str, Any], one: Any, other: Any) -> None:
        # identifiers of hers are known to everybody here; who stored one as an own one may read that
        self._sent |= {*CANARY.findall(as_text([both[0].name, dict(both[0].arguments), dict(meta)]))}
        told = {*CANARY.findall(as_text(one))} - self._sent
        assert not told, (told, both[0], meta, one)
        found = difference(one, other)
        asked = f"question {self.answered + self.refused}: {both} on behalf of {meta}"
        assert found is None, f"{asked}: {found}\n{as_text(one)[:1500]}\n{as_text(other)[:1500]}"
        is_refused = "protocol_error" in one or one.get("isError")
        self.refused += bool(is_refused)
        self.answered += not is_refused
        self.seen.add(f"{both[0].kind} {both[0].name if both[0].kind == 'tool' else ''}")

    def _grow(self, both: Both, one: Any, other: Any) -> None:
        """Take identifiers and cursors of these answers into the stock, each as both worlds call it."""
        self._made |= same_derived(one, other)
        for (name, mine), (_, theirs) in zip(harvest(one), harvest(other), strict=False):
            if "cursor" in name:
                self._cursors.append((both[0].name, both[0].arguments, both[1].arguments, Pair(mine, theirs)))
            elif name == "job_id" and mine not in self._made and both[0].name == "end":
                self._made[mine] = theirs
            elif self._chance.random() < 0.2 and (known := self._elsewhere(mine)) is not None:
                self._identifiers.append(Pair(mine, known, name))
        if len(self._identifiers) > self._fixed + 200:
            del self._identifiers[self._fixed : self._fixed + 100]
        if len(self._cursors) > 300:
            del self._cursors[100:200]

    def _elsewhere(self, mine: str) -> str | None:
        """Return an identifier of the first world as the second has it; answers may order equal things otherwise."""
        if not all(one in self._made for one in re.findall(r"[0-9a-f]{32}", mine)):
            return None
        return re.sub(r"[0-9a-f]{32}", lambda found: self._made[found[0]], mine)


def same_derived(one: Any, other: Any) -> dict[str, str]:
    """Return what both answers name that is derived from a content: it is the same in both worlds, where that is."""
    mine, theirs = ({value for _, value in harvest(answer) if value.startswith("auto:")} for answer in (one, other))
    return {made: made for value in mine & theirs for made in re.findall(r"[0-9a-f]{32}", value)}


async def both_settled(first: Client, second: Client, meta: Mapping[str, Any]) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(settled, first, meta)
        tasks.start_soon(settled, second, meta)


CALLS = 2_000
"""Calls in all transports together for each run of the tests; each question is two calls, one to each world."""
SOAKED = 200_000


async def contest(transport: Transport, folder: Path, questions: int, mode: str, seed: int) -> None:
    held = Contest(random.Random(seed), transport, folder, mode)
    await held.run(questions)
    assert held.answered > questions / 5
    assert held.refused > questions / 10


class Mistaken:
    """Binds requests as those of a trusted host, but for one mistake: a leak that was put there."""

    def __init__(self, mistake: Callable[[Scope], Scope]) -> None:
        self._mistake = mistake
        self._trusted = TrustedBinder(Session(timezone="UTC"))

    def bind(self, meta: Mapping[str, Any] | None) -> Binding | None:
        """Return the binding of a request, with the mistake."""
        found = self._trusted.bind(meta)
        return found and replace(found, scope=self._mistake(found.scope))


def folding_case_and_width(scope: Scope) -> Scope:
    return replace(scope, user_id=unicodedata.normalize("NFKC", scope.user_id).casefold())


def knowing_the_club(scope: Scope) -> Scope:
    return replace(scope, groups=scope.groups | {CLUB})


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mistake", [folding_case_and_width, knowing_the_club])
async def test_a_leak_that_was_put_there_is_found(tmp_path: Path, mistake: Callable[[Scope], Scope]) -> None:
    with pytest.RaisesGroup(
        pytest.RaisesExc(AssertionError, match="on behalf of|canary"), allow_unwrapped=True, flatten_subgroups=True
    ):
        await contest(in_this_process(Mistaken(mistake)), tmp_path, CALLS // 4, "auto", 20260223)


def test_one_more_or_another_word_is_a_difference() -> None:
    """What differs without meaning is passed over, and nothing else."""
    job, other_job = "0" * 32, "1" * 32
    answer = {"total": 3, "items": [{"id": f"end:{job}", "text": "tent 帐篷"}], "error": "There is no such message."}
    assert difference(answer, {**answer, "items": [{"id": f"end:{other_job}", "text": "tent 帐篷"}]}) is None
    for other in (
        {**answer, "total": 4},
        {**answer, "items": answer["items"] * 2},
        {**answer, "items": [{"id": f"end:{job}", "text": "tent 帐 篷"}]},
        {**answer, "error": "This message is not yours."},
        {**answer, "held": []},
    ):
        assert difference(answer, other) is not None
    assert undated({"since": "2026-11-21, and 2025-06-01"}) == {"since": "today, and 2025-06-01"}


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("mode", "questions"), [("auto", CALLS * 7 // 20), ("legacy", CALLS // 16)])
async def test_nobody_can_tell_that_somebody_else_is_there(tmp_path: Path, mode: str, questions: int) -> None:
    """P45, P46, P48, P52, P55: in both eras of the protocol."""
    await contest(in_this_process(), tmp_path, questions, mode, 20260220)


@pytest.mark.long
@pytest.mark.process
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [*PROCESSES])
async def test_nobody_can_tell_it_over_a_wire_either(tmp_path: Path, name: str) -> None:
    """P45, P46, P48, P52, P55: a trusted host over stdio, alone and through the owner, and a bot over HTTP."""
    await contest(PROCESSES[name], tmp_path, CALLS // 32, "auto", 20260221)


@pytest.mark.soak
@pytest.mark.process
@pytest.mark.timeout(6 * 3600)
@pytest.mark.parametrize("name", [*PROCESSES])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_nobody_can_tell_it_however_long_they_ask(tmp_path: Path, name: str, mode: str) -> None:
    """P45, P46, P48, P52."""
    await contest(PROCESSES[name], tmp_path, SOAKED // 12, mode, 20260222)
