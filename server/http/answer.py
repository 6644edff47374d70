"""The way back to a client, which knows how far an answer has come, so that it can be ended in order at any time."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send


def _ignored(status: int, headers: Headers) -> None:
    """Do nothing with the beginning of an answer."""


class Answer:
    """Passes on one answer. `begun` is told its status and its headers."""

    def __init__(self, send: Send, begun: Callable[[int, Headers], None] = _ignored) -> None:
        self._send = send
        self._begun = begun
        self._is_begun = False
        self._is_whole = False

    async def send(self, message: Message) -> None:
        """Pass on one message."""
        if message["type"] == "http.response.start":
            self._is_begun = True
            self._begun(message["status"], Headers(raw=message.get("headers", [])))
        elif message["type"] == "http.response.body":
            self._is_whole = not message.get("more_body", False)
        await self._send(message)

    async def finish(self, instead: Response, scope: Scope, receive: Receive) -> None:
        """End the answer in order, wherever it is; `instead` is the answer where none was begun."""
        if not self._is_begun:
            await instead(scope, receive, self.send)
        elif not self._is_whole:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})
