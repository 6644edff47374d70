"""A connection to a model endpoint that is opened when it is needed first."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

    from historian.http_client import Poster


@dataclass(slots=True)
class _Line:
    """A client that is open, and how many calls are under way over it. `is_left` says that it is to be closed."""

    client: OpenAI
    connections: httpx2.Client
    posters: dict[str, Poster]
    calls: int = 0
    is_left: bool = False

    def close(self) -> None:
        for poster in self.posters.values():
            poster.close()
        self.client.close()


class Connection:
    """Opens one client of an endpoint and keeps it. `timeout` bounds a whole answer, in seconds. Thread-safe."""

    def __init__(self, base_url: str, api_key: str, timeout: float) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._lock = threading.Lock()
        self._line: _Line | None = None

    @contextmanager
    def lent(self) -> Generator[OpenAI]:
        """Lend the client for a call. Raises ModelSettingsError where the proxy of the environment cannot be used."""
        with self._lock:
            line = self._opened()
            line.calls += 1
        try:
            yield line.client
        finally:
            self._give_back(line)

    def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Post JSON and return the body of the answer. Raises as `lent`, and OpenAIError as `Poster.post`."""
        with self._lock:
            line = self._opened()
            poster = line.posters.get(path) or self._poster(line, path)
            line.calls += 1
        try:
            return poster.post(body)
        finally:
            self._give_back(line)

    def _give_back(self, line: _Line) -> None:
        with self._lock:
            line.calls -= 1
            is_last = line.is_left and not line.calls
        if is_last:
            line.close()

    def close(self) -> None:
        """Let go of the client. Asking again opens another one.

        While a call is under way its socket stays, and goes with the last one: the pool of the library forgets a
        connection that is still being made when it is closed, and whoever asked would leave it open.
        """
        with self._lock:
            line, self._line = self._line, None
            if line is not None:
                line.is_left = True
            is_idle = line is not None and not line.calls
        if line is not None and is_idle:
            line.close()

    def _opened(self) -> _Line:
        if self._line is None:
            from historian.http_client import open_client, open_connections

            connections = open_connections(self._base_url, self._timeout)
            client = open_client(self._base_url, self._api_key, self._timeout, connections)
            self._line = _Line(client, connections, {})
        return self._line

    def _poster(self, line: _Line, path: str) -> Poster:
        from historian.http_client import Poster

        line.posters[path] = made = Poster(line.client, line.connections, path)
        return made
