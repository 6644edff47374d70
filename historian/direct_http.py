"""Connections to an endpoint that is reached without a proxy, for many small calls: the plainest way there is.

What every call needs of HTTP is one POST and one bounded answer; a whole client spends several times as much on it.
"""

from __future__ import annotations

import http.client
import select
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:
    import ssl

_IDLE_SECONDS = 5.0
"""How long a connection is kept that nobody uses, as the library does; servers close theirs some time later."""
_IDLE_MOST = 20
_PART = 1 << 16


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, whole."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def response(self, request: httpx2.Request) -> httpx2.Response:
        """Return it as the library would."""
        return httpx2.Response(self.status, headers=self.headers, content=self.body, request=request)


class DirectConnections:
    """Connections to one host, kept for the next call. Thread-safe.

    `timeout` bounds a whole answer and `connecting` how long it may take to get through, in seconds; `most` is how
    many bytes an answer may have.
    """

    def __init__(self, url: httpx2.URL, timeout: float, connecting: float, most: int) -> None:
        self._host = url.raw_host.decode("ascii")
        self._secure = url.scheme == "https"
        self._port = url.port or (443 if self._secure else 80)
        self._timeout = timeout
        self._connecting = connecting
        self._most = most
        self._lock = threading.Lock()
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []
        self._trust: ssl.SSLContext | None = None
        self._closed = False

    def send(self, message: bytes) -> Answered:
        """Send a whole request and return the answer.

        Raises:
            httpx2.HTTPError: there is no answer, not in time, or too much of it.
        """
        line = self._idle_one() or self._connected()
        kept = False
        try:
            answer, kept = self._asked(line, message)
        except TimeoutError as error:
            raise httpx2.ReadTimeout("the answer took too long") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise httpx2.ReadError("the answer broke off") from error
        finally:
            if kept:
                self._keep(line)
            else:
                line.close()
        return answer

    def close(self) -> None:
        """Close what is idle, and each other one when its call is over."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for _, line in idle:
            line.close()

    def _asked(self, line: http.client.HTTPConnection, message: bytes) -> tuple[Answered, bool]:
        """Return the answer, and whether the connection can be used again."""
        until = time.monotonic() + self._timeout
        line.sock.settimeout(self._timeout)
        line.send(message)
        with http.client.HTTPResponse(line.sock, method="POST") as heard:
            heard.begin()
            body = self._body(line, heard, until)
            return Answered(heard.status, tuple(heard.getheaders()), body), not heard.will_close

    def _body(self, line: http.client.HTTPConnection, heard: http.client.HTTPResponse, until: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        while part := heard.read1(_PART):
            parts.append(part)
            size += len(part)
            if size > self._most:
                raise httpx2.DecodingError("the answer is too long")
            left = until - time.monotonic()
            if left <= 0:
                raise httpx2.ReadTimeout("the whole answer took too long")
            if heard.length != 0:
                line.sock.settimeout(left)
        if heard.length:  # of what was announced; in pieces, the library sees it
            raise httpx2.ReadError("the answer broke off")
        return b"".join(parts)

    def _idle_one(self) -> http.client.HTTPConnection | None:
        """Return a connection that is open still, the one used last, or None."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                since, line = self._idle.pop()
            if time.monotonic() - since < _IDLE_SECONDS and not _is_readable(line):
                return line
            line.close()

    def _connected(self) -> http.client.HTTPConnection:
        line: http.client.HTTPConnection
        if self._secure:
            line = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._connecting, context=self._trusting()
            )
        else:
            line = http.client.HTTPConnection(self._host, self._port, timeout=self._connecting)
        try:
            line.connect()
        except TimeoutError as error:
            line.close()
            raise httpx2.ConnectTimeout("connecting took too long") from error
        except (OSError, ValueError) as error:
            line.close()
            raise httpx2.ConnectError("there is nobody to speak to") from error
        return line

    def _trusting(self) -> ssl.SSLContext:
        """Return what certificates are checked with, made once as the library makes it."""
        with self._lock:
            if self._trust is None:
                self._trust = httpx2.create_ssl_context()
                self._trust.set_alpn_protocols(["http/1.1"])
            return self._trust

    def _keep(self, line: http.client.HTTPConnection) -> None:
        with self._lock:
            kept = not self._closed and len(self._idle) < _IDLE_MOST
            if kept:
                self._idle.append((time.monotonic(), line))
        if not kept:
            line.close()


def _is_readable(line: http.client.HTTPConnection) -> bool:
    """Say whether an idle connection has something to read: then the other side has closed it, or gone astray."""
    if not hasattr(select, "poll"):
        return bool(select.select([line.sock], [], [], 0)[0])
    poll = select.poll()
    poll.register(line.sock, select.POLLIN)
    return bool(poll.poll(0))
