"""How many sessions of the protocol of 2025 one token may have open: each holds memory until it is ended or idle."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.answer import Answer
from server.http.door import identity_of
from server.http.metrics import Metrics
from server.http.refusals import refusal

TOO_MANY_SESSIONS = (
    "Too many sessions are open with this token; end those that are no longer needed with DELETE, "
    "or wait until idle ones have ended."
)
RETRY_SECONDS = 30
MANY = 20_000
"""Sessions that are remembered at most before those of tokens that did not come back are forgotten."""


@dataclass(slots=True)
class _Use:
    """How many requests of a session are being served, and when the last one ended."""

    requests: int
    last: float


class Sessions:
    """The sessions that each token has open: begun, and neither ended nor idle for `idle_seconds`. `most` 0: no limit.

    It is told what goes in and out, and so needs nothing of the SDK's own book. For the event loop's thread.
    """

    def __init__(self, most: int, idle_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._idle = idle_seconds
        self._clock = clock
        self._open: defaultdict[str, dict[str, _Use]] = defaultdict(dict)
        self._opening: Counter[str] = Counter()

    def count(self, key: str) -> int:
        """Return how many sessions are open with a token, those included that are being opened."""
        self._forget_idle(key)
        return len(self._open.get(key, {})) + self._opening[key]

    @contextmanager
    def opening(self, key: str) -> Generator[bool]:
        """Keep room for one more session during the block; it is told whether there is any."""
        has_room = not self._most or len(self._open.get(key, {})) + self._opening[key] < self._most
        has_room = has_room or self.count(key) < self._most
        self._opening[key] += has_room
        try:
            yield has_room
        finally:
            self._opening[key] -= has_room
            if not self._opening[key]:
                del self._opening[key]

    def opened(self, key: str, session: str) -> None:
        """Note that a session was opened."""
        if sum(map(len, self._open.values())) >= MANY:
            for known in [*self._open]:
                self._forget_idle(known)
        self._open[key][session] = _Use(0, self._clock())

    @contextmanager
    def using(self, key: str, session: str) -> Generator[None]:
        """Note that a request of a session is served during the block."""
        use = self._open.get(key, {}).get(session)
        if use is None:
            yield
            return
        use.requests += 1
        try:
            yield
        finally:
            use.requests -= 1
            use.last = self._clock()

    def ended(self, key: str, session: str) -> None:
        """Note that a session is over."""
        self._open.get(key, {}).pop(session, None)
        if not self._open.get(key):
            self._open.pop(key, None)

    def _forget_idle(self, key: str) -> None:
        latest = self._clock() - self._idle
        for session, use in [*self._open.get(key, {}).items()]:
            if not use.requests and use.last < latest:
                self.ended(key, session)


class SessionCheck:
    """Answers 429 to a request that would open one session too many."""

    def __init__(self, app: ASGIApp, sessions: Sessions, metrics: Metrics) -> None:
        self._app = app
        self._sessions = sessions
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:  # knows no sessions
            await self._app(scope, receive, send)
            return
        key, session = identity_of(scope).key, headers.get(MCP_SESSION_ID_HEADER)
        if session is None:
            await self._open(key, scope, receive, send)
        else:
            await self._use(key, session, scope, receive, send)

    async def _open(self, key: str, scope: Scope, receive: Receive, send: Send) -> None:
        def begun(status: int, headers: Headers) -> None:
            session = headers.get(MCP_SESSION_ID_HEADER)
            if status < 400 and session is not None:
                self._sessions.opened(key, session)

        with self._sessions.opening(key) as has_room:
            if has_room:
                await self._app(scope, receive, Answer(send, begun).send)
                return
        self._metrics.refused("sessions")
        wait = {"Retry-After": str(RETRY_SECONDS)}
        await refusal(429, "too_many_sessions", TOO_MANY_SESSIONS, wait)(scope, receive, send)

    async def _use(self, key: str, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        is_last = scope["method"] == "DELETE"

        def begun(status: int, headers: Headers) -> None:
            if status == 404 or (is_last and status < 400):
                self._sessions.ended(key, session)

        with self._sessions.using(key, session):
            await self._app(scope, receive, Answer(send, begun).send)
