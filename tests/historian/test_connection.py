"""Connections to endpoints that are let go of while somebody still speaks over them: no socket is left behind."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Generator
from typing import Any

import pytest

from historian.connection import Connection

SECONDS = 20
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"


class Listener:
    """An endpoint that answers when it is told to, and sees when the other side closes."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(SECONDS)
        self.connection = Connection(f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1", "", SECONDS)

    def heard(self) -> socket.socket:
        """Return the next connection once the whole request is there."""
        caller, _ = self._socket.accept()
        caller.settimeout(SECONDS)
        said = b""
        while not said.endswith(b"}"):
            said += caller.recv(65_536)
        return caller

    def close(self) -> None:
        self.connection.close()
        self._socket.close()


@pytest.fixture
def listener() -> Generator[Listener]:
    made = Listener()
    yield made
    made.close()


class Caller(threading.Thread):
    """One call, in a thread of its own as the historian makes them."""

    def __init__(self, connection: Connection, body: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self._connection = connection
        self._body = body
        self.answer: object = None
        self.start()

    def run(self) -> None:
        try:
            self.answer = json.loads(self._connection.post("/chat/completions", self._body))
        except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
            self.answer = error


class Leaving(dict[str, Any]):
    """A body during whose writing down everything is let go of."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(model="m")
        self._connection = connection

    def items(self) -> Any:
        self._connection.close()
        return super().items()


@pytest.mark.parametrize("before", [True, False], ids=["before it is sent", "before it is answered"])
def test_a_call_under_way_keeps_its_socket_and_takes_it_along(listener: Listener, before: bool) -> None:
    caller = Caller(listener.connection, Leaving(listener.connection) if before else {"model": "m"})
    with listener.heard() as there:
        if not before:
            listener.connection.close()
        there.sendall(ANSWER)
        assert there.recv(1) == b"", "the socket is closed once the call is over"
    caller.join(SECONDS)
    assert caller.answer == {}


def test_what_is_idle_is_closed_at_once_and_another_call_opens_it_again(listener: Listener) -> None:
    for _ in range(2):
        caller = Caller(listener.connection, {"model": "m"})
        with listener.heard() as there:
            there.sendall(ANSWER)
            caller.join(SECONDS)
            assert caller.answer == {}
            listener.connection.close()
            assert there.recv(1) == b""
