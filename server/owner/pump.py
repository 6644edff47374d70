"""The line pump between a host's stdin and stdout and the owner of the data folder: standard library only.

It passes lines both ways, reading only what it takes to survive the owner: the handshake, to greet a new owner with,
and the calls that wait for an answer, to repeat them there or to say in one sentence that they were cut off.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from historian.errors import ShiguanError, told
from server.json_object import object_in
from server.owner.attach import Attachment

CHUNK = 262_144
INTERNAL_ERROR = -32603
EOF_SECONDS = 4.0
"""How long answers may still come after the host closed stdin, and how long the owner may then take to hang up."""
ENDLESS = "subscriptions/listen"
"""A request whose answer comes when it is cancelled; nobody waits for it."""
SAFE_METHODS = frozenset({"ping", "completion/complete", "logging/setLevel", ENDLESS, "server/discover"})
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
    """The connection to the present owner, and what is in flight.

    `sending` is held while lines are sent and while the connection is replaced. `changed` guards the rest, and is never
    held while anything is sent: answers go on being read while an owner takes no more requests.
    """

    def __init__(self, connection: socket.socket, repeatable: frozenset[str]) -> None:
        self.connection = connection
        self.repeatable = repeatable
        self.sending = threading.Lock()
        self.changed = threading.Condition(threading.Lock())
        self.opening: list[bytes] = []
        self.opening_id: str | None = None
        self.in_flight: dict[str, Waiting] = {}
        self.swallow: set[str] = set()

    def is_answered(self) -> bool:
        """Say whether every request that has an end was answered. With `changed` held."""
        return all(waiting.method == ENDLESS for waiting in self.in_flight.values())


class Pump:
    """Pumps until the host closes stdin. `attach` finds or starts an owner and introduces this client to it."""

    def __init__(
        self,
        attach: Callable[[], Attachment],
        source: BinaryIO,
        sink: BinaryIO,
        eof_seconds: float = EOF_SECONDS,
    ) -> None:
        self._eof_seconds = eof_seconds
        self._attach = attach
        self._source = source
        self._sink = sink
        self._leaving = threading.Event()
        first = attach()
        self._warn(first)
        self._wire = Wire(first.connection, _repeatable(first))

    def run(self) -> None:
        """Pump both ways; return when stdin is closed and the last answers have come, or 2 × `eof_seconds` later."""
        reader = threading.Thread(target=self._read_owner, name="shiguan-pump", daemon=True)
        reader.start()
        for line in self._source:
            if line.strip():
                self._to_owner(line if line.endswith(b"\n") else line + b"\n")
        self._hang_up()
        reader.join(self._eof_seconds)

    def _hang_up(self) -> None:
        wire = self._wire
        with wire.changed:
            wire.changed.wait_for(wire.is_answered, self._eof_seconds)
            self._leaving.set()
            wire.changed.notify_all()
            _quietly(wire.connection.shutdown, socket.SHUT_WR)

    def _to_owner(self, line: bytes) -> None:
        message = object_in(line)
        wire = self._wire
        with wire.sending:
            with wire.changed:
                self._note(message, line)
                wire.changed.notify_all()
            _quietly(wire.connection.sendall, line)  # what fails here is in flight, and repeated to a new owner

    def _note(self, message: dict[str, Any], line: bytes) -> None:
        method, key, wire = message.get("method"), _key(message), self._wire
        if method == "initialize":
            wire.opening, wire.opening_id = [line], key
        elif method == "notifications/initialized":
            wire.opening.append(line)
        elif method == "notifications/cancelled":
            wire.in_flight.pop(json.dumps(_parameter(message, "requestId")), None)
        if isinstance(method, str) and key is not None:
            tool = str(_parameter(message, "name")) if method == "tools/call" else None
            wire.in_flight[key] = Waiting(line, message["id"], method, tool)

    def _read_owner(self) -> None:
        while True:
            for line in _lines(self._wire.connection):
                self._from_owner(line)
            attachment = self._next_owner()
            if attachment is None:
                return
            self._warn(attachment)
            self._resume(attachment)

    def _next_owner(self) -> Attachment | None:
        """Return the next owner, or None once this client leaves.

        Where none can be had, what waits is told so, and another attempt is made when the host next wants something.
        """
        wire = self._wire
        while not self._leaving.is_set():
            try:
                return self._attach()
            except ShiguanError as error:
                sys.stderr.write(f"shiguan: {told(error)}\n")
                self._refuse(self._all_waiting(), str(error))
            with wire.changed:
                wire.changed.wait_for(lambda: wire.in_flight or self._leaving.is_set())
        return None

    def _all_waiting(self) -> list[Waiting]:
        with self._wire.changed:
            waiting = [*self._wire.in_flight.values()]
            self._wire.in_flight.clear()
            self._wire.changed.notify_all()
        return waiting

    def _from_owner(self, line: bytes) -> None:
        message = object_in(line)
        if "method" not in message:
            key, wire = _key(message), self._wire
            with wire.changed:
                if key in wire.swallow:
                    wire.swallow.discard(key)
                    return
                wire.in_flight.pop(key or "", None)
                wire.changed.notify_all()
        self._write(line)

    def _resume(self, attachment: Attachment) -> None:
        """Greet a new owner as the host greeted the old one, and take up the calls that were cut off."""
        wire = self._wire
        with wire.sending:
            with wire.changed:
                _quietly(wire.connection.close)
                wire.connection, wire.repeatable = attachment.connection, _repeatable(attachment)
                lines, cut_off = self._cut_off()
                if self._leaving.is_set():
                    _quietly(wire.connection.shutdown, socket.SHUT_RDWR)
            _quietly(wire.connection.sendall, b"".join(lines))
        self._refuse(cut_off, CUT_OFF)

    def _cut_off(self) -> tuple[list[bytes], list[Waiting]]:
        """Return the lines that a new owner needs, and the calls that may not be repeated."""
        wire = self._wire
        if wire.opening_id is not None and wire.opening_id not in wire.in_flight:
            wire.swallow.add(wire.opening_id)
        others = [(key, waiting) for key, waiting in wire.in_flight.items() if key != wire.opening_id]
        unsafe = {key: waiting for key, waiting in others if not _is_safe(waiting, wire.repeatable)}
        for key in unsafe:
            del wire.in_flight[key]
        lines = [*wire.opening, *(waiting.line for key, waiting in others if key not in unsafe)]
        wire.changed.notify_all()
        return lines, [*unsafe.values()]

    def _refuse(self, calls: list[Waiting], sentence: str) -> None:
        error = {"code": INTERNAL_ERROR, "message": sentence}
        for call in calls:
            self._write(json.dumps({"jsonrpc": "2.0", "id": call.request_id, "error": error}).encode("ascii") + b"\n")

    def _write(self, line: bytes) -> None:
        _quietly(self._sink.write, line)  # a host that is gone closes stdin too
        _quietly(self._sink.flush)

    def _warn(self, attachment: Attachment) -> None:
        for warning in attachment.welcome.get("warnings", ()):
            sys.stderr.write(f"shiguan: {warning}\n")


def _repeatable(attachment: Attachment) -> frozenset[str]:
    return frozenset(str(name) for name in attachment.welcome.get("repeatable", ()))


def _is_safe(waiting: Waiting, repeatable: frozenset[str]) -> bool:
    if waiting.tool is not None:
        return waiting.tool in repeatable
    return waiting.method in SAFE_METHODS or waiting.method.startswith(SAFE_PREFIXES)


def _parameter(message: dict[str, Any], name: str) -> Any:
    parameters = message.get("params")
    return parameters.get(name) if isinstance(parameters, dict) else None


def _key(message: dict[str, Any]) -> str | None:
    """Return a request id as a key: 1 and "1" are different ids."""
    return json.dumps(message["id"]) if message.get("id") is not None else None


def _lines(connection: socket.socket) -> Iterator[bytes]:
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
