"""Fetching the keys that an issuer publishes: a whole answer, within a bounded time and size."""

from __future__ import annotations

from typing import Any

import httpx2
from jwt import PyJWKClient, PyJWKClientConnectionError
from pydantic_core import from_json
from typing_extensions import override

from historian.http_client import open_connections


class KeyClient(PyJWKClient):
    """Fetches as the library does, whose own way bounds only each read of an answer.

    One that comes a byte at a time would hold up everybody whose token has to be checked.
    """

    @override
    def fetch_data(self) -> Any:
        """Return the JSON of the address. Redirects are not followed. Raises PyJWKClientConnectionError."""
        try:
            with open_connections(self.uri, self.timeout) as connections:
                answer = connections.get(self.uri, headers=self.headers, follow_redirects=False)
            if not answer.is_success:
                raise PyJWKClientConnectionError(f"HTTP status {answer.status_code}")
            return from_json(answer.content)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as error:
            raise PyJWKClientConnectionError(str(error)) from error
