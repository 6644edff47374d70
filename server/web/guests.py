"""Who asks for a page: known by a bearer token, as every other request over HTTP, or by the cookie of a visit."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from historian.session import Session
from server.http.binder import binding_of_identity
from server.http.door import bearer
from server.http.verifying import Verifier
from server.web.visits import Guest, Visit, Visits

COOKIE = "shiguan_visit"


@dataclass(frozen=True, slots=True)
class Arrival:
    """The visit that a request belongs to, None where it may not come in; and the key of one that begins with it."""

    visit: Visit | None
    new_key: str | None = None


class Guests:
    """Tells guests apart. With a verifier a token is verified with each request; without, everybody is `alone`.

    Where neither is given, only a link opens the pages.
    """

    def __init__(self, visits: Visits, verifier: Verifier | None, alone: Guest | None, defaults: Session) -> None:
        self._visits = visits
        self._verifier = verifier
        self._alone = alone if verifier is None else None
        self._defaults = defaults

    @property
    def take_tokens(self) -> bool:
        """Whether one can sign in with a token."""
        return self._verifier is not None

    async def arrival(self, request: Request) -> Arrival:
        """Return to which visit a request belongs. Raises IssuerUnreachableError."""
        token = bearer(request.headers)
        if token is not None and self._verifier is not None:
            guest = await self.guest_of(token)
            return Arrival(Visit(guest, csrf="") if guest is not None else None)
        key = request.cookies.get(COOKIE)
        visit = self._visits.find(key) if key is not None else None
        if visit is not None and visit.token is not None:
            visit = await self._verified(visit, visit.token)
        if visit is None and self._alone is not None and request.method == "GET":
            new_key = self._visits.begin(self._alone)
            return Arrival(self._visits.find(new_key), new_key)
        return Arrival(visit)

    async def guest_of(self, token: str) -> Guest | None:
        """Return whom a token of itself speaks for, or None. Raises IssuerUnreachableError."""
        identity = await self._verifier.verify(token) if self._verifier is not None else None
        binding = binding_of_identity(identity, self._defaults) if identity is not None else None
        return Guest(binding, identity.scopes) if identity is not None and binding is not None else None

    async def _verified(self, visit: Visit, token: str) -> Visit | None:
        """Return a visit with what its token allows now: it may have been revoked."""
        guest = await self.guest_of(token)
        return Visit(guest, visit.csrf, token) if guest is not None else None
