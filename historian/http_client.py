"""How every endpoint is connected to: whole answers within a bounded time and size, and no detour for what runs here.

Imports httpx2, so import this module where it is used only.
"""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies, proxy_bypass

import httpx2
from typing_extensions import override

from historian.direct_http import DirectConnections
from historian.errors import ModelSettingsError

if TYPE_CHECKING:
    from openai import OpenAI

CONNECT_SECONDS = 10.0
LONGEST_ANSWER = 16 * 1024 * 1024
"""Bytes; a thousand vectors of some thousand numbers stay below."""
HTTP_OK, HTTP_MOVED, HTTP_REFUSED = 200, 300, 400
OPENAI = "https://api.openai.com/v1"


def open_connections(base_url: str, timeout: float) -> httpx2.Client:
    """Return connections to an endpoint. `timeout` bounds a whole answer, in seconds; an empty `base_url` is OpenAI.

    Raises:
        ModelSettingsError: the proxy of the environment cannot be used.
    """
    limits = httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
    return httpx2.Client(transport=_transport(base_url or OPENAI), timeout=limits, follow_redirects=True)


def open_client(base_url: str, api_key: str, timeout: float, connections: httpx2.Client) -> OpenAI:
    """Return a client of the `openai` package that tries once, over these connections."""
    from openai import Omit, OpenAI

    address = base_url or OPENAI
    # the package would send these, from the environment, to whoever it speaks to
    private = {} if address == OPENAI else {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    client = OpenAI(
        base_url=address,
        api_key=api_key or "none",  # local servers ask for no key, the package does
        max_retries=0,
        timeout=connections.timeout,
        default_headers=private,  # type: ignore[arg-type]
        http_client=connections,
    )
    weakref.finalize(client, connections.close)
    return client


class Poster:
    """Posts JSON to one path of an endpoint, as a client of the `openai` package does, with half of its work.

    For the calls of every job: the package spends more on each than the memory does on a search.
    """

    def __init__(self, client: OpenAI, connections: httpx2.Client, path: str) -> None:
        self._connections = connections
        self._url = httpx2.URL(f"{str(client.base_url).rstrip('/')}{path}")
        given = {name: value for name, value in client.default_headers.items() if isinstance(value, str)}
        given["Authorization"] = f"Bearer {client.api_key}"
        self._headers = httpx2.Headers({**connections.headers, **given})
        self._direct: DirectConnections | None = None
        if _proxy(self._url) is None and not self._url.userinfo:
            timeout = connections.timeout.read or CONNECT_SECONDS
            self._direct = DirectConnections(self._url, timeout, min(timeout, CONNECT_SECONDS), LONGEST_ANSWER)
            self._head = _head(self._url, self._headers)
            weakref.finalize(self, self._direct.close)

    def post(self, body: Mapping[str, Any]) -> bytes:
        """Send a request and return the body of the answer.

        Raises:
            openai.APIStatusError: it is an error; the code is that of the endpoint.
            openai.APITimeoutError, openai.APIConnectionError: there is no answer, or not all of it.
        """
        import openai

        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            answer = self._answer(content)
        except httpx2.TimeoutException as error:
            raise openai.APITimeoutError(request=self._request(content)) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            raise openai.APIConnectionError(request=self._request(content)) from error
        if isinstance(answer, bytes):
            return answer
        if answer.is_success:
            return answer.content
        raise _status_error(answer)

    def close(self) -> None:
        """Let go of the connections that nobody speaks over."""
        if self._direct is not None:
            self._direct.close()

    def _answer(self, content: bytes) -> bytes | httpx2.Response:
        """Return the body of a plain answer, or one that there is more to say of."""
        if self._direct is not None:
            found = self._direct.send(b"%scontent-length: %d\r\n\r\n%s" % (self._head, len(content), content))
            if found.status == HTTP_OK and not any(name.lower() == "content-encoding" for name, _ in found.headers):
                return found.body
            if not HTTP_MOVED <= found.status < HTTP_REFUSED:
                return found.response(self._request(content))
        return self._connections.send(self._request(content))  # through a proxy, or to where it has moved

    def _request(self, content: bytes) -> httpx2.Request:
        return httpx2.Request("POST", self._url, headers=self._headers, content=content)


def _head(url: httpx2.URL, headers: httpx2.Headers) -> bytes:
    """Return the head of a request, save for its length and its end."""
    made = httpx2.Request("POST", url, headers={**headers, "accept-encoding": "identity"}).headers
    lines = [
        b"%s: %s\r\n" % pair for pair in made.raw if pair[0].lower() not in (b"content-length", b"transfer-encoding")
    ]
    return b"POST %s HTTP/1.1\r\n%s" % (url.raw_path, b"".join(lines))


def _status_error(answer: httpx2.Response) -> Exception:
    import openai

    try:
        said: Any = answer.json()
    except ValueError:
        said = None
    error: Any = said.get("error", said) if isinstance(said, dict) else said
    return openai.APIStatusError(f"{answer.status_code} {said or answer.text}"[:2000], response=answer, body=error)


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
