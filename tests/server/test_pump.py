"""The line pump, over real sockets and pipes but without processes: each request gets exactly one answer."""

from __future__ import annotations

import json
import os
import queue
import socket
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from historian.errors import ShiguanError, StoreError
from server.owner.attach import Attachment
from server.owner.pump import CUT_OFF, Pump
from server.toolsets import REPEATABLE, TOOLSETS, published

CEILING = 20.0
OPENING = {"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
OPENED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Owner:
    """The far end of one attachment: reads what the pump passes on, answers when it is told to, and dies."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")
        connection.settimeout(CEILING)

    def read(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._lines.readline())
        return message

    def send(self, message: dict[str, Any]) -> None:
        self._connection.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def send_raw(self, data: bytes) -> None:
        self._connection.sendall(data)

    def answer(self, request: dict[str, Any]) -> None:
        self.send({"id": request["id"], "result": {"to": request["method"]}})

    def hears_nothing_more(self) -> bool:
        return self._lines.readline() == b""

    def die(self) -> None:
        self._lines.close()
        self._connection.close()


class Bench:
    """A pump that runs in a thread, the host's ends of its pipes, and the owners it attaches to one after another."""

    def __init__(
        self, source: BinaryIO, to_pump: BinaryIO, from_pump: BinaryIO, sink: BinaryIO, eof_seconds: float
    ) -> None:
        self.owners: queue.Queue[Owner] = queue.Queue()
        self.refusals: queue.Queue[ShiguanError] = queue.Queue()
        self.repeatable: list[str] = ["end"]
        self._is_over = False
        self._attaching = threading.Lock()
        self._to_pump = to_pump
        self._from_pump = from_pump
        self.pump = Pump(self._attach, source, sink, eof_seconds)
        self.thread = threading.Thread(target=self.pump.run, daemon=True)
        self.thread.start()

    def _attach(self) -> Attachment:
        with self._attaching:
            if self._is_over:
                raise StoreError("The test is over.")
            if not self.refusals.empty():
                raise self.refusals.get()
            ours, theirs = socket.socketpair()
            self.owners.put(Owner(theirs))
            return Attachment(ours, {"ok": True, "repeatable": self.repeatable})

    def owner(self) -> Owner:
        return self.owners.get(timeout=CEILING)

    def send(self, *messages: dict[str, Any]) -> None:
        self.send_raw(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def send_raw(self, data: bytes) -> None:
        self._to_pump.write(data)
        self._to_pump.flush()

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._from_pump.readline())
        return message

    def rest(self) -> list[dict[str, Any]]:
        """Close stdin, wait until the pump ended, and return what it still said."""
        self.close()
        self.thread.join(CEILING)
        assert not self.thread.is_alive()
        self.pump._sink.close()
        return [json.loads(line) for line in self._from_pump]

    def close(self) -> None:
        self._to_pump.close()

    def let_die(self) -> None:
        """End every owner; from now on there is no other one, also when the pump is just about to look for one."""
        with self._attaching:
            self._is_over = True
        while not self.owners.empty():
            self.owners.get().die()


@contextmanager
def bench(eof_seconds: float = 0.1) -> Generator[Bench]:
    ends = [*os.pipe(), *os.pipe()]
    source, to_pump, from_pump, sink = (
        os.fdopen(end, mode) for end, mode in zip(ends, ("rb", "wb", "rb", "wb"), strict=True)
    )
    made = Bench(source, to_pump, from_pump, sink, eof_seconds)
    try:
        yield made
    finally:
        made.close()
        made.let_die()
        for thread in threading.enumerate():
            if thread.name == "shiguan-pump":
                thread.join(CEILING)
        made.thread.join(CEILING)
        made.pump._wire.connection.close()
        for pipe in (source, from_pump, sink):
            pipe.close()


def call(number: int | str, tool: str = "end") -> dict[str, Any]:
    params = {"name": tool, "arguments": {"memo": "备忘"}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def opened(made: Bench) -> Owner:
    """Open a connection as a host does and return the owner that answered."""
    owner = made.owner()
    made.send(OPENING)
    owner.answer(owner.read())
    assert made.receive()["id"] == "open"
    made.send(OPENED)
    assert owner.read() == OPENED
    return owner


def test_lines_pass_both_ways_as_they_are() -> None:
    with bench() as made:
        owner = opened(made)
        made.send_raw('{"id":1, "jsonrpc":"2.0","method":"ping","x":"é中"}\n'.encode())
        assert owner.read() == {"id": 1, "jsonrpc": "2.0", "method": "ping", "x": "é中"}
        owner.send({"method": "notifications/progress", "params": {"progress": 1}})
        assert made.receive()["method"] == "notifications/progress"
        owner.answer({"id": 1, "method": "ping"})
        assert made.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"to": "ping"}}
        owner.die()


