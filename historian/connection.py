"""A connection to a model endpoint that is opened when it is needed first."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openai import OpenAI


class Connection:
    """Opens one client of an endpoint and keeps it. `timeout` bounds a whole answer, in seconds. Thread-safe."""

    def __init__(self, base_url: str, api_key: str, timeout: float) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._lock = threading.Lock()
        self._client: OpenAI | None = None

    def opened(self) -> OpenAI:
        """Return the client. Raises ModelSettingsError where the proxy of the environment cannot be used."""
        with self._lock:
            if self._client is None:
                from historian.http_client import open_client

                self._client = open_client(self._base_url, self._api_key, self._timeout)
            return self._client

    def close(self) -> None:
        """Let go of the client. Asking again opens another one."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()
