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
        self._asked: set[str] = set()

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
        """Look after them until cancelled. A token whose issuer is slow holds up none but itself."""
        async with anyio.create_task_group() as tasks:
            while True:
                await anyio.sleep(self._seconds)
                for token in self._tokens().difference(self._asked):
                    tasks.start_soon(self._look_at, token)

    async def look(self) -> None:
        """Verify every token once, and end what it no longer suffices for."""
        async with anyio.create_task_group() as tasks:
            for token in self._tokens():
                tasks.start_soon(self._look_at, token)

    def _tokens(self) -> set[str]:
        return {token for token, _ in self._open.values()}

    async def _look_at(self, token: str) -> None:
        self._asked.add(token)
        try:
            now = await self._now(token)
        finally:
            self._asked.discard(token)
        ended = [one for one, (opened, identity) in self._open.items() if opened == token and identity != now]
        for cancelling in ended:
            cancelling.cancel()
        if ended:
            log.info("ended %d open answers whose token was revoked or has expired (or cannot be checked)", len(ended))

    async def _now(self, token: str) -> Identity | None:
        """Return whom a token speaks for. Keys are kept for so long that an issuer without any counts as a refusal."""
        try:
            return await self._verifier.verify(token)
        except IssuerUnreachableError:
            return None
