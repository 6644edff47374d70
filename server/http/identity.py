"""Whom a verified bearer token speaks for, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass

READ = "shiguan:read"
WRITE = "shiguan:write"
ADMIN = "shiguan:admin"
ACT_AS = "shiguan:act-as"
SCOPES = (READ, WRITE, ADMIN, ACT_AS)
"""All scopes there are. None of them implies another one."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a verifier made of one token. Ids are normalised; the token itself is nowhere in here.

    `client_id` names the token, or the client it was issued to, in logs and for limits. `user_id` is None where a token
    speaks for nobody of its own: it can only act as others. `groups` may be read. `timezone` is an IANA name.
    """

    client_id: str
    user_id: str | None
    groups: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    issuer: str | None = None
    expires_at: int | None = None
    timezone: str | None = None
    name: str | None = None

    @property
    def key(self) -> str:
        """What limits are counted by: the token, or the client and the person it was issued to."""
        return f"{self.issuer}\n{self.client_id}\n{self.user_id}"

    def may(self, scope: str) -> bool:
        """Say whether the token carries `scope`."""
        return scope in self.scopes
