"""Tool calls that a client has made and that have no answer yet."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, Protocol

import anyio

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
        self._changed = anyio.Event()

    def __aiter__(self) -> AsyncIterator[str]:
        return self._lines()

    async def _lines(self) -> AsyncIterator[str]:
        async for line in self._source:
            self._note(line)
            yield line
        with anyio.move_on_after(ANSWER_SECONDS):
            while self._calls:
                self._changed = anyio.Event()
                await self._changed.wait()

    async def write(self, text: str) -> None:
        """Send a line."""
        await self._sink.write(text)
        if self._calls:
            message = _parsed(text)
            if "method" not in message:
                self._settle(message.get("id"))

    async def flush(self) -> None:
        """Send what is buffered."""
        await self._sink.flush()

    def _note(self, line: str) -> None:
        if '"tools/call"' in line:
            message = _parsed(line)
            if message.get("method") == "tools/call" and "id" in message:
                self._calls.add(json.dumps(message["id"]))
        elif self._calls and '"notifications/cancelled"' in line:
            parameters = _parsed(line).get("params")
            self._settle(parameters.get("requestId") if isinstance(parameters, dict) else None)

    def _settle(self, request_id: Any) -> None:
        self._calls.discard(json.dumps(request_id))
        self._changed.set()


def _parsed(line: str) -> dict[str, Any]:
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
