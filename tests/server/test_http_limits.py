"""What is too much, too slow or from the wrong place over HTTP is refused politely, and the server lives on."""

from __future__ import annotations

import json
import selectors
import socket
import time
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from historian.errors import InvalidInputError
from server.http.hosts import make_hosts
from server.http.identity import ADMIN, READ
from server.http.limits import RateLimiter
from server.server_settings import ServerSettings
from tests.kit.http import BOTH, MODERN_META, Served, dialled, initialize, read_all, request
from tests.kit.stdio import CEILING, MODERN

MOST = 40
BODY = 20_000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    toml = f"[server]\nmax_connections = {MOST}\nmax_body_bytes = {BODY}\nbody_seconds = 0.5\nrate_limit = 0\n"
    server = Served(tmp_path_factory.mktemp("limits") / "data", toml=toml)
    server.token("first")
    with server:
        yield server


@pytest.fixture(scope="module")
def alice(served: Served) -> str:
    return served.token("alice")


def head(served: Served, token: str | None, length: int | str, *more: str) -> bytes:
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{served.port}",
        *([f"Authorization: Bearer {token}"] if token is not None else []),
        "Content-Type: application/json",
        f"Accept: {BOTH}",
        f"Content-Length: {length}" if length != "chunked" else "Transfer-Encoding: chunked",
        *more,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def lives(served: Served, token: str) -> bool:
    return served.call(token, "get_profile").status == 200 and served.ask("GET", "/healthz").status == 200


# ---- bodies


@pytest.mark.process
def test_a_body_that_is_too_large_answers_413_also_when_its_size_is_not_told(served: Served, alice: str) -> None:
    large = json.dumps(request("ping", {"x": "x" * BODY})).encode()
    assert served.ask("POST", token=alice, body=large).status == 413
    told = request("ping", {"x": "x" * 10})
    assert (
        served.ask("POST", token=alice, body=told, headers={"Mcp-Session-Id": served.open_session(alice)}).status == 200
    )
    with dialled(served.port) as connection:  # announced only, and not sent
        connection.sendall(head(served, alice, 10**9))
        assert b" 413 " in read_all(connection).splitlines()[0]
    with dialled(served.port) as connection:
        connection.sendall(head(served, alice, "chunked"))
        chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
        connection.sendall(chunk * 6)
        assert b" 413 " in read_all(connection).splitlines()[0]
    assert lives(served, alice)


@pytest.mark.process
def test_a_stranger_is_told_so_before_the_body_is_read(served: Served) -> None:
    with dialled(served.port) as connection:
        connection.sendall(head(served, None, 10_000))
        assert b" 401 " in read_all(connection).splitlines()[0]


@pytest.mark.process
@pytest.mark.parametrize("length", [1000, "chunked"])
def test_a_body_that_comes_too_slowly_answers_408(served: Served, alice: str, length: int | str) -> None:
    with dialled(served.port) as connection:
        connection.sendall(head(served, alice, length) + (b'{"json' if length != "chunked" else b"6\r\n{"))
        started = time.monotonic()
        answer = read_all(connection)
    assert b" 408 " in answer.splitlines()[0]
    assert time.monotonic() - started < CEILING / 2
    assert lives(served, alice)


@pytest.mark.process
@pytest.mark.parametrize("sent", [b"", b"P", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_a_head_that_comes_too_slowly_is_not_waited_for(served: Served, alice: str, sent: bytes) -> None:
    with dialled(served.port) as connection:
        connection.sendall(sent)
        assert b" 408 " in read_all(connection).splitlines()[0]
    assert lives(served, alice)


@pytest.mark.process
def test_the_second_head_on_a_connection_has_no_more_time_than_the_first(served: Served, alice: str) -> None:
    with dialled(served.port) as connection:
        connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /hea")
        assert b"HTTP/1.1 408" in read_all(connection)
    assert lives(served, alice)


@pytest.mark.process
@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # somebody speaks TLS to us
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\x00b\r\n\r\n",
    ],
)
def test_what_is_no_http_ends_the_connection_and_nothing_else(served: Served, alice: str, data: bytes) -> None:
    with dialled(served.port) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = read_all(connection)
    assert not answer or answer.split(b" ")[1] in (b"400", b"401", b"408", b"414", b"431"), answer[:200]
    assert b"Traceback" not in answer
    assert lives(served, alice)
    assert "Invalid HTTP request" not in served.stderr, "who has no token could fill the log"


