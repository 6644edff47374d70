"""Who looks at the pages: links that open them once, and the visits that such a link, or a token, begins.

A visit is known to the browser by a random key in a cookie. Here there are only digests of keys, and nothing of it
outlives the process.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from server.binding import Binding
from server.http.identity import ADMIN, READ, WRITE

LINK_SECONDS = 120.0
UNUSED_SECONDS = 1800.0
"""A visit ends when nothing was asked for this long."""
LONGEST_SECONDS = 12 * 3600.0
MOST_LINKS = 100
MOST_VISITS = 1000
"""Beyond these the oldest ones end."""

EVERYTHING = frozenset({READ, WRITE, ADMIN})


@dataclass(frozen=True, slots=True)
class Guest:
    """On whose behalf pages are shown, and what may be done on them."""

    binding: Binding
    scopes: frozenset[str] = EVERYTHING


@dataclass(frozen=True, slots=True)
class Visit:
    """One guest's stay. `csrf` must come with each form; "" where no cookie admits the request, so that none is needed.

    `token` is what the guest signed in with, to be verified again with each request.
    """

    guest: Guest
    csrf: str
    token: str | None = field(default=None, repr=False)

    def may(self, scope: str) -> bool:
        """Say whether the guest may do what needs `scope`."""
        return scope in self.guest.scopes


@dataclass(slots=True)
class _Stay:
    visit: Visit
    began: float
    used: float


class Visits:
    """The links and visits of one process. For the event loop's thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._links: dict[bytes, tuple[Guest, float]] = {}
        self._stays: dict[bytes, _Stay] = {}

    def invite(self, guest: Guest) -> str:
        """Return the key of a link that opens the pages for `guest` once, within two minutes."""
        self._forget_old()
        key = secrets.token_urlsafe(32)
        self._links[_digest(key)] = (guest, self._clock())
        return key

    def accept(self, key: str) -> str | None:
        """Return the key of the visit that a link begins, or None for one that is unknown, used or too old."""
        self._forget_old()
        found = self._links.pop(_digest(key), None)
        return self.begin(found[0]) if found is not None else None

    def begin(self, guest: Guest, token: str | None = None) -> str:
        """Return the key of a new visit."""
        self._forget_old()
        key, now = secrets.token_urlsafe(32), self._clock()
        self._stays[_digest(key)] = _Stay(Visit(guest, secrets.token_urlsafe(24), token), now, now)
        return key

    def find(self, key: str) -> Visit | None:
        """Return a visit that goes on, which this use prolongs, or None."""
        self._forget_old()
        stay = self._stays.get(_digest(key))
        if stay is None:
            return None
        stay.used = self._clock()
        return stay.visit

    def end(self, key: str) -> None:
        """End a visit, if there is one."""
        self._stays.pop(_digest(key), None)

    @property
    def is_anybody_expected(self) -> bool:
        """Whether a visit goes on, or a link may still begin one."""
        self._forget_old()
        return bool(self._links or self._stays)

    def _forget_old(self) -> None:
        now = self._clock()
        self._links = {key: one for key, one in self._links.items() if now - one[1] < LINK_SECONDS}
        self._stays = {
            key: stay
            for key, stay in self._stays.items()
            if now - stay.used < UNUSED_SECONDS and now - stay.began < LONGEST_SECONDS
        }
        for key in [*self._links][:-MOST_LINKS]:
            del self._links[key]
        for key in sorted(self._stays, key=lambda one: self._stays[one].used)[:-MOST_VISITS]:
            del self._stays[key]


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "backslashreplace")).digest()
