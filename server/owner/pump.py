"""The line pump between a host's stdin and stdout and the owner of the data folder: standard library only.

It passes lines both ways, reading only what it takes to survive the owner: the handshake, to greet a new owner with,
and the calls that wait for an answer, to repeat them there or to say in one sentence that they were cut off.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

from historian.errors import ShiguanError
from server.owner.attach import Attachment

CHUNK = 262_144
INTERNAL_ERROR = -32603
EOF_SECONDS = 5.0
"""How long answers may still come after the host closed stdin."""
SAFE_METHODS = frozenset({"ping", "completion/complete", "logging/setLevel", "subscriptions/listen", "server/discover"})
SAFE_PREFIXES = ("tools/list", "resources/", "prompts/")
CUT_OFF = (
    "The memory's process ended while this call ran and another one took over; check memory_status before repeating."
)


class Waiting(NamedTuple):
    """A request of the host that has no answer yet."""

    line: bytes
    request_id: Any
    method: str
    tool: str | None


class Wire:
    """The connection to the present owner; `lock` guards it together with what is in flight."""

    def __init__(self, connection: socket.socket, repeatable: frozenset[str]) -> None:
        self.connection = connection
        self.repeatable = repeatable
        self.lock = threading.Lock()
        self.opening: list[bytes] = []
        self.opening_id: str | None = None
        self.in_flight: dict[str, Waiting] = {}
        self.swallow: set[str] = set()


class Pump:
    """Pumps until the host closes stdin. `attach` finds or starts an owner and introduces this client to it."""

    def __init__(self, attach: Callable[[], Attachment], source: BinaryIO, sink: BinaryIO) -> None:
        self._attach = attach
        self._source = source
        self._sink = sink
        self._closing = threading.Event()
        first = attach()
        self._warn(first)
        self._wire = Wire(first.connection, _repeatable(first))

    def run(self) -> None:
        """Pump both ways; return when stdin is closed and the last answers have come, or `EOF_SECONDS` later."""
        reader = threading.Thread(target=self._read_owner, name="shiguan-pump", daemon=True)
        reader.start()
        for line in self._source:
            if line.strip():
                self._to_owner(line)
        self._closing.set()
        with self._wire.lock:
            _quietly(self._wire.connection.shutdown, socket.SHUT_WR)
        reader.join(EOF_SECONDS)

    def _to_owner(self, line: bytes) -> None:
        message = _parsed(line)
        with self._wire.lock:
            self._note(message, line)
            _quietly(self._wire.connection.sendall, line)  # what fails here is in flight, and repeated to a new owner

    def _note(self, message: dict[str, Any], line: bytes) -> None:
        method, key = message.get("method"), _key(message)
        if method == "initialize":
            self._wire.opening, self._wire.opening_id = [line], key
        elif method == "notifications/initialized":
            self._wire.opening.append(line)
        elif method == "notifications/cancelled":
            self._wire.in_flight.pop(json.dumps((message.get("params") or {}).get("requestId")), None)
        if isinstance(method, str) and key is not None:
            tool = (message.get("params") or {}).get("name") if method == "tools/call" else None
            self._wire.in_flight[key] = Waiting(line, message["id"], method, tool)

    def _read_owner(self) -> None:
        while True:
            for line in _lines(self._wire.connection):
                self._from_owner(line)
            if self._closing.is_set():
                return
            try:
                self._reattach()
            except ShiguanError as error:
                sys.stderr.write(f"shiguan: {error}\n")
                self._answer_all(str(error))
                _quietly(self._source.close)
                return

    def _from_owner(self, line: bytes) -> None:
        message = _parsed(line)
        if "method" not in message:
            key = _key(message)
            with self._wire.lock:
                if key in self._wire.swallow:
                    self._wire.swallow.discard(key)
                    return
                self._wire.in_flight.pop(key or "", None)
        self._write(line)

    def _reattach(self) -> None:
        """Greet a new owner as the host greeted the old one, and take up the calls that were cut off."""
        attachment = self._attach()
        self._warn(attachment)
        wire = self._wire
        with wire.lock:
            _quietly(wire.connection.close)
            wire.connection, wire.repeatable = attachment.connection, _repeatable(attachment)
            if wire.opening_id is not None and wire.opening_id not in wire.in_flight:
                wire.swallow.add(wire.opening_id)
            lines = [*wire.opening]
            for key, waiting in [*wire.in_flight.items()]:
                if key == wire.opening_id:
                    continue
                if _is_safe(waiting, wire.repeatable):
                    lines.append(waiting.line)
                else:
                    del wire.in_flight[key]
                    self._refuse(waiting, CUT_OFF)
            _quietly(wire.connection.sendall, b"".join(lines))

    def _answer_all(self, sentence: str) -> None:
        with self._wire.lock:
            for waiting in self._wire.in_flight.values():
                self._refuse(waiting, sentence)
            self._wire.in_flight.clear()

    def _refuse(self, waiting: Waiting, sentence: str) -> None:
        error = {"code": INTERNAL_ERROR, "message": sentence}
        self._write(json.dumps({"jsonrpc": "2.0", "id": waiting.request_id, "error": error}).encode("ascii") + b"\n")

    def _write(self, line: bytes) -> None:
        try:
            self._sink.write(line)
            self._sink.flush()
        except (OSError, ValueError):
            self._closing.set()  # the host is gone; its stdin will end too

    def _warn(self, attachment: Attachment) -> None:
        for warning in attachment.welcome.get("warnings", ()):
            sys.stderr.write(f"shiguan: {warning}\n")


def _repeatable(attachment: Attachment) -> frozenset[str]:
    return frozenset(str(name) for name in attachment.welcome.get("repeatable", ()))


def _is_safe(waiting: Waiting, repeatable: frozenset[str]) -> bool:
    if waiting.tool is not None:
        return waiting.tool in repeatable
    return waiting.method in SAFE_METHODS or waiting.method.startswith(SAFE_PREFIXES)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _key(message: dict[str, Any]) -> str | None:
    """Return a request id as a key: 1 and "1" are different ids."""
    return json.dumps(message["id"]) if message.get("id") is not None else None


def _lines(connection: socket.socket) -> Any:
    """Yield whole lines until the connection ends; half a line of a dead owner is dropped."""
    rest = bytearray()
    while True:
        try:
            chunk = connection.recv(CHUNK)
        except OSError:
            return
        if not chunk:
            return
        rest += chunk
        if b"\n" in chunk:
            *whole, tail = bytes(rest).split(b"\n")
            rest = bytearray(tail)
            for line in whole:
                yield line + b"\n"


def _quietly(action: Callable[..., Any], *arguments: Any) -> None:
    try:
        action(*arguments)
    except (OSError, ValueError):
        return