@pytest.mark.process
def test_a_client_that_hangs_up_in_the_middle_is_no_error(served: Served, alice: str) -> None:
    before = served.stderr.count("ERROR")
    for sent in (head(served, alice, 500), head(served, alice, 500) + b'{"jsonrpc', b"POST /mcp HT"):
        with dialled(served.port) as connection:
            connection.sendall(sent)
    assert lives(served, alice)
    assert served.stderr.count("ERROR") == before


# ---- connections


def crowd(served: Served, count: int) -> tuple[int, int]:
    """Open `count` connections at once, each with a request; return how many were answered 200, and how many 503."""
    line = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode()
    good = busy = 0
    with ExitStack() as open_ones:
        selector = open_ones.enter_context(selectors.DefaultSelector())
        for _ in range(count):
            connection = open_ones.enter_context(dialled(served.port))
            connection.sendall(line)
            selector.register(connection, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(CEILING)
            assert ready, (good, busy)
            for key, _ in ready:
                connection = key.fileobj
                assert isinstance(connection, socket.socket)
                selector.unregister(connection)
                status = connection.recv(4096).split(b" ", 2)[1:2]
                good += status == [b"200"]
                busy += status == [b"503"]
    return good, busy


@pytest.mark.process
@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.soak)])
def test_many_connections_at_once_are_refused_politely(served: Served, alice: str, count: int) -> None:
    """Each one gets an answer, those beyond the limit are told when to come again, and there is room afterwards."""
    good, busy = crowd(served, count)
    assert good + busy == count
    assert good > 0
    assert busy > 0
    deadline = time.monotonic() + CEILING
    while served.ask("GET", "/healthz").status != 200:
        assert time.monotonic() < deadline
    assert lives(served, alice)


@pytest.mark.process
def test_idle_connections_give_way(served: Served, alice: str) -> None:
    with ExitStack() as open_ones:
        idle = [open_ones.enter_context(dialled(served.port)) for _ in range(MOST)]
        with dialled(served.port) as one_more:
            answer = read_all(one_more)
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after: " in answer
        for connection in idle:
            assert b" 408 " in read_all(connection)
        assert lives(served, alice)


# ---- requests a minute


def test_a_token_has_a_minutes_worth_and_then_as_many_as_refill() -> None:
    now = [1000.0]
    limiter = RateLimiter(60, lambda: now[0])
    assert [limiter.wait_for("a") for _ in range(60)] == [0] * 60
    assert limiter.wait_for("a") == 1
    assert limiter.wait_for("b") == 0
    now[0] += 2.5
    assert [limiter.wait_for("a") for _ in range(3)] == [0, 0, 1]
    now[0] += 3600
    assert [limiter.wait_for("a") for _ in range(61)][-2:] == [0, 1]


def test_a_slow_limit_says_how_long_to_wait_and_no_limit_is_none() -> None:
    now = [0.0]
    slow = RateLimiter(2, lambda: now[0])
    assert [slow.wait_for("a") for _ in range(3)] == [0, 0, 30]
    assert [RateLimiter(0).wait_for("a") for _ in range(1000)] == [0] * 1000


def test_buckets_of_those_who_left_are_forgotten() -> None:
    now = [0.0]
    limiter = RateLimiter(60, lambda: now[0])
    for number in range(10_000):
        limiter.wait_for(str(number))
    now[0] += 60
    limiter.wait_for("one more")
    assert limiter.known == 1


@pytest.mark.process
def test_too_many_requests_with_one_token_answer_429_and_others_go_on(tmp_path: Path) -> None:
    server = Served(tmp_path / "data", toml="[server]\nrate_limit = 5\n")
    greedy, other = server.token("alice"), server.token("alice")
    with server:
        answers = [server.call(greedy, "get_profile") for _ in range(7)]
        assert [answer.status for answer in answers] == [200] * 5 + [429] * 2
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 12
        assert server.call(other, "get_profile").status == 200
        assert server.call("shiguan_00000000_" + "A" * 43, "get_profile").status == 401
        metrics = server.ask("GET", "/metrics", token=server.token("ops", scopes=[ADMIN])).text
        assert 'shiguan_http_refused_total{reason="too_many"} 2' in metrics