def test_the_handshake_is_repeated_to_a_new_owner_and_its_second_answer_swallowed() -> None:
    with bench() as made:
        opened(made).die()
        second = made.owner()
        assert [second.read(), second.read()] == [OPENING, OPENED]
        second.answer(OPENING)
        made.send(call(1))
        second.answer(second.read())
        assert made.receive()["id"] == 1
        second.die()


def test_a_handshake_that_no_owner_answered_yet_is_answered_by_the_next() -> None:
    with bench() as made:
        first = made.owner()
        made.send(OPENING)
        assert first.read() == OPENING
        first.die()
        second = made.owner()
        assert second.read() == OPENING
        second.answer(OPENING)
        assert made.receive()["id"] == "open"
        second.die()


def test_a_safe_call_in_flight_is_repeated_without_the_host_noticing() -> None:
    with bench() as made:
        first = opened(made)
        made.send(call(1), call("1"))
        assert [first.read()["id"], first.read()["id"]] == [1, "1"]
        first.answer(call(1))
        assert made.receive()["id"] == 1
        first.die()
        second = made.owner()
        assert [second.read(), second.read(), second.read()] == [OPENING, OPENED, call("1")]
        second.answer(OPENING)
        second.answer(call("1"))
        assert made.receive() == {"jsonrpc": "2.0", "id": "1", "result": {"to": "tools/call"}}
        second.die()


def test_an_unsafe_call_in_flight_gets_one_clear_error() -> None:
    with bench(CEILING) as made:
        made.repeatable = ["end"]
        first = opened(made)
        made.send(call(1, "forget"), call(2))
        assert [first.read()["id"], first.read()["id"]] == [1, 2]
        first.die()
        second = made.owner()
        assert [second.read(), second.read(), second.read()] == [OPENING, OPENED, call(2)]
        refused = made.receive()
        assert refused["id"] == 1
        assert refused["error"]["message"] == CUT_OFF
        second.answer(OPENING)
        second.answer(call(2))
        assert made.receive()["id"] == 2
        made.close()
        assert second.hears_nothing_more()
        second.die()
        assert made.rest() == []


def test_a_cancelled_call_is_not_repeated() -> None:
    with bench() as made:
        first = opened(made)
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        made.send(call(1), call(2), cancelled)
        assert [first.read(), first.read(), first.read()] == [call(1), call(2), cancelled]
        first.die()
        second = made.owner()
        assert [second.read(), second.read(), second.read()] == [OPENING, OPENED, call(2)]
        second.die()


def test_half_a_line_of_a_dying_owner_is_dropped() -> None:
    with bench() as made:
        first = opened(made)
        made.send(call(1))
        first.read()
        first.send_raw(b'{"jsonrpc": "2.0", "id": 1, "result": {"cut')
        first.die()
        second = made.owner()
        assert [second.read() for _ in range(3)][-1] == call(1)
        second.answer(call(1))
        assert made.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"to": "tools/call"}}
        second.die()


def test_where_no_owner_can_be_had_calls_are_told_so_and_the_next_call_tries_again() -> None:
    with bench() as made:
        first = opened(made)
        made.send(call(1))
        first.read()
        made.refusals.put(StoreError("The disk is full."))
        first.die()
        refused = made.receive()
        assert refused["id"] == 1
        assert refused["error"]["message"] == "The disk is full."
        made.send(call(2))
        second = made.owner()
        assert [second.read(), second.read(), second.read()] == [OPENING, OPENED, call(2)]
        second.answer(OPENING)
        second.answer(call(2))
        assert made.receive()["id"] == 2
        second.die()


def test_stdin_may_close_while_no_owner_can_be_had() -> None:
    with bench() as made:
        first = opened(made)
        made.refusals.put(StoreError("The disk is full."))
        first.die()
        assert made.rest() == []


