"""Connections: how many there may be, and how long one may take to say what it wants."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from server.http.metrics import Metrics

BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-length: 88\r\n\r\n"
    b'{"error":"busy","error_description":"Too many connections are open; try again shortly."}'
)
LINGER_SECONDS = 1.0
FILES_OF_OUR_OWN = 300
"""Files that are left for databases, queue and local clients."""
SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as _Base
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as _Base


def protocol_within(most: int, seconds: float, metrics: Metrics) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP protocol with at most `most` connections, and `seconds` for the head of each request."""
    lingering: set[object] = set()

    class Bounded(_Base):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._patience: asyncio.TimerHandle | None = None
            self._is_refused = len(self.connections) > most
            if not self._is_refused:
                metrics.connections = len(self.connections)
                self._be_patient()
                return
            self.connections.discard(self)
            metrics.refused("connections")
            transport.write(BUSY)
            if len(lingering) >= most or not transport.can_write_eof():
                transport.close()
                return
            # closing at once what has unread input would take the answer back
            lingering.add(self)
            transport.write_eof()
            self._patience = self.loop.call_later(LINGER_SECONDS, transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._patience is not None:
                self._patience.cancel()
            lingering.discard(self)
            super().connection_lost(exc)
            metrics.connections = len(self.connections)

        def data_received(self, data: bytes) -> None:
            if self._is_refused:
                return
            super().data_received(data)
            self._be_patient()

        def _be_patient(self) -> None:
            """Start the clock when a head is on its way, stop it when it is there."""
            is_waiting = _is_idle(self.cycle)
            if is_waiting and self._patience is None:
                self._patience = self.loop.call_later(seconds, self._lose_patience)
            elif not is_waiting and self._patience is not None:
                self._patience.cancel()
                self._patience = None

        def _lose_patience(self) -> None:
            self._patience = None
            if _is_idle(self.cycle) and not self.transport.is_closing():
                metrics.refused("slow")
                self.transport.write(SLOW)
                self.transport.close()

    return Bounded


def _is_idle(cycle: Any) -> bool:
    """Say whether no request is being answered; there is no cycle before the first one."""
    return cycle is None or bool(cycle.response_complete)


def room_for(wanted: int) -> int:
    """Return how many connections this process can hold, `wanted` at most, after asking the system for more files."""
    try:
        import resource
    except ImportError:  # Windows, which knows no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * wanted + FILES_OF_OUR_OWN  # connections that are turned away linger
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, (soft - FILES_OF_OUR_OWN) // 2))
