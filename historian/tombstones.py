"""What was forgotten and shall not come back by itself: digests under a key of this folder, which say nothing alone."""

from __future__ import annotations

import hmac
import secrets
import sqlite3
from collections.abc import Iterable
from typing import Literal

Kind = Literal["message", "event", "memo", "profile", "pinned", "group_memory"]

_KEY = "forgotten_key"
_BYTES = 16


class Tombstones:
    """The digests of one owner, inside a transaction. Costs one look where nothing was ever forgotten."""

    def __init__(self, connection: sqlite3.Connection, owner_key: str) -> None:
        self._connection = connection
        self._owner_key = owner_key
        found = connection.execute("SELECT value FROM settings WHERE key = ?", (_KEY,)).fetchone()
        self._secret = None if found is None else bytes.fromhex(found[0])

    def has(self, kind: Kind, identifier: str) -> bool:
        """Say whether this was forgotten."""
        if self._secret is None:
            return False
        digest = self._digest(self._secret, kind, identifier)
        return self._connection.execute("SELECT 1 FROM forgotten WHERE digest = ?", (digest,)).fetchone() is not None

    def add(self, kind: Kind, identifiers: Iterable[str]) -> None:
        """Note what is forgotten. Needs a write transaction."""
        if self._secret is None:
            self._secret = secrets.token_bytes(32)
            self._connection.execute("INSERT INTO settings (key, value) VALUES (?, ?)", (_KEY, self._secret.hex()))
        self._connection.executemany(
            "INSERT OR IGNORE INTO forgotten (digest) VALUES (?)",
            [(self._digest(self._secret, kind, identifier),) for identifier in identifiers],
        )

    def lift(self, kind: Kind, identifier: str) -> None:
        """Let something come back. Needs a write transaction."""
        if self._secret is not None:
            digest = self._digest(self._secret, kind, identifier)
            self._connection.execute("DELETE FROM forgotten WHERE digest = ?", (digest,))

    def _digest(self, secret: bytes, kind: Kind, identifier: str) -> bytes:
        named = "\0".join((kind, self._owner_key, identifier)).encode("utf-8", "surrogatepass")
        return hmac.digest(secret, named, "sha256")[:_BYTES]
