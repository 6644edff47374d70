"""How much one client may ask: requests a minute of a token, and the size and the time of a body."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from starlette.types import Receive

MANY = 10_000
"""Buckets that are kept; full ones say nothing and are dropped beyond that."""


class RateLimiter:
    """A bucket for each key that refills steadily: a minute's worth may come at once, then as many as refill."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = float(per_minute)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    @property
    def known(self) -> int:
        """How many keys have a bucket."""
        return len(self._buckets)

    def wait_for(self, key: str) -> int:
        """Take one from the bucket of `key` and return 0, or return after how many whole seconds there will be one."""
        if not self._size:
            return 0
        now = self._clock()
        left, then = self._buckets.get(key, (self._size, now))
        left = min(self._size, left + (now - then) * self._size / 60)
        if left < 1:
            self._buckets[key] = (left, now)
            return max(1, math.ceil((1 - left) * 60 / self._size))
        if len(self._buckets) >= MANY and key not in self._buckets:
            self._drop_full(now)
        self._buckets[key] = (left - 1, now)
        return 0

    def _drop_full(self, now: float) -> None:
        self._buckets = {
            key: (left, then)
            for key, (left, then) in self._buckets.items()
            if left + (now - then) * self._size / 60 < self._size
        }


@dataclass(frozen=True, slots=True)
class TooLarge:
    """The body has more bytes than are taken."""


@dataclass(frozen=True, slots=True)
class TooSlow:
    """The body did not arrive in time."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The client hung up before the body was whole."""


async def read_body(
    receive: Receive, declared: str | None, limit: int, seconds: float
) -> bytes | TooLarge | TooSlow | Gone:
    """Return the body of a request, or why there is none. `declared` is its Content-Length as it was sent."""
    if declared is not None and declared.isdecimal() and (len(declared) > 12 or int(declared) > limit):
        return TooLarge()
    body = bytearray()
    with anyio.move_on_after(seconds):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return Gone()
            body += message.get("body", b"")
            if len(body) > limit:
                return TooLarge()
            if not message.get("more_body", False):
                return bytes(body)
    return TooSlow()
