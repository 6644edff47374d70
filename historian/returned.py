"""What was given to whom lately, so that an agent that hands it back brings no news. Survives a restart."""

from __future__ import annotations

import hashlib
import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from datetime import timedelta

from historian.clock import Clock
from historian.database import Database
from historian.errors import StoreError
from historian.model import Scope
from historian.patterns import lazy_pattern
from historian.sameness import fingerprint

KEPT = 5_000
"""Texts remembered as just given back, over all users."""
KEPT_FOR = timedelta(days=7)

# how answers list what they give: "1. “text” (2026-02-20T…; event …; messages …)", "> - text"
_LISTED = lazy_pattern(r"^\s*(?:>\s*)?(?:\d{1,3}[.)、]\s+|[-*•]\s+)?")
_BEHIND = lazy_pattern(r"\s*\((?:\d{4}-\d{2}-\d{2}[^()]*;\s*)?(?:event|note|memory|memo|profile)\b[^()]*\)\s*$")
_WRAPPED = lazy_pattern(r'^[“"「](.*)[”"」]$', re.DOTALL)

log = logging.getLogger(__name__)


class ReturnedTexts:
    """Remembers digests only, in memory; `flush` writes them down behind. Thread-safe."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, int] | None = None
        self._new: dict[bytes, int] = {}

    def note(self, scope: Scope, texts: Iterable[str]) -> None:
        """Remember what was just given to the user of this scope."""
        now = int(self._clock.now().timestamp() * 1000)
        digests = [_digest(scope, text) for text in texts]
        if not digests:
            return
        with self._lock:
            known = self._loaded()
            for digest in digests:
                known[digest] = self._new[digest] = now
                known.move_to_end(digest)
            while len(known) > KEPT:
                self._new.pop(known.popitem(last=False)[0], None)

    def knows(self, scope: Scope, text: str) -> bool:
        """Say whether a text was given to the user of this scope lately, as it is or as answers list it."""
        oldest = int((self._clock.now() - KEPT_FOR).timestamp() * 1000)
        with self._lock:
            known = self._loaded()
            forms = {text, bare(text)} if known else ()
            return any(known.get(_digest(scope, form), 0) > oldest for form in forms)

    def let_go(self, user_id: str | None) -> None:
        """Have nothing be known that was given to this user, or to anybody: after forgetting, it is news when said.

        Raises:
            StoreError: the database cannot be written; then it is known again after a restart.
        """
        mark = b"" if user_id is None else _mark(user_id)
        with self._lock:
            for digest in [one for one in self._loaded() if one.startswith(mark)]:
                del self._loaded()[digest]
                self._new.pop(digest, None)
        with self._database.write() as connection:
            connection.execute("DELETE FROM returned WHERE substr(digest, 1, ?) = ?", (len(mark), mark))

    def flush(self) -> None:
        """Write down what is new, and forget what is old.

        Raises:
            StoreError: the database cannot be written; it is tried again with the next flush.
        """
        with self._lock:
            new = dict(self._new)
        if not new:
            return
        oldest = int((self._clock.now() - KEPT_FOR).timestamp() * 1000)
        with self._database.write() as connection:
            connection.executemany("INSERT OR REPLACE INTO returned (digest, at_ms) VALUES (?, ?)", [*new.items()])
            connection.execute(
                "DELETE FROM returned WHERE at_ms < max(?, coalesce((SELECT at_ms FROM returned ORDER BY at_ms DESC"
                " LIMIT 1 OFFSET ?), 0))",
                (oldest, KEPT),
            )
        with self._lock:
            for digest, at in new.items():
                if self._new.get(digest) == at:
                    del self._new[digest]

    def _loaded(self) -> OrderedDict[bytes, int]:
        """Return what is known, read from the database first. Needs the lock. A broken database breaks no `end`."""
        if self._known is None:
            try:
                with self._database.read() as connection:
                    rows = connection.execute("SELECT digest, at_ms FROM returned ORDER BY at_ms").fetchall()
            except StoreError as error:
                log.warning("what was given back before this start is not known: %s", error)
                rows = []
            self._known = OrderedDict((bytes(digest), int(at)) for digest, at in rows)
        return self._known


def bare(text: str) -> str:
    """Return a line of one of our answers without its number, quotes, time and ids; another text as it is."""
    line = _BEHIND.sub("", _LISTED.sub("", text, count=1)).strip()
    wrapped = _WRAPPED.match(line)
    return wrapped[1] if wrapped else line


def _digest(scope: Scope, text: str) -> bytes:
    said = f"{scope.user_id}\x1f{fingerprint(text)}".encode("utf-8", "surrogatepass")
    return _mark(scope.user_id) + hashlib.sha256(said).digest()[:12]


def _mark(user_id: str) -> bytes:
    """Return what all digests of a user begin with."""
    return hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).digest()[:4]
