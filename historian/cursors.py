"""Cursors: opaque to whoever holds one, and worthless in any call but the one that goes on with the same list."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import threading
from collections.abc import Sequence

from historian.database import Database
from historian.errors import InvalidInputError

_SECRET = "cursor_secret"
_MAC_BYTES = 12
_SHAPE = re.compile(r"[A-Za-z0-9_-]{20,200}")
_REFUSED = (
    "This cursor does not belong to this call; send it with the same query and filter as before, or leave it out to "
    "start anew."
)


class Cursors:
    """Seals and opens cursors with a secret that stays with the record. Thread-safe.

    What a cursor is bound to (tool, scope, query, filter) does not stand in it: it is signed along, and one of another
    call, tool or user is refused in the same words as one that was made up. The place is hidden: a row number would
    tell how much there is of others.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._secret: bytes | None = None

    def seal(self, place: bytes, bound_to: Sequence[object]) -> str:
        """Return a cursor for a place in the list of the call that is described by `bound_to`, JSON values.

        Raises:
            StoreError: the secret can be neither read nor made now.
        """
        mac = self._mac(place, bound_to)
        signed = self._hidden(place, mac) + mac
        return base64.urlsafe_b64encode(signed).rstrip(b"=").decode("ascii")

    def open(self, cursor: str, bound_to: Sequence[object]) -> bytes:
        """Return the place that was sealed.

        Raises:
            InvalidInputError: it was not made for this call, was cut, or was made up; the sentence does not say which.
            StoreError: as `seal`.
        """
        text = cursor.strip()
        if not _SHAPE.fullmatch(text) or len(text) % 4 == 1:
            raise InvalidInputError(_REFUSED)
        signed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        mac = signed[-_MAC_BYTES:]
        place = self._hidden(signed[:-_MAC_BYTES], mac)
        is_canonical = base64.urlsafe_b64encode(signed).rstrip(b"=").decode("ascii") == text
        if not hmac.compare_digest(mac, self._mac(place, bound_to)) or not is_canonical:
            raise InvalidInputError(_REFUSED)
        return place

    def _mac(self, place: bytes, bound_to: Sequence[object]) -> bytes:
        described = json.dumps([*bound_to]).encode("ascii")
        length = len(described).to_bytes(8, "big")
        return hmac.new(self._key(), length + described + place, hashlib.sha256).digest()[:_MAC_BYTES]

    def _hidden(self, place: bytes, mac: bytes) -> bytes:
        """Return a place covered by a stream that depends on its signature, or, of a covered one, the place."""
        blocks = -(-len(place) // hashlib.sha256().digest_size)
        stream = b"".join(
            hmac.new(self._key(), b"hide" + bytes([block]) + mac, hashlib.sha256).digest() for block in range(blocks)
        )
        return bytes(one ^ other for one, other in zip(place, stream, strict=False))

    def _key(self) -> bytes:
        with self._lock:
            if self._secret is None:
                self._secret = self._stored() or self._made()
            return self._secret

    def _stored(self) -> bytes | None:
        with self._database.read() as connection:
            row = connection.execute("SELECT value FROM settings WHERE key = ?", (_SECRET,)).fetchone()
        return bytes.fromhex(row[0]) if row else None

    def _made(self) -> bytes:
        """Make the secret; where another process was faster, its secret counts."""
        with self._database.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO settings (key, value) VALUES (?, ?)", (_SECRET, secrets.token_hex(32))
            )
        found = self._stored()
        return found if found is not None else secrets.token_bytes(32)
