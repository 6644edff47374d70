"""Looks after answers that take long: a stream that is open must not outlive the token it was opened with."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager

import anyio

from historian.errors import IssuerUnreachableError
from server.http.identity import Identity
from server.http.verifying import Verifier

log = logging.getLogger(__name__)


class Watch:
    """Verifies tokens, and those of what is being answered anew every `seconds`. For the event loop's thread."""

    def __init__(self, verifier: Verifier, seconds: float) -> None:
        self._verifier = verifier
        self._seconds = seconds
        self._open: dict[anyio.CancelScope, tuple[str, Identity]] = {}

    async def verify(self, token: str) -> Identity | None:
        """Return whom `token` speaks for, or None where it is good for nothing. Raises IssuerUnreachableError."""
        return await self._verifier.verify(token)

    @contextmanager
    def over(self, token: str, identity: Identity) -> Generator[anyio.CancelScope]:
        """Cancel the block once `token` no longer speaks for `identity`: it was revoked or changed, or has expired."""
        with anyio.CancelScope() as cancelling:
            self._open[cancelling] = (token, identity)
            try:
                yield cancelling
            finally:
                del self._open[cancelling]

    async def run(self) -> None:
        """Look after them until cancelled."""
        while True:
            await anyio.sleep(self._seconds)
            await self.look()

    async def look(self) -> None:
        """Verify every token once, and end what it no longer suffices for."""
        known: dict[str, Identity | None] = {}
        ended = 0
        for cancelling, (token, identity) in [*self._open.items()]:
            if token not in known:
                known[token] = await self._now(token)
            if known[token] != identity:
                cancelling.cancel()
                ended += 1
        if ended:
            log.info("ended %d open answers whose token was revoked or has expired (or cannot be checked)", ended)

    async def _now(self, token: str) -> Identity | None:
        """Return whom a token speaks for. Keys are kept for so long that an issuer without any counts as a refusal."""
        try:
            return await self._verifier.verify(token)
        except IssuerUnreachableError:
            return None
