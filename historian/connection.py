"""A connection to a model endpoint that is opened when it is needed first."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

    from historian.http_client import Poster


class Connection:
    """Opens one client of an endpoint and keeps it. `timeout` bounds a whole answer, in seconds. Thread-safe."""

    def __init__(self, base_url: str, api_key: str, timeout: float) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._lock = threading.Lock()
        self._client: OpenAI | None = None
        self._connections: httpx2.Client | None = None
        self._posters: dict[str, Poster] = {}

    def opened(self) -> OpenAI:
        """Return the client. Raises ModelSettingsError where the proxy of the environment cannot be used."""
        with self._lock:
            return self._opened()

    def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Post JSON and return the body of the answer. Raises as `opened`, and OpenAIError as `Poster.post`."""
        with self._lock:
            client = self._opened()
            poster = self._posters.get(path) or self._poster(client, path)
        return poster.post(body)

    def close(self) -> None:
        """Let go of the client. Asking again opens another one."""
        with self._lock:
            client, self._client = self._client, None
            self._posters.clear()
        if client is not None:
            client.close()

    def _opened(self) -> OpenAI:
        if self._client is None:
            from historian.http_client import open_client, open_connections

            connections = open_connections(self._base_url, self._timeout)
            self._client = open_client(self._base_url, self._api_key, self._timeout, connections)
            self._connections = connections
        return self._client

    def _poster(self, client: OpenAI, path: str) -> Poster:
        from historian.http_client import Poster

        assert self._connections is not None
        self._posters[path] = made = Poster(client, self._connections, path)
        return made
