"""The outermost layer: what is answered is counted and timed, and what is still open at the end is ended in order."""

from __future__ import annotations

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.answer import Answer
from server.http.metrics import Metrics
from server.http.refusals import refusal

STOPPING = "The server is stopping; try again shortly."
ENDLESS = "subscriptions/listen"


class Attended:
    """Serves requests until it hangs up: first on streams, which nobody waits for, then on everything."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._streams: set[anyio.CancelScope] = set()
        self._calls: set[anyio.CancelScope] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # blanks around a value are no part of it (RFC 9110 §5.5), but the parser leaves those behind it
        scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}
        answer = Answer(send, lambda status, _: self._metrics.answered(status))
        among = self._streams if _is_stream(scope) else self._calls
        with self._metrics.timed(), anyio.CancelScope() as cancelling:
            among.add(cancelling)
            try:
                await self._app(scope, receive, answer.send)
            finally:
                among.discard(cancelling)
        if cancelling.cancelled_caught:
            instead = refusal(503, "stopping", STOPPING, {"Retry-After": "5"})
            await answer.finish(instead, scope, receive)

    def hang_up_streams(self) -> None:
        """End what would go on for ever."""
        for scope in [*self._streams]:
            scope.cancel()

    def hang_up(self) -> None:
        """End everything."""
        self.hang_up_streams()
        for scope in [*self._calls]:
            scope.cancel()


def _is_stream(scope: Scope) -> bool:
    return scope["method"] == "GET" or Headers(scope=scope).get("mcp-method") == ENDLESS
