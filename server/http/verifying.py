"""Which tokens are let in: those of the tokens file, those of an identity provider, or both."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Protocol

from historian.complaints import Complaints
from historian.errors import NotConfiguredError, StoreError
from server.http.identity import Identity
from server.http.jwt_tokens import make_jwt_verifier
from server.http.tokens import PREFIX, TokenFile, token_file_at
from server.settings import Settings

NO_VERIFIER = (
    "Nobody could be told apart over HTTP: create a token with `shiguan token create`, or set server.jwt_issuer. "
    "On a loopback host --user NAME serves that one person without tokens."
)

log = logging.getLogger(__name__)


class Verifier(Protocol):
    """Says whom a bearer token speaks for."""

    async def verify(self, token: str) -> Identity | None:
        """Return the identity, or None for a token that is unknown, expired, forged or meant for somebody else.

        Raises:
            IssuerUnreachableError: that cannot be told now.
        """
        ...


class StoredTokenVerifier:
    """Verifies tokens of the tokens file. A change of the file holds for the next request."""

    def __init__(self, file: TokenFile) -> None:
        self._file = file
        self._complaints = Complaints(log)

    async def verify(self, token: str) -> Identity | None:
        """Return whom a stored token speaks for."""
        if not token.startswith(PREFIX):
            return None
        try:
            stored = self._file.find(token, time.time())
        except StoreError as error:
            self._complaints.say("tokens", error)
            return None
        self._complaints.over("tokens")
        if stored is None:
            return None
        return Identity(
            client_id=stored.token_id,
            user_id=stored.user,
            groups=frozenset(stored.groups),
            scopes=frozenset(stored.scopes),
            expires_at=stored.expires_at,
            timezone=stored.timezone,
            name=stored.name,
        )


class FirstOf:
    """Asks several verifiers, one after the other."""

    def __init__(self, verifiers: Sequence[Verifier]) -> None:
        self._verifiers = verifiers

    async def verify(self, token: str) -> Identity | None:
        """Return the first identity that one of them knows."""
        for verifier in self._verifiers:
            identity = await verifier.verify(token)
            if identity is not None:
                return identity
        return None


def token_file(settings: Settings) -> TokenFile:
    """Return the tokens file: the configured one, or that of the data folder."""
    return token_file_at(settings.data_dir, settings.server.token_file)


def make_verifier(settings: Settings, audience: str) -> Verifier | None:
    """Return what verifies tokens for `audience`, or None where nothing is configured that could.

    Raises:
        NotConfiguredError: the configured verifier lacks a setting, or there is no token yet that is still valid.
        InvalidInputError: a key file or URL cannot be used.
        StoreError: the tokens file cannot be read.
    """
    wanted, server = settings.server.verifier, settings.server
    stored = token_file(settings)
    has_tokens = any(token.is_valid_at(time.time()) for token in stored.tokens())
    names_issuer = bool(server.jwt_issuer or server.jwt_jwks_url or server.jwt_key_file)
    if wanted == "tokens" and not has_tokens:
        raise NotConfiguredError(
            "server.verifier is tokens, but there is none: create one with `shiguan token create`."
        )
    chosen: list[Verifier] = []
    if wanted == "tokens" or (wanted == "auto" and (has_tokens or names_issuer)):
        chosen.append(StoredTokenVerifier(stored))
    if wanted == "jwt" or (wanted == "auto" and names_issuer):
        chosen.append(make_jwt_verifier(server, audience))
    return FirstOf(chosen) if chosen else None
