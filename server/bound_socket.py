"""A socket that listens for HTTP, on which no part of an answer waits for another."""

from __future__ import annotations

import socket


def listen(host: str, port: int, backlog: int | None = None) -> socket.socket:
    """Return a socket that listens on an address of IPv4, or of IPv6 where it has colons. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.create_server((host, port), family=family, backlog=backlog)
    # What is accepted inherits it. asyncio sets it itself only where a socket names its protocol, which these do not:
    # the second part of each answer would wait for the client to acknowledge the first, 40 ms.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound
