"""Every line that a client waits for is answered, also one that is no message."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio.lowlevel
import pytest
from mcp_types import INVALID_REQUEST, PARSE_ERROR

from server.outstanding import Outstanding

pytestmark = pytest.mark.anyio


class Host:
    """What a client sends, and what it gets."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self.got: list[dict[str, Any]] = []

    async def __aiter__(self) -> AsyncIterator[str]:
        for line in self._lines:
            await anyio.lowlevel.checkpoint()
            yield line

    async def write(self, text: str) -> None:
        await anyio.lowlevel.checkpoint()
        assert text.endswith("\n")
        self.got.append(json.loads(text))

    async def flush(self) -> None:
        await anyio.lowlevel.checkpoint()


async def heard(*lines: str) -> tuple[list[str], list[tuple[Any, int]]]:
    """Return what went on to the server, and the ids and codes that were answered at once."""
    host = Host([f"{line}\n" for line in lines])
    passed = [line async for line in Outstanding(host, host)]
    assert all(one["jsonrpc"] == "2.0" and "\n" not in one["error"]["message"] for one in host.got)
    return passed, [(one["id"], one["error"]["code"]) for one in host.got]


def call(number: str, arguments: str = "{}", *, last: bool = False) -> str:
    rest = f'"method": "ping", "params": {arguments}'
    return f'{{"jsonrpc": "2.0", {rest}, "id": {number}}}' if last else f'{{"jsonrpc": "2.0", "id": {number}, {rest}}}'


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("levels", [300, 20_000])
async def test_a_call_that_is_nested_too_deep_is_answered_under_its_id(levels: int, last: bool) -> None:
    deep = '{"id": [' + "[" * levels + "]" * levels + "]}"
    assert await heard(call('"七"', deep, last=last)) == ([], [("七", INVALID_REQUEST)])


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        (call("7", '{"top_k": %s}' % ("9" * 5_000), last=True), [(7, INVALID_REQUEST)]),
        (call("1.5"), [(1.5, INVALID_REQUEST)]),
        (call("1e400"), [(None, INVALID_REQUEST)]),
        (call("null"), [(None, INVALID_REQUEST)]),
        (call('{"a": 1}'), [(None, INVALID_REQUEST)]),
        (call("8", "[]"), [(8, INVALID_REQUEST)]),
        (f"[{call('7')}, {call('8')}]", [(7, INVALID_REQUEST), (8, INVALID_REQUEST)]),
        ("[]", [(None, INVALID_REQUEST)]),
        ("{}", [(None, INVALID_REQUEST)]),
        ('"text"', [(None, INVALID_REQUEST)]),
        ('{"jsonrpc": "2.0", "id": 7, "method"', [(None, PARSE_ERROR)]),
        ("\ufffd", [(None, PARSE_ERROR)]),
    ],
)
async def test_what_is_no_message_is_answered(line: str, answers: list[tuple[Any, int]]) -> None:
    assert await heard(line) == ([], answers)


async def test_messages_go_on_and_replies_and_blank_lines_are_never_answered() -> None:
    lines = [call("7"), call("8", "null"), '{"jsonrpc": "2.0", "method": "notifications/initialized"}']
    replies = ['{"jsonrpc": "2.0", "id": 1, "result": {}}', '{"jsonrpc": "2.0", "id": null, "error": {}}']
    assert await heard("", "  ", *lines, *replies) == ([f"{line}\n" for line in [*lines, *replies]], [])