# ---- names and pages


@pytest.mark.process
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "LOCALHOST:9000"}, 200),
        ({"Host": "[::1]:8765"}, 200),
        ({"Host": "evil.example.com"}, 421),
        ({"Host": "127.0.0.1.evil.example.com"}, 421),
        ({"Host": "localhost.evil.example.com:80"}, 421),
        ({"Host": "evil.example.com:127.0.0.1"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Origin": "http://localhost:{port}"}, 200),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "https://evil.example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "http://127.0.0.1:{port}.evil.example.com"}, 403),
        ({"Origin": "http://localhost:{port}@evil.example.com"}, 403),
    ],
)
def test_only_our_own_names_and_pages_may_call(
    served: Served, alice: str, headers: dict[str, str], status: int
) -> None:
    given = {name: value.format(port=served.port) for name, value in headers.items()}
    answer = served.ask("POST", token=alice, body=initialize(), headers=given)
    assert answer.status == status, answer.text
    stranger = served.ask("POST", body=initialize(), headers=given)
    assert stranger.status == (401 if status == 200 else status)
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.process
def test_two_host_headers_are_one_too_many(served: Served, alice: str) -> None:
    with dialled(served.port) as connection:
        connection.sendall(head(served, alice, 2, "Host: evil.example.com", "Connection: close") + b"{}")
        assert read_all(connection).split(b" ")[1] in (b"400", b"421")


@pytest.mark.process
def test_pages_that_were_named_may_call_from_a_browser(tmp_path: Path) -> None:
    toml = '[server]\nallowed_origins = ["https://inspector.example.com/"]\nallowed_hosts = ["memory.example.com"]\n'
    server = Served(tmp_path / "data", toml=toml)
    token = server.token("alice")
    asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,mcp-session-id"}
    with server:
        named = {"Origin": "https://inspector.example.com", "Host": "memory.example.com"}
        preflight = server.ask("OPTIONS", headers=named | asking)
        assert preflight.status == 200
        assert preflight.headers["access-control-allow-origin"] == "https://inspector.example.com"
        answer = server.ask("POST", token=token, body=initialize(), headers=named)
        assert answer.status == 200
        assert "mcp-session-id" in answer.headers["access-control-expose-headers"].lower()
        assert server.ask("OPTIONS", headers={"Origin": "https://evil.example.com"} | asking).status == 403


def test_listening_everywhere_needs_a_name() -> None:
    for host in ("0.0.0.0", "::"):
        with pytest.raises(InvalidInputError, match="public_url"):
            make_hosts(ServerSettings(host=host), 80)
    hosts = make_hosts(ServerSettings(host="0.0.0.0", public_url="https://Memory.Example.com/mcp"), 80)
    assert hosts.knows("memory.example.com")
    assert hosts.knows("memory.example.com:443")
    assert hosts.knows("127.0.0.1:80")
    assert not hosts.knows("example.com")
    assert hosts.admits("https://memory.example.com")
    assert not hosts.admits("http://memory.example.com")
    assert make_hosts(ServerSettings(host="192.168.1.5"), 80).knows("192.168.1.5:80")
    assert not make_hosts(ServerSettings(host="192.168.1.5"), 80).knows("localhost")


@pytest.mark.process
def test_progress_needs_no_session_and_headers_must_say_what_the_body_says(served: Served, alice: str) -> None:
    body = request("tools/call", {"name": "get_profile", "arguments": {}, "_meta": MODERN_META})
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list", "Mcp-Name": "get_profile"}
    assert served.ask("POST", token=alice, body=body, headers=headers).status == 400
    read_only = served.token("alice", scopes=[READ])
    body = request("tools/call", {"name": "end", "arguments": {"memo": "x"}, "_meta": MODERN_META})
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "get_profile"}
    assert served.ask("POST", token=read_only, body=body, headers=headers).status == 403
