"""Over HTTP: who gets in, what each may do, and that sessions and people stay apart. A real process, real sockets."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from server.http.admission import LIST
from server.http.identity import ACT_AS, ADMIN, READ, SCOPES, WRITE
from server.toolsets import published
from tests.kit.http import Answer, Served, initialize, request

pytestmark = pytest.mark.process

WRONG = "shiguan_00000000_" + "A" * 43


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    server = Served(
        tmp_path_factory.mktemp("http") / "data", "--toolsets", "host,group,admin", toml="[server]\nrate_limit = 0\n"
    )
    server.token("first")
    with server:
        yield server


@pytest.fixture(scope="module")
def alice(served: Served) -> str:
    return served.token("alice")


@pytest.fixture(scope="module")
def bob(served: Served) -> str:
    return served.token("bob")


def told(answer: Answer) -> str:
    """Return the sentence of a refusal: of the door, of the protocol, or of a tool."""
    message = answer.message
    if "error_description" in message:
        return str(message["error_description"])
    if "error" in message:
        return str(message["error"]["message"])
    assert message["result"]["isError"], message
    return str(message["result"]["content"][0]["text"])


# ---- who gets in


@pytest.mark.parametrize(
    "path", ["/mcp", "/", "/metrics", "/mcp/", "/admin", "/.well-known/oauth-protected-resource", "//"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD"])
def test_without_a_token_every_route_answers_401(served: Served, path: str, method: str) -> None:
    """P47."""
    for token in (None, WRONG):
        answer = served.ask(method, path, token=token, body=initialize() if method == "POST" else None)
        assert answer.status == 401, (method, path)
        assert answer.headers["www-authenticate"].startswith("Bearer ")
        assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic YWxpY2U6YWxpY2U=",
        "Bearer null",
        "Bearer alice",
        f"Bearer {WRONG}",
        "Bearer ' OR 1=1 --",
        "Bearer " + "A" * 8000,
        "Token {alice}",
        "Bearer {alice}x",
        "Bearer {alice} {alice}",
        "{alice}",
    ],
)
def test_what_is_no_token_answers_401_and_is_not_repeated(served: Served, alice: str, header: str) -> None:
    given = header.replace("{alice}", alice)
    answer = served.ask("POST", body=initialize(), headers={"Authorization": given})
    assert answer.status == 401
    assert alice not in answer.text
    assert len(answer.text) < 200


def test_a_token_counts_in_the_header_only(served: Served, alice: str) -> None:
    assert served.ask("POST", f"/mcp?access_token={alice}&token={alice}", body=initialize()).status == 401
    assert served.ask("POST", body=initialize(), headers={"Cookie": f"token={alice}"}).status == 401
    assert (
        served.ask("POST", token=alice, body=initialize(), headers={"authorization": f"bearer {alice}"}).status == 401
    )


def test_the_scheme_is_read_in_any_case(served: Served, alice: str) -> None:
    for scheme in ("bearer", "BEARER"):
        answer = served.ask("POST", body=initialize(), headers={"Authorization": f"{scheme} {alice}"})
        assert answer.status == 200


def test_an_expired_token_and_a_revoked_one_are_refused_at_once(served: Served) -> None:
    stored, token = served.tokens.create("carol", scopes=[READ])
    assert served.call(token, "get_profile").status == 200
    session = served.open_session(token)
    served.tokens.revoke(stored.token_id)
    assert served.call(token, "get_profile").status == 401
    assert served.legacy(token, session, "tools/list").status == 401
    assert served.call(served.token("carol", expires_at=1), "get_profile").status == 401


def test_a_new_token_is_known_at_once(served: Served) -> None:
    assert served.call(served.token("dora"), "get_profile").status == 200


def test_health_is_open_and_tells_nothing(served: Served) -> None:
    answer = served.ask("GET", "/healthz", headers={"Host": "10.0.0.7:8765"})
    assert (answer.status, answer.text) == (200, "ok\n")
    assert "server" not in answer.headers


# ---- whose it is


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_token_has_its_own_memory_in_both_eras(served: Served, mode: str) -> None:
    """P45, P50."""
    word = "fjordhest"
    own, other = served.token(f"own {mode}"), served.token(f"other {mode}")
    async with served.client(own, mode) as mine, served.client(other, mode) as theirs:
        await mine.remember(f"Alice 喜欢 {word}.")
        assert len(await mine.texts(word)) == 1
        assert await theirs.texts(word) == []
        assert "no profile" in await theirs.refused("get_profile", entity_id=f"own {mode}")
        resource = await mine.client.read_resource("memory://profile")
        assert word in str(resource)
        assert word not in str(await theirs.client.read_resource("memory://profile"))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_token_reads_the_groups_it_names_and_no_others(served: Served, mode: str) -> None:
    bot = served.token(None, scopes=[READ, WRITE, ACT_AS])
    word = f"kaninhop{mode}"
    said = {
        "conversation_id": "c",
        "role": "user",
        "sender_id": "erik",
        "content": f"{word} on Friday",
        "ts": "2026-05-01T10:00:00Z",
    }
    meta = {"shiguan/user_id": "erik", "shiguan/group_id": "club"}
    assert served.call(bot, "messages_append", messages=[said], meta=meta).status == 200
    member, other = served.token("fia", groups=["club"]), served.token("gus", groups=["clu"])
    async with served.client(member, mode) as inside, served.client(other, mode) as outside:
        for person, count in ((inside, 0), (outside, 0)):
            assert len((await person.call("lexical_search", query_text=word))["items"]) == count
        arguments: dict[str, Any] = {"query": word, "target_group_id": "club"}
        assert "events" in await inside.call("search_events", **arguments)
        assert (await outside.call("search_events", **arguments))["events"] == []


@pytest.mark.parametrize("name", ["user", "user_id", "token", "api_key", "scope"])
def test_identity_in_arguments_is_refused(served: Served, bob: str, name: str) -> None:
    """P55."""
    sentence = told(served.call(bob, "get_profile", **{name: "alice"}))
    assert name in sentence


@pytest.mark.parametrize("key", ["user_id", "group_id", "sender_name", "anything", ""])
def test_identity_in_meta_is_refused_without_the_scope(served: Served, bob: str, key: str) -> None:
    answer = served.call(bob, "get_profile", meta={f"shiguan/{key}": "alice"})
    assert answer.status == 403
    assert f'scope="{ACT_AS}"' in answer.headers["www-authenticate"]
    session = served.open_session(bob)
    params = {"name": "get_profile", "arguments": {}, "_meta": {f"shiguan/{key}": "alice"}}
    assert served.legacy(bob, session, "tools/call", params).status == 403


# ---- sessions


def strangers(served: Served, alice: str) -> Iterator[tuple[str | None, int]]:
    yield None, 401
    yield WRONG, 401
    yield served.token("bob"), 404
    yield served.token("alice"), 404  # the same person, but not the token that opened it
    yield served.token(None, scopes=[*SCOPES]), 404
    assert alice


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_a_session_id_is_worth_nothing_without_the_token_that_opened_it(
    served: Served, alice: str, method: str
) -> None:
    """P53."""
    session = served.open_session(alice)
    body = request("tools/call", {"name": "get_profile", "arguments": {}}) if method == "POST" else None
    for token, status in strangers(served, alice):
        answer = served.ask(method, token=token, body=body, headers={"Mcp-Session-Id": session})
        assert answer.status == status, answer.text
        made_up = served.ask(method, token=token, body=body, headers={"Mcp-Session-Id": "0" * 32})
        assert (made_up.status, made_up.body) == (answer.status, answer.body)
    assert served.legacy(alice, session, "tools/list").status == 200


def test_a_session_ends_when_its_client_says_so(served: Served, alice: str) -> None:
    session = served.open_session(alice)
    assert served.ask("DELETE", token=alice, headers={"Mcp-Session-Id": session}).status == 200
    assert served.legacy(alice, session, "tools/list").status == 404


# ---- scopes


def arguments_of(tool: str) -> dict[str, Any]:
    needed: dict[str, Any] = {
        "end": {"memo": "x"},
        "search_events": {"query": "x"},
        "search_profiles": {"query": "x"},
        "lexical_search": {"query_text": "x"},
        "semantic_search": {"query_text": "x"},
        "neighbors": {"message_id": "x"},
        "search_group_memories": {"query": "x"},
        "set_memory_strength": {"memory_id": "x", "strength": 1},
        **{tool: {"memory_id": "x"} for tool in ("memory_history", "restore_memory", "delete_memory")},
    }
    return dict(needed.get(tool, {}))


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_each_tool_needs_the_scope_of_its_kind(served: Served, era: str) -> None:
    """Every tool that is published, new ones too."""
    admin = {tool.name for tool in published(["admin"])} - {tool.name for tool in published([])}
    tokens = {scope: served.token("hal", scopes=[scope]) for scope in SCOPES}
    sessions = {scope: served.open_session(token) for scope, token in tokens.items()}
    for tool in published(["host", "group", "admin"]):
        needed = ADMIN if tool.name in admin or tool.needs_admin else READ if tool.annotations.read_only_hint else WRITE
        for scope, token in tokens.items():
            arguments = arguments_of(tool.name)
            if era == "modern":
                answer = served.call(token, tool.name, **arguments)
            else:
                params = {"name": tool.name, "arguments": arguments}
                answer = served.legacy(token, sessions[scope], "tools/call", params)
            if scope == needed:
                assert answer.status == 200, (tool.name, answer.text)
            else:
                assert answer.status == 403, (tool.name, scope, answer.text)
                challenge = answer.headers["www-authenticate"]
                assert 'error="insufficient_scope"' in challenge
                assert f'scope="{needed}"' in challenge


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_token_is_shown_the_tools_that_it_may_call_and_no_others(served: Served, era: str) -> None:
    every = {tool.name for tool in published(["host", "group", "admin"])}
    shown: dict[str, set[str]] = {}
    for scopes in ([READ], [WRITE], [ADMIN], [ACT_AS], [READ, WRITE, ADMIN]):
        token = served.token("hal", scopes=scopes)
        legacy = era == "legacy"
        answer = served.legacy(token, served.open_session(token), LIST) if legacy else served.modern(token, LIST)
        shown[" ".join(scopes)] = {tool["name"] for tool in answer.message["result"]["tools"]}
    assert shown[f"{READ} {WRITE} {ADMIN}"] == every
    assert shown[ACT_AS] == set()
    assert shown[READ] | shown[WRITE] | shown[ADMIN] == every
    assert sum(map(len, shown.values())) == 2 * len(every), "each tool is of one scope"
    assert "search_events" in shown[READ]
    assert "end" in shown[WRITE]
    assert "forget" in shown[ADMIN]
    assert served.call(served.token("hal", scopes=[READ]), "forget", everything=True).status == 403


def test_resources_need_the_scope_for_reading(served: Served) -> None:
    token = served.token("hal", scopes=[WRITE])
    assert served.modern(token, "resources/read", {"uri": "memory://profile"}).status == 403
    assert served.modern(token, "resources/list").status == 200
    assert (
        served.modern(served.token("hal", scopes=[READ]), "resources/read", {"uri": "memory://profile"}).status == 200
    )


def test_a_request_that_two_parsers_read_differently_gets_nothing_by_it(served: Served) -> None:
    """The door reads the body once more than the SDK does; what only the SDK understands meets the last word inside."""
    token = served.token("ida", scopes=[READ])
    session = served.open_session(token)
    headers = {"Mcp-Session-Id": session}
    call = '"method": "tools/call", "params": {"name": "end", "arguments": {"memo": "smuggled"}}'
    bodies = [
        f'{{"jsonrpc": "2.0", "id": 1, "method": "ping", {call}}}',
        f'{{"jsonrpc": "2.0", "id": 1, {call}, "x": NaN}}',
        f'{{"jsonrpc": "2.0", "id": 1, {call}, "x": {"[" * 900}{"]" * 900}}}',
        f'[{{"jsonrpc": "2.0", "id": 1, {call}}}]',
        f'\ufeff{{"jsonrpc": "2.0", "id": 1, {call}}}',
    ]
    for body in bodies:
        answer = served.ask("POST", token=token, body=body.encode(), headers=headers)
        assert "job_id" not in answer.text, body[:80]
    assert "smuggled" not in served.call(token, "search_events", query="smuggled").text.replace('"smuggled"', "")
    assert json.loads(served.call(token, "memory_status").text)["result"]["structuredContent"]["pending"] == 0


# ---- metrics


def test_metrics_are_for_admins_and_name_nobody(served: Served, alice: str) -> None:
    assert served.ask("GET", "/metrics", token=alice).status == 403
    served.call(alice, "search_events", query="secretword")
    served.legacy(alice, served.open_session(alice), "made/up\n# HELP x")
    answer = served.ask("GET", "/metrics", token=served.token("ops", scopes=[ADMIN]))
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert any(line.startswith('shiguan_requests_total{method="tools/call",tool="search_events"} ') for line in lines)
    assert any(line.startswith('shiguan_http_refused_total{reason="token"} ') for line in lines)
    assert all(line.startswith(("# TYPE shiguan_", "shiguan_")) for line in lines)
    for word in ("alice", "secretword", "made/up", alice, alice.split("_")[1]):
        assert word not in answer.text


# ---- what is no request


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"null", 400),
        (b"[]", 400),
        (b'"text"', 400),
        (b"\xff\xfe\x00", 400),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', 400),
        (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}', 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', 400),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', 400),
        (b"[" * 100_000, 400),
        (b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "ping"}', 400),
    ],
)
def test_malformed_messages_are_refused_and_the_server_lives_on(
    served: Served, alice: str, body: bytes, status: int
) -> None:
    session = served.open_session(alice)
    for headers in ({"Mcp-Session-Id": session}, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "ping"}):
        answer = served.ask("POST", token=alice, body=body, headers=headers)
        assert answer.status == status, answer.text
        for inside in ("Traceback", "pydantic", "site-packages", str(served.folder)):
            assert inside not in answer.text
    assert served.legacy(alice, session, "tools/list").status == 200


def test_half_a_surrogate_in_a_message_is_mended_as_over_stdio(served: Served, alice: str) -> None:
    call = b'"method": "tools/call", "params": {"name": "search_events", "arguments": {"query": "a\\ud83d"}}'
    body = b'{"jsonrpc": "2.0", "id": 1, ' + call + b"}"
    session = served.open_session(alice)
    assert served.ask("POST", token=alice, body=body, headers={"Mcp-Session-Id": session}).status == 200


@pytest.mark.parametrize("sent", [["likes tea"], '["likes tea"]', "likes tea"])
def test_lists_may_come_as_lists_as_json_or_as_one_text(served: Served, alice: str, sent: object) -> None:
    """P97 over HTTP."""
    answer = served.call(alice, "end", observations=sent)
    assert answer.message["result"]["structuredContent"]["queued"], answer.text


def test_no_schema_over_http_has_what_hosts_reject(served: Served, alice: str) -> None:
    """P98 over HTTP."""
    tools = served.modern(alice, "tools/list").message["result"]["tools"]
    assert len(tools) >= 10
    for tool in tools:
        assert tool["inputSchema"]["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf", "$ref", "$defs"} & set(json.dumps(tool["inputSchema"]).split('"'))
