"""The plain way to an endpoint: what it says, what it keeps, and what it leaves to the library."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Generator

import openai
import pytest

from historian.connection import Connection
from tests.kit.endpoint import FakeEndpoint, Reply

SECONDS = 20


class Served:
    """A server of one connection after another; each answers its requests with what was set out for it."""

    def __init__(self, *answers: list[bytes]) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(SECONDS)
        self.heard: list[bytes] = []
        self.connection = Connection(f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1", "secret", SECONDS)
        self._thread = threading.Thread(target=self._serve, args=(answers,), daemon=True)
        self._thread.start()

    def _serve(self, answers: tuple[list[bytes], ...]) -> None:
        for some in answers:
            caller, _ = self._socket.accept()
            caller.settimeout(SECONDS)
            with caller:
                for answer in some:
                    said = b""
                    while not said.endswith(b"}"):
                        said += caller.recv(65_536)
                    self.heard.append(said)
                    caller.sendall(answer)

    def post(self) -> object:
        return json.loads(self.connection.post("/chat/completions", {"model": "小"}))

    def close(self) -> None:
        self.connection.close()
        self._thread.join(SECONDS)
        self._socket.close()


@pytest.fixture
def serve() -> Generator[Callable[..., Served]]:
    made: list[Served] = []

    def start(*answers: list[bytes]) -> Served:
        made.append(Served(*answers))
        return made[-1]

    yield start
    for one in made:
        one.close()


def plain(body: bytes, *more: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def test_calls_share_a_connection_and_one_that_was_closed_meanwhile_is_made_anew(
    serve: Callable[..., Served],
) -> None:
    served = serve([plain(b'{"n":1}'), plain(b'{"n":2}')], [plain(b'{"n":3}', "Connection: close")], [plain(b"{}")])
    assert [served.post() for _ in range(4)] == [{"n": 1}, {"n": 2}, {"n": 3}, {}]
    first = served.heard[0].decode().lower()
    assert first.startswith("post /v1/chat/completions http/1.1\r\nhost: 127.0.0.1:")
    assert "authorization: bearer secret\r\n" in first
    assert "content-type: application/json\r\n" in first
    assert first.endswith('\r\n\r\n{"model":"小"}')


@pytest.mark.parametrize(
    "answer",
    [
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n',
        b'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}',
        b'HTTP/1.0 200 OK\r\n\r\n{"a":1}',
        b'HTTP/1.1 201 Created\r\nContent-Length: 7\r\n\r\n{"a":1}',
    ],
    ids=["in pieces", "after a continue", "until it closes", "another success"],
)
def test_an_answer_may_come_in_any_wording_of_http(serve: Callable[..., Served], answer: bytes) -> None:
    assert serve([answer]).post() == {"a": 1}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}",
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n',
        b"SSH-2.0-server\r\n",
    ],
    ids=["nothing", "less than announced", "a piece is missing", "no HTTP"],
)
def test_an_answer_that_breaks_off_is_a_connection_error(serve: Callable[..., Served], answer: bytes) -> None:
    with pytest.raises(openai.APIConnectionError):
        serve([answer]).post()


def test_where_an_endpoint_has_moved_the_library_goes(serve: Callable[..., Served]) -> None:
    with FakeEndpoint(routes={"/v1/there": lambda body: {"given": body}}) as endpoint:
        moved = f"HTTP/1.1 307 Moved\r\nLocation: {endpoint.base_url}/there\r\nContent-Length: 0\r\n\r\n".encode()
        assert serve([moved], [moved]).post() == {"given": {"model": "小"}}


def test_what_is_reached_through_a_proxy_is_left_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeEndpoint(routes={"http://models.test/v1/chat/completions": lambda _: {"by": "proxy"}}) as endpoint:
        monkeypatch.setenv("HTTP_PROXY", endpoint.base_url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        connection = Connection("http://models.test/v1", "", SECONDS)
        assert json.loads(connection.post("/chat/completions", {"model": "m"})) == {"by": "proxy"}
        connection.close()


def test_the_body_of_an_error_and_its_headers_are_told() -> None:
    with FakeEndpoint(routes={"/v1/x": lambda _: {}}) as endpoint:
        endpoint.script(Reply(429, b'{"error":{"message":"slower","code":"busy"}}', {"retry-after": "7"}))
        connection = Connection(endpoint.base_url, "", SECONDS)
        with pytest.raises(openai.APIStatusError) as caught:
            connection.post("/x", {"model": "m"})
        connection.close()
    assert caught.value.status_code == 429
    assert caught.value.code == "busy"
    assert caught.value.response.headers["retry-after"] == "7"
