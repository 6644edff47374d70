"""How every endpoint is connected to: whole answers within a bounded time and size, and no detour for what runs here.

Imports httpx2, so import this module where it is used only.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

import httpx2
from typing_extensions import override

from historian.errors import ModelSettingsError

if TYPE_CHECKING:
    from openai import OpenAI

CONNECT_SECONDS = 10.0
LONGEST_ANSWER = 16 * 1024 * 1024
"""Bytes; a thousand vectors of some thousand numbers stay below."""
OPENAI = "https://api.openai.com/v1"


def open_client(base_url: str, api_key: str, timeout: float) -> OpenAI:
    """Return a client of the `openai` package that tries once. `timeout` bounds a whole answer, in seconds.

    An empty `base_url` is OpenAI. Raises ModelSettingsError where the proxy of the environment cannot be used.
    """
    from openai import Omit, OpenAI

    address = base_url or OPENAI
    # the package would send these, from the environment, to whoever it speaks to
    private = {} if address == OPENAI else {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    limits = httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
    connections = httpx2.Client(transport=_transport(address), timeout=limits, follow_redirects=True)
    client = OpenAI(
        base_url=address,
        api_key=api_key or "none",  # local servers ask for no key, the package does
        max_retries=0,
        timeout=limits,
        default_headers=private,  # type: ignore[arg-type]
        http_client=connections,
    )
    weakref.finalize(client, connections.close)
    return client


def _transport(address: str) -> BoundedTransport:
    try:
        return BoundedTransport(proxy=_proxy(httpx2.URL(address)))
    except (ImportError, ValueError, httpx2.InvalidURL):
        raise ModelSettingsError(
            "The proxy that the environment names cannot be used for a model endpoint; set NO_PROXY for its host, "
            "or HTTPS_PROXY to an http:// proxy."
        ) from None


def _proxy(address: httpx2.URL) -> str | None:
    """Return the proxy that the environment names for an address; what runs on this machine needs none."""
    known, host = getproxies(), address.host
    if _is_here(host) or proxy_bypass(f"{host}:{address.port}" if address.port else host):
        return None
    found = known.get(address.scheme) or known.get("all")
    return f"http://{found}" if found and "://" not in found else found


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class BoundedTransport(httpx2.HTTPTransport):
    """Gives an answer up that takes longer than the read time-out as a whole, or is endless.

    The time-out of the library starts anew with every byte, so that a server that drips keeps a caller for ever.
    """

    @override
    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        limits = request.extensions.get("timeout", {})
        begun, seconds = time.monotonic(), limits.get("read")
        response = super().handle_request(request)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        until = None if seconds is None else begun + seconds
        response.stream = _BoundedStream(response.stream, request, until)
        return response


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, request: httpx2.Request, until: float | None) -> None:
        self._stream = stream
        self._request = request
        self._until = until

    @override
    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if self._until is not None and time.monotonic() > self._until:
                raise httpx2.ReadTimeout("the whole answer took too long", request=self._request)
            if size > LONGEST_ANSWER:
                raise httpx2.DecodingError("the answer is too long", request=self._request)
            yield part

    @override
    def close(self) -> None:
        self._stream.close()