def test_answers_that_are_due_come_before_the_pump_ends() -> None:
    with bench(CEILING) as made:
        owner = opened(made)
        made.send(call(1))
        made.close()
        owner.answer(owner.read())
        assert made.receive()["id"] == 1
        assert owner.hears_nothing_more()
        owner.die()
        made.thread.join(CEILING)
        assert not made.thread.is_alive()


def test_a_last_line_without_its_newline_is_still_sent() -> None:
    with bench(CEILING) as made:
        owner = opened(made)
        made.send_raw(json.dumps(call(1)).encode())
        made.close()
        assert owner.read() == call(1)
        owner.answer(call(1))
        assert made.receive()["id"] == 1
        owner.die()


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[]",
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}',
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["end"]}}',
        b'{"jsonrpc":"2.0","id":{"a":1},"method":3}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}',
        b"[" * 100_000,
        "\ud800".encode("utf-8", "surrogatepass"),
    ],
)
def test_lines_that_make_no_sense_pass_and_harm_nothing(line: bytes) -> None:
    with bench() as made:
        first = opened(made)
        made.send_raw(line + b"\n")
        assert first._lines.readline() == line + b"\n"
        first.die()
        second = made.owner()
        made.send(call(8))
        while (heard := second.read()) != call(8):
            assert heard != {}
        second.die()


def test_a_host_that_does_not_read_stops_nothing_but_itself() -> None:
    """Requests go on being sent while answers wait for the host, and all come in the end."""
    with bench() as made:
        owner = opened(made)
        count, heavy = 300, "x" * 5_000

        def serve() -> None:
            for _ in range(count):
                owner.send({"id": owner.read()["id"], "result": {"heavy": heavy}})

        serving = threading.Thread(target=serve)
        serving.start()
        made.send(*(call(number) for number in range(count)))
        assert [made.receive()["id"] for _ in range(count)] == [*range(count)]
        serving.join(CEILING)
        owner.die()


Step = tuple[str, int]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(["safe", "unsafe", "read", "ping"]), st.just(0)),
            st.tuples(st.just("answer"), st.integers(0, 5)),
            st.tuples(st.just("die"), st.booleans().map(int)),
        ),
        max_size=30,
    )
)
def test_each_request_gets_exactly_one_answer_however_owners_die(steps: Iterable[Step]) -> None:
    with bench(CEILING) as made:
        owner = opened(made)
        waiting: list[dict[str, Any]] = []
        sent = 0
        for kind, detail in steps:
            if kind == "answer":
                if waiting:
                    owner.answer(waiting.pop(detail % len(waiting)))
            elif kind == "die":
                if detail:
                    owner.send_raw(b'{"jsonrpc":"2.0","id":0,"resu')
                owner.die()
                owner = made.owner()
                assert [owner.read(), owner.read()] == [OPENING, OPENED]
                owner.answer(OPENING)
                waiting = [owner.read() for request in waiting if _is_safe(request)]
            else:
                made.send(_request(kind, sent))
                waiting.append(owner.read())
                sent += 1
        for request in waiting:
            owner.answer(request)
        made.close()
        assert owner.hears_nothing_more()
        owner.die()
        answers = made.rest()
        assert sorted(message["id"] for message in answers) == [*range(sent)]
        assert all("result" in message or message["error"]["message"] == CUT_OFF for message in answers)


def _request(kind: str, number: int) -> dict[str, Any]:
    match kind:
        case "ping":
            return {"jsonrpc": "2.0", "id": number, "method": "ping"}
        case "read":
            return {"jsonrpc": "2.0", "id": number, "method": "resources/read", "params": {"uri": "a:b"}}
        case _:
            return call(number, "end" if kind == "safe" else "forget")


def _is_safe(request: dict[str, Any]) -> bool:
    return request["method"] != "tools/call" or request["params"]["name"] == "end"


def test_what_may_be_repeated_is_what_annotations_say_reads_only_or_has_no_second_effect() -> None:
    """A forgetting is not: a second one could not tell what the first one did."""
    hints = {tool.name: tool.annotations for tool in published([*TOOLSETS])}
    assert [*REPEATABLE] == sorted(name for name, hint in hints.items() if hint.read_only_hint or hint.idempotent_hint)
    assert "forget" not in REPEATABLE
    assert "memory_delete" in REPEATABLE
