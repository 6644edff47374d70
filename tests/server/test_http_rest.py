"""Group memory as plain REST and on the command line: a real server on a folder in which statements have evolved."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import anyio
import pytest

from historian.chat_client import Role
from prompts import Prompt
from server.commands.group import statement_diff
from server.http.identity import ADMIN, READ, WRITE
from server.http.openapi import document
from server.http.rest import PREFIX
from server.http.rest_operations import OPERATIONS
from server.toolsets import by_toolset
from tests.kit.groups import act, create
from tests.kit.home import home
from tests.kit.http import Answer, Served
from tests.kit.scripted_chat import ScriptedChat
from tests.kit.stdio import environment, run

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX processes")]

GROUP = "qq:1/合唱团"
FRIDAYS, MONDAYS = "每周五晚上有分享会", "每周一晚上有分享会"
TEA = "The members drink oolong tea"


async def populate(folder: Path) -> None:
    """Let two groups evolve: one statement is updated, one deleted."""
    first = [create(FRIDAYS, "m1", reason="小林提议"), create(TEA, "m2"), create("Nobody sings", "m2")]

    def says(role: Role, prompt: Prompt) -> str:
        shown = prompt.turns[-1].content
        known = {line.rpartition("：")[2].rpartition(": ")[2]: line for line in shown.splitlines()}
        if role != "evolve" or "Bees" in shown:
            return json.dumps({"actions": [create("Bees are kept", "m1")]})
        if FRIDAYS not in known:
            return json.dumps({"actions": first})
        alias = {text: re.findall(r"s\d+", line)[0] for text, line in known.items() if re.search(r"s\d+", line)}
        update = act("update", alias[FRIDAYS], MONDAYS, "m1", reason="改到周一")
        return json.dumps({"actions": [update, act("delete", alias["Nobody sings"], "", "m1", reason="They do")]})

    async with home(folder, chat=ScriptedChat(says)) as house:
        for group, texts in ((GROUP, ("周五分享会", "Oolong for me")), (GROUP, ("周一吧",)), ("bees", ("Bees",))):
            async with house.client("alice", group=group, toolsets=("host", "group")) as alice:
                now = datetime.now(UTC).isoformat()
                for number, text in enumerate(texts):
                    message = {"conversation_id": "c", "role": "user", "content": text, "ts": now, "sender_id": "u1"}
                    await alice.call("messages_append", messages=[message | {"message_id": f"{text}-{number}"}])
                await alice.call("evolve_memories")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    folder = tmp_path_factory.mktemp("rest") / "data"
    folder.mkdir(mode=0o700)
    anyio.run(populate, folder)
    server = Served(folder, "--toolsets", "host,group", toml="[server]\nrate_limit = 0\nmax_body_bytes = 20000\n")
    server.token("first")
    with server:
        yield server


@pytest.fixture(scope="module")
def reader(served: Served) -> str:
    return served.token("alice", scopes=(READ, WRITE), groups=[GROUP])


@pytest.fixture(scope="module")
def admin(served: Served) -> str:
    return served.token("alice", scopes=(READ, ADMIN), groups=[GROUP])


def ask(served: Served, method: str, path: str, token: str | None, body: Any = None, **query: Any) -> Answer:
    text = f"{PREFIX}{path}?{urlencode(query)}" if query else f"{PREFIX}{path}"
    return served.ask(method, text, token=token, body=body)


def got(served: Served, method: str, path: str, token: str, body: Any = None, **query: Any) -> dict[str, Any]:
    answer = ask(served, method, path, token, body, **query)
    assert answer.status == 200, answer.text
    return answer.message


def listed(served: Served, token: str, status: str = "active") -> dict[str, str]:
    """Return the statements and their ids."""
    page = got(served, "GET", f"/list/{quote(GROUP)}", token, status=status)
    return {one["statement"]: one["memory_id"] for one in page["memories"]}


def test_statements_are_listed_found_and_followed_back_as_the_tools_say_it(served: Served, reader: str) -> None:
    assert set(listed(served, reader)) == {MONDAYS, TEA}
    assert set(listed(served, reader, "deprecated")) == {"Nobody sings"}
    page = got(served, "GET", f"/list/{quote(GROUP)}", reader, status="all", limit=1, offset=1)
    assert (len(page["memories"]), page["total"]) == (1, 3)
    found = got(served, "GET", f"/search/{quote(GROUP)}", reader, q="oolong tea", threshold=0)
    assert found["memories"][0]["statement"] == TEA
    memory_id = listed(served, reader)[MONDAYS]
    history = got(served, "GET", f"/history/{memory_id}", reader)
    assert [one["statement"] for one in history["history"]] == [FRIDAYS, MONDAYS]
    changes = got(served, "GET", f"/changes/{quote(GROUP)}", reader, days=1)["changes"]
    assert [one["action"] for one in changes].count("create") == 3
    for tool, arguments, path, query in (
        ("group_memories", {"target_group_id": GROUP}, f"/list/{quote(GROUP)}", {}),
        ("memory_history", {"memory_id": memory_id}, f"/history/{memory_id}", {}),
    ):
        called = served.call(reader, tool, **arguments).message["result"]["structuredContent"]
        assert got(served, "GET", path, reader, **query).keys() == called.keys()


def test_what_changes_needs_the_scope_for_it_and_is_a_new_version(served: Served, reader: str, admin: str) -> None:
    tea = listed(served, reader)[TEA]
    for method, path, query in (
        ("DELETE", f"/{tea}", {}),
        ("PUT", f"/restore/{tea}", {}),
        ("PUT", f"/strength/{tea}", {"strength": 1}),
        ("POST", f"/evolve/{quote(GROUP)}", {}),
    ):
        refused = ask(served, method, path, reader, **query)
        assert refused.status == 403
        assert refused.headers["www-authenticate"].startswith("Bearer error")
    changed = got(served, "PUT", f"/strength/{tea}", admin, {"strength": 0.25, "reason": "我说的"})["changes"][0]
    assert (changed["action"], changed["strength"], changed["change_reason"]) == ("strength", 0.25, "我说的")
    assert got(served, "DELETE", f"/{tea}", admin, reason="over")["changes"][0]["action"] == "delete"
    assert TEA not in listed(served, reader)
    assert ask(served, "DELETE", f"/{tea}", admin).status == 400
    assert got(served, "PUT", f"/restore/{tea}", admin)["changes"][0]["new_statement"] == TEA
    assert TEA in listed(served, reader)
    without_model = ask(served, "POST", f"/evolve/{quote(GROUP)}", admin, days=1)
    assert without_model.status in (200, 501), without_model.text


def test_a_group_outside_the_token_is_not_there(served: Served, admin: str) -> None:
    """P46: the same answer as for a group and a memory that nobody has."""
    other = served.token("bob", scopes=(READ, ADMIN), groups=["bees"])
    bees = got(served, "GET", "/list/bees", other)["memories"][0]["memory_id"]
    for method, there, nowhere, query in (
        ("GET", "/list/bees", "/list/nothing", {}),
        ("GET", "/search/bees", "/search/nothing", {"q": "bees"}),
        ("GET", "/changes/bees", "/changes/nothing", {}),
        ("POST", "/evolve/bees", "/evolve/nothing", {}),
        ("GET", f"/history/{bees}", "/history/nothing", {}),
        ("DELETE", f"/{bees}", "/nothing", {}),
        ("PUT", f"/restore/{bees}", "/restore/nothing", {}),
        ("PUT", f"/strength/{bees}", "/strength/nothing", {"strength": 0.5}),
    ):
        one, two = ask(served, method, there, admin, **query), ask(served, method, nowhere, admin, **query)
        assert one.status == two.status == 404
        assert one.body == two.body
    assert len(got(served, "GET", "/list/bees", other)["memories"]) == 1


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.tool)
def test_without_a_token_nothing_is_answered(served: Served, operation: Any) -> None:
    """P47: and nothing to a token that speaks for nobody."""
    path = operation.path.replace("{group_id}", quote(GROUP)).replace("{memory_id}", "m")
    for token in (None, "shiguan_00000000_" + "A" * 43):
        assert ask(served, operation.method, path, token).status == 401
    nobody = served.token(None, scopes=(READ, ADMIN, "shiguan:act-as"))
    assert ask(served, operation.method, path, nobody).status == 403


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "status"),
    [
        ("GET", "/search/g", {}, None, 400),
        ("GET", "/list/g", {"limit": "many"}, None, 400),
        ("GET", "/list/g", {"limit": 1000}, None, 400),
        ("GET", "/list/g", {"status": "gone"}, None, 400),
        ("GET", "/list/g", {"user_id": "bob"}, None, 400),
        ("PUT", "/strength/m", {}, b"[1]", 400),
        ("PUT", "/strength/m", {}, b"\xff", 400),
        ("PUT", "/strength/m", {}, {"strength": 2}, 400),
        ("PUT", "/strength/m", {}, b" " * 30_000, 413),
        ("PATCH", "/list/g", {}, None, 405),
        ("GET", "/list/", {}, None, 404),
        ("GET", "", {}, None, 401),
    ],
)
def test_a_wrong_request_is_answered_with_a_sentence(
    served: Served, admin: str, method: str, path: str, query: Mapping[str, Any], body: Any, status: int
) -> None:
    answer = ask(served, method, path, admin if status != 401 else None, body, **query)
    assert answer.status == status, answer.text
    assert "Traceback" not in answer.text
    if status in (400, 413):
        assert answer.message["error_description"].endswith(".")


def test_the_document_and_the_page_are_open_and_name_every_operation(served: Served) -> None:
    described = served.ask("GET", f"{PREFIX}/openapi.json").message
    assert described["openapi"] == "3.1.0"
    named = {one["operationId"] for methods in described["paths"].values() for one in methods.values()}
    assert named == {tool.name for tool in by_toolset()["group"]}
    assert json.dumps(document(OPERATIONS, PREFIX)) == json.dumps(described)
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described)))
    assert references <= set(described["components"]["schemas"])
    page = served.ask("GET", f"{PREFIX}/docs")
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert "<script" not in page.text
    assert "/memory/search/{group_id}" in page.text


def test_people_see_statements_history_changes_and_differences(served: Served, reader: str) -> None:
    """Through the same owner, while it serves others."""

    def said(*words: str, code: int = 0) -> str:
        flags = ["--data-dir", str(served.folder), "--user", "alice"]
        done = run("group", *words, *flags, env=environment("fast"), code=code)
        return (done.stdout if code == 0 else done.stderr).decode()

    memory_id = listed(served, reader)[MONDAYS]
    assert MONDAYS in said("list", "--group", GROUP)
    assert json.loads(said("list", "--group", GROUP, "--json"))["group_id"] == GROUP
    assert FRIDAYS in said("history", memory_id, "--group", GROUP)
    assert "改到周一" in said("changes", "--group", GROUP)
    assert "~ 每周[-五-]{+一+}晚上有分享会" in said("diff", "--group", GROUP)
    assert "~ 每周[-五-]{+一+}晚上有分享会" in said("diff", memory_id, "--group", GROUP)
    assert "--group" in said("list", code=1)
    assert "no such memory" in said("history", "nothing", "--group", GROUP, code=1)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (None, "a", ["+ a"]),
        ("a", None, ["- a"]),
        (
            "They meet on Friday evenings",
            "They meet on Monday evenings",
            ["~ They meet on [-Friday-]{+Monday+} evenings"],
        ),
        ("成员写前端", "成员多写前端", ["~ 成员{+多+}写前端"]),
        ("one thing", "quite another matter", ["- one thing", "+ quite another matter"]),
    ],
)
def test_a_difference_marks_words_and_characters(old: str | None, new: str | None, lines: list[str]) -> None:
    assert statement_diff(old, new) == lines
