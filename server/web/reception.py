"""How a visit begins and ends: a link that works once, a token, and the way out."""

from __future__ import annotations

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from server.web.answering import Answering
from server.web.forms import is_from_here, is_meant, read_form
from server.web.guests import COOKIE, Guests
from server.web.page import Page
from server.web.visits import Visits

ENTER = "enter"
SIGN_IN = "sign-in"
LEAVE = "leave"


class Reception:
    """Begins and ends visits."""

    def __init__(self, visits: Visits, guests: Guests, answering: Answering, body_seconds: float) -> None:
        self._visits = visits
        self._guests = guests
        self._answering = answering
        self._body_seconds = body_seconds

    def routes(self) -> list[BaseRoute]:
        """Return the addresses that this answers for."""
        return [
            Route(f"/{ENTER}", self._enter, methods=["GET"]),
            Route(f"/{SIGN_IN}", self._form, methods=["GET"]),
            Route(f"/{SIGN_IN}", self._sign_in, methods=["POST"]),
            Route(f"/{LEAVE}", self._leave, methods=["POST"]),
        ]

    async def _enter(self, request: Request) -> Response:
        """Exchange the key of a link for a visit. A look at the head of the answer costs the link nothing."""
        key = None if request.method == "HEAD" else self._visits.accept(request.query_params.get("key", ""))
        if key is None:
            return await self.refusal(request, 401, "wrong_link")
        return self._admitted(key)

    async def _form(self, request: Request) -> Response:
        return await self.refusal(request, 200)

    async def _sign_in(self, request: Request) -> Response:
        """Exchange a token for a visit, during which it is verified again with each request."""
        fields = await read_form(request, self._body_seconds)
        if fields is None or not is_from_here(request, self._answering.place.origin):
            return await self.refusal(request, 403, "wrong_form")
        token = fields.get("token", "").strip()
        guest = await self._guests.guest_of(token) if token else None
        if guest is None:
            return await self.refusal(request, 401, "wrong_token")
        return self._admitted(self._visits.begin(guest, token))

    async def _leave(self, request: Request) -> Response:
        visit, fields = (await self._guests.arrival(request)).visit, await read_form(request, self._body_seconds)
        if visit is None or fields is None or not is_meant(request, fields, visit, self._answering.place.origin):
            return await self.refusal(request, 403, "wrong_form")
        self._visits.end(request.cookies.get(COOKIE, ""))
        answer = await self.refusal(request, 200)
        self._answering.dismiss(answer)
        return answer

    async def refusal(self, request: Request, status: int, problem: str = "") -> Response:
        """Return the page on which one can sign in; `problem` are words that say why one has to."""
        said = self._answering.say(request, problem) if problem else ""
        values = {"problem": said, "takes_tokens": self._guests.take_tokens}
        return await self._answering.page(request, partial(Page, "signing_in.html", values, status))

    def _admitted(self, key: str) -> Response:
        answer = self._answering.going_on()
        self._answering.admit(answer, key)
        return answer
