"""Streams and sessions over HTTP: how long they last, and how many one token may have. A real process, real sockets."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from server.http.identity import ADMIN, READ, Identity
from server.http.serving import open_doorway
from server.http.sessions import Sessions
from server.http.watching import Watch
from server.settings import load_settings
from tests.kit.http import BOTH, MODERN_META, Served, dialled, initialize, read_all, request
from tests.kit.stdio import LEGACY, MODERN

MOST = 3


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    toml = f"[server]\nrate_limit = 0\nrecheck_seconds = 0.2\nsessions_per_token = {MOST}\nsession_seconds = 600\n"
    server = Served(tmp_path_factory.mktemp("streams") / "data", toml=toml)
    server.token("first")
    with server:
        yield server


def opened_stream(connection: socket.socket, served: Served, token: str, era: str) -> bytes:
    """Ask for a stream as a client of that era does, and return what came first."""
    lines = [f"Host: 127.0.0.1:{served.port}", f"Authorization: Bearer {token}", f"Accept: {BOTH}"]
    if era == LEGACY:
        session = served.open_session(token)
        lines += [f"Mcp-Session-Id: {session}", f"MCP-Protocol-Version: {LEGACY}"]
        connection.sendall(("\r\n".join(["GET /mcp HTTP/1.1", *lines]) + "\r\n\r\n").encode())
    else:
        wanted = {"notifications": {"toolsListChanged": True}, "_meta": MODERN_META}
        body = json.dumps(request("subscriptions/listen", wanted)).encode()
        lines += [f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: subscriptions/listen"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        connection.sendall(("\r\n".join(["POST /mcp HTTP/1.1", *lines]) + "\r\n\r\n").encode() + body)
    return connection.recv(65_536)


@pytest.mark.process
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_an_open_stream_ends_in_order_when_its_token_is_revoked_and_others_go_on(served: Served, era: str) -> None:
    stored, token = served.tokens.create("carol", scopes=[READ])
    other = served.token("dora")
    with dialled(served.port) as revoked, dialled(served.port) as kept:
        assert opened_stream(revoked, served, token, era).startswith(b"HTTP/1.1 200")
        assert opened_stream(kept, served, other, era).startswith(b"HTTP/1.1 200")
        served.tokens.revoke(stored.token_id)
        revoked.settimeout(10)
        ended = b""
        while not ended.endswith(b"0\r\n\r\n"):  # the last chunk: ended, and not cut off
            chunk = revoked.recv(65_536)
            assert chunk, ended
            ended += chunk
        kept.settimeout(0.5)
        with pytest.raises(TimeoutError):
            while kept.recv(65_536):
                pass
    assert served.said("ended 1 open answers whose token was revoked or has expired")


@pytest.mark.process
def test_an_open_stream_ends_when_its_token_expires(served: Served) -> None:
    token = served.token("erin", expires_at=int(time.time()) + 2)
    with dialled(served.port) as connection:
        assert opened_stream(connection, served, token, MODERN).startswith(b"HTTP/1.1 200")
        connection.settimeout(10)
        said = b""
        while not said.endswith(b"0\r\n\r\n"):
            said += connection.recv(65_536)
    assert served.call(token, "get_profile").status == 401


@pytest.mark.process
def test_one_session_too_many_answers_429_until_one_is_ended_and_other_tokens_go_on(served: Served) -> None:
    greedy, other = served.token("alice"), served.token("alice")
    sessions = [served.open_session(greedy) for _ in range(MOST)]
    refused = served.ask("POST", token=greedy, body=initialize())
    error = refused.message["error"]
    assert (refused.status, error["data"]["error"]) == (429, "too_many_sessions")
    assert "end those that are no longer needed" in error["message"]
    assert int(refused.headers["retry-after"]) > 0
    assert served.legacy(greedy, sessions[0], "tools/list").status == 200
    assert served.call(greedy, "get_profile").status == 200  # the protocol of 2026 knows no sessions
    assert served.open_session(other)
    leaving = {"Mcp-Session-Id": sessions[1], "MCP-Protocol-Version": LEGACY}
    assert served.ask("DELETE", token=greedy, headers=leaving).status == 200
    assert served.open_session(greedy)
    assert served.ask("POST", token=greedy, body=initialize()).status == 429
    metrics = served.ask("GET", "/metrics", token=served.token("ops", scopes=[ADMIN])).text
    assert 'shiguan_http_refused_total{reason="sessions"} 2' in metrics


@pytest.mark.process
def test_what_opens_no_session_takes_no_room(served: Served) -> None:
    token = served.token("frank")
    for _ in range(2 * MOST):
        assert served.ask("POST", token=token, body=request("tools/list")).status == 400
        assert served.ask("POST", token=token, body=b"no json").status == 400
    for _ in range(MOST):
        assert served.open_session(token)


@pytest.mark.process
def test_an_idle_session_makes_room_for_a_new_one(tmp_path: Path) -> None:
    server = Served(tmp_path / "data", toml="[server]\nsessions_per_token = 1\nsession_seconds = 0.4\n")
    token = server.token("alice")
    with server, dialled(server.port) as connection:
        assert opened_stream(connection, server, token, LEGACY).startswith(b"HTTP/1.1 200")
        connection.settimeout(0.8)
        with pytest.raises(TimeoutError):  # a session with an open stream is not idle
            while connection.recv(65_536):
                pass
        body = initialize()
        assert server.ask("POST", token=token, body=body).status == 429
        connection.shutdown(socket.SHUT_WR)
        read_all(connection)
        deadline = time.monotonic() + 10
        while server.ask("POST", token=token, body=body).status == 429:
            assert time.monotonic() < deadline


# ---- the count and the watch by themselves


def test_sessions_count_until_they_are_ended_or_idle() -> None:
    now = [0.0]
    sessions = Sessions(2, 10.0, lambda: now[0])
    for name in ("one", "two"):
        with sessions.opening("alice") as has_room:
            assert has_room
            sessions.opened("alice", name)
    with sessions.opening("alice") as has_room, sessions.opening("bob") as other:
        assert (has_room, other) == (False, True)
    with sessions.using("alice", "one"):
        now[0] = 11.0
        assert sessions.count("alice") == 1  # two is idle, one is in use
    assert sessions.count("alice") == 1
    now[0] = 22.0
    assert sessions.count("alice") == 0
    sessions.ended("alice", "one")


def test_room_that_is_being_taken_is_taken() -> None:
    sessions = Sessions(1, 10.0)
    with sessions.opening("alice") as first, sessions.opening("alice") as second:
        assert (first, second) == (True, False)
    with sessions.opening("alice") as third:
        assert third
    without = Sessions(0, 10.0)
    for number in range(50):
        with without.opening("alice") as has_room:
            assert has_room
            without.opened("alice", str(number))


class Named:
    """Verifies the tokens it was told of."""

    def __init__(self, **tokens: Identity) -> None:
        self.tokens = tokens
        self.asked = 0

    async def verify(self, token: str) -> Identity | None:
        """Return whom a token speaks for."""
        self.asked += 1
        return self.tokens.get(token)


@pytest.mark.anyio
async def test_a_watch_ends_what_a_token_no_longer_suffices_for() -> None:
    alice = Identity("t1", "alice", groups=frozenset({"team"}))
    bob = Identity("t2", "bob")
    verifier = Named(a=alice, b=bob)
    watch = Watch(verifier, 60.0)
    ended: list[str] = []

    async def stream(token: str, identity: Identity) -> None:
        with watch.over(token, identity) as watched:
            await anyio.sleep_forever()
        assert watched.cancelled_caught
        ended.append(token)

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(stream, "a", alice)
        tasks.start_soon(stream, "b", bob)
        await anyio.wait_all_tasks_blocked()
        await watch.look()
        assert (verifier.asked, ended) == (2, [])  # once a token, not once a stream
        verifier.tokens["a"] = Identity("t1", "alice")  # no longer of the group
        await watch.look()
        await anyio.wait_all_tasks_blocked()
        assert ended == ["a", "a", "a"]
        del verifier.tokens["b"]
        await watch.look()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_no_part_of_an_answer_waits_for_an_earlier_one_to_be_acknowledged(tmp_path: Path, host: str) -> None:
    """Two small writes in a row would take 40 ms else, for each answer."""
    settings = load_settings({"data_dir": tmp_path, "user": "alice", "server": {"host": host, "port": 0}}, {})
    with (
        open_doorway(settings, alone=True).socket as doorway,
        socket.create_connection(doorway.getsockname()[:2]),
        doorway.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
