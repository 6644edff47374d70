"""A real `shiguan serve --http` on a free port, its tokens, and the bytes that go over its sockets."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import threading
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from server.http.identity import READ, WRITE
from server.http.tokens import TOKENS_NAME, TokenFile
from tests.kit.checked_schemas import share_checked_schemas
from tests.kit.home import Person
from tests.kit.stdio import CEILING, LEGACY, MODERN, SHIGUAN, environment

BOTH = "application/json, text/event-stream"
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "http-kit", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: headers by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    @property
    def message(self) -> dict[str, Any]:
        """The JSON object that the body is, or that its last server-sent event carries."""
        text = self.text
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            text = re.findall(r"^data: (\{.*)$", text, re.MULTILINE)[-1]
        message = json.loads(text)
        assert isinstance(message, dict)
        return message


class Served:
    """One HTTP server on `folder`. Use it as a context manager: it kills on exit."""

    def __init__(
        self,
        folder: Path,
        *flags: str,
        toml: str = "",
        shims: Sequence[str] = ("fast",),
        env: Mapping[str, str] | None = None,
    ) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if toml:
            (folder / "shiguan.toml").write_text(toml, encoding="utf-8")
        self.folder = folder
        self.tokens = TokenFile(folder / TOKENS_NAME)
        self._flags = flags
        self._env = environment(*shims, **(env or {}))
        self.log: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> Self:
        """Start it and wait until it listens."""
        command = [SHIGUAN, "serve", "--http", "--port", "0", "--data-dir", str(self.folder), *self._flags]
        self._ended = False
        before = len(self.log)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self._env
        )
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        with self._changed:
            served = re.compile(r"serving \S+, listening on \S+:(\d+)\n")
            found = lambda: served.search("".join(self.log[before:]))  # noqa: E731
            assert self._changed.wait_for(lambda: found() or self._ended, CEILING), self.stderr
            match = found()
        assert match is not None, self.stderr
        self.port = int(match[1])
        return self

    @property
    def stderr(self) -> str:
        """All that it said so far."""
        return "".join(self.log)

    @property
    def url(self) -> str:
        """The endpoint, without a proxy in between."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def token(self, user: str | None = "alice", *, scopes: Sequence[str] = (READ, WRITE), **more: Any) -> str:
        """Create a token, as `shiguan token create` does."""
        return self.tokens.create(user, scopes=scopes, **more)[1]

    def said(self, text: str) -> bool:
        """Wait until it has said `text`."""
        with self._changed:
            return self._changed.wait_for(lambda: text in self.stderr or self._ended, CEILING) and text in self.stderr

    def stop(self) -> int:
        """End it as a service manager does, and return its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(CEILING)

    def kill(self) -> None:
        """End it at once."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        if self.process is not None:
            self.process.wait(CEILING)
        with self._changed:
            assert self._changed.wait_for(lambda: self._ended, CEILING)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as stream:
            for line in stream:
                with self._changed:
                    self.log.append(line.decode("utf-8", "replace"))
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    # ---- requests

    def ask(
        self,
        method: str = "GET",
        path: str = "/mcp",
        *,
        token: str | None = None,
        body: bytes | Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request over a connection of its own."""
        return ask(self.port, method, path, token=token, body=body, headers=headers)

    def open_session(self, token: str) -> str:
        """Shake hands as a client of 2025 does and return the session id."""
        answer = self.ask("POST", token=token, body=initialize())
        assert answer.status == 200, answer.text
        return answer.headers["mcp-session-id"]

    def legacy(self, token: str, session: str, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Send a request within a session of 2025."""
        headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": LEGACY}
        return self.ask("POST", token=token, body=request(method, params), headers=headers)

    def modern(self, token: str | None, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Send a request as a client of 2026 does: nothing came before it."""
        given = dict(params or {})
        given["_meta"] = {**MODERN_META, **given.get("_meta", {})}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        name = given.get("name", given.get("uri"))
        headers |= {"Mcp-Name": str(name)} if name is not None else {}
        return self.ask("POST", token=token, body=request(method, given), headers=headers)

    def call(
        self, token: str | None, tool: str, /, *, meta: Mapping[str, Any] | None = None, **arguments: Any
    ) -> Answer:
        """Call a tool as a client of 2026 does."""
        return self.modern(token, "tools/call", {"name": tool, "arguments": arguments, "_meta": meta or {}})

    @asynccontextmanager
    async def client(self, token: str, mode: str = "auto") -> AsyncGenerator[Person]:
        """Connect the SDK's own client."""
        async with connected(self.url, token, mode) as client:
            yield Person(client)


@asynccontextmanager
async def connected(url: str, token: str | None, mode: Any = "auto") -> AsyncGenerator[Client]:
    """Connect the SDK's own client to a server."""
    headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=CEILING, trust_env=False) as http_client,
        Client(streamable_http_client(url, http_client=http_client), mode=mode) as client,
    ):
        yield share_checked_schemas(client)


def request(method: str, params: Mapping[str, Any] | None = None, number: int = 1) -> dict[str, Any]:
    """Return a JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params or {})}


def initialize() -> dict[str, Any]:
    """Return the first message of a client of 2025."""
    client = {"name": "http-kit", "version": "1"}
    return request("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client})


def ask(
    port: int,
    method: str = "GET",
    path: str = "/mcp",
    *,
    token: str | None = None,
    body: bytes | Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send one request to a local port over a connection of its own."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body, ensure_ascii=False).encode()
    given = {"Accept": BOTH, "Content-Type": "application/json"}
    given |= {"Authorization": f"Bearer {token}"} if token is not None else {}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=CEILING)
    try:
        connection.request(method, path, data, given | dict(headers or {}))
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


@contextmanager
def dialled(port: int) -> Generator[socket.socket]:
    """Open a bare connection to a local port."""
    with socket.create_connection(("127.0.0.1", port), timeout=CEILING) as connection:
        yield connection


def read_all(connection: socket.socket) -> bytes:
    """Return all that comes until the other side closes."""
    data = bytearray()
    while chunk := connection.recv(65_536):
        data += chunk
    return bytes(data)
