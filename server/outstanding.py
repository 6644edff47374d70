"""Tool calls that a client has made and that have no answer yet."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, Protocol

import anyio
from pydantic_core import from_json

from server.envelope import is_message, is_reply, refusals
from server.json_object import object_in

ANSWER_SECONDS = 5.0
"""How long answers may still take once a client has said its last line."""


class LineWriter(Protocol):
    """Where the lines for a client go."""

    async def write(self, text: str) -> None:
        """Send a line."""

    async def flush(self) -> None:
        """Send what is buffered."""


class Outstanding:
    """The lines of a client, and the way back to it, which stays open until its last calls are answered.

    The SDK drops what is under way when the lines end: a host that writes and closes would never hear of its `end`.
    """

    def __init__(self, source: AsyncIterable[str], sink: LineWriter) -> None:
        self._source = source
        self._sink = sink
        self._calls: set[str] = set()
        self._writing = anyio.Lock(fast_acquire=True)
        self._changed = anyio.Event()

    def __aiter__(self) -> AsyncIterator[str]:
        return self._lines()

    async def _lines(self) -> AsyncIterator[str]:
        async for line in self._source:
            if not line.strip():
                continue
            try:
                message = _without_nothing(from_json(line))
            except ValueError:
                await self._refuse(line, is_read=False)
                continue
            if is_message(message):
                self._note(message)
            if is_message(message) or is_reply(message):
                yield line
            else:
                await self._refuse(line, is_read=True)
        with anyio.move_on_after(ANSWER_SECONDS):
            while self._calls:
                self._changed = anyio.Event()
                await self._changed.wait()

    async def write(self, text: str) -> None:
        """Send a line."""
        async with self._writing:
            await self._sink.write(text)
        if self._calls:
            message = object_in(text)
            if "method" not in message:
                self._settle(message.get("id"))

    async def flush(self) -> None:
        """Send what is buffered."""
        async with self._writing:
            await self._sink.flush()

    async def _refuse(self, line: str, *, is_read: bool) -> None:
        """Answer a line that is no message: the SDK says nothing, and who sent it would wait for ever."""
        for answer in refusals(line, is_read=is_read):
            async with self._writing:
                await self._sink.write(json.dumps(answer) + "\n")
                await self._sink.flush()

    def _note(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method == "tools/call" and "id" in message:
            self._calls.add(json.dumps(message["id"]))
        elif self._calls and method == "notifications/cancelled":
            parameters = message.get("params")
            self._settle(parameters.get("requestId") if isinstance(parameters, dict) else None)

    def _settle(self, request_id: Any) -> None:
        self._calls.discard(json.dumps(request_id))
        self._changed.set()


def _without_nothing(message: Any) -> Any:
    """Return a message without parameters that are null, which says that there are none."""
    if isinstance(message, dict) and message.get("params", {}) is None:
        del message["params"]
    return message
