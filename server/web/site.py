"""All pages under one path: which ones there are, who may see them, and what may be done on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.staticfiles import StaticFiles

from historian.errors import ConflictError, InvalidInputError, IssuerUnreachableError, NotFoundError, ShiguanError
from historian.memory import Memory
from server.http.identity import ADMIN, READ
from server.http.jwt_keys import AFTER_FAILURE_SECONDS
from server.http.limits import RateLimiter
from server.web.answering import Answering, Place
from server.web.chain import show_event, show_message
from server.web.forms import is_meant, read_form
from server.web.groups import show_groups, show_statement
from server.web.guests import Guests
from server.web.jobs import discard, retry, show_jobs
from server.web.markdown import make_markdown, rendered
from server.web.overview import show_status
from server.web.page import Asked, Done, Page
from server.web.profile import ProfilePages
from server.web.protection import Protected
from server.web.reception import Reception
from server.web.rendering import make_renderer
from server.web.reviews import ReviewPages
from server.web.timeline import show_timeline
from server.web.visits import Visit, Visits

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

STATIC = Path(__file__).parent / "static"
Show = Callable[[Asked], Page]
Act = Callable[[Asked], Done]


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the pages stand on. `warm_up` begins to load what is slow; `body_seconds` is the time of a form."""

    memory: Memory
    warm_up: Callable[[], None]
    visits: Visits
    guests: Guests
    place: Place
    rate: RateLimiter
    body_seconds: float


class Site:
    """Answers for every page."""

    def __init__(self, grounds: Grounds, answering: Answering, reception: Reception) -> None:
        self._grounds = grounds
        self._answering = answering
        self._reception = reception

    async def show(self, show: Show, path: str, request: Request) -> Response:
        """Answer with a page to a guest who may read."""
        arrival = await self._grounds.guests.arrival(request)
        refused = await self._refused(request, arrival.visit, READ)
        if refused is not None or arrival.visit is None:
            return refused or Response(status_code=401)
        self._grounds.warm_up()
        visit = arrival.visit
        asked = self._asked(visit, request.query_params)
        try:
            answer = await self._answering.page(request, partial(show, asked), visit, path)
        except ShiguanError as error:
            answer = await self._answering.problem(request, _status(error), str(error), visit, path)
        if arrival.new_key is not None:
            self._answering.admit(answer, arrival.new_key)
        return answer

    async def do(self, act: Act, request: Request) -> Response:
        """Do what a form asks for, to a guest who may, and go on with a page."""
        answering = self._answering
        visit = (await self._grounds.guests.arrival(request)).visit
        refused = await self._refused(request, visit, ADMIN)
        if refused is not None or visit is None:
            return refused or Response(status_code=401)
        fields = await read_form(request, self._grounds.body_seconds)
        if fields is None or not is_meant(request, fields, visit, self._grounds.place.origin):
            return await answering.problem(request, 403, answering.say(request, "wrong_form"), visit)
        try:
            done = await anyio.to_thread.run_sync(act, self._asked(visit, fields))
        except ShiguanError as error:
            return await answering.problem(request, _status(error), str(error), visit)
        return answering.going_on(done)

    async def nothing(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer where there is no page."""
        request = Request(scope, receive)
        answer = await self._answering.problem(request, 404, self._answering.say(request, "not_found"))
        await answer(scope, receive, send)

    async def unreachable(self, request: Request, _: Exception) -> Response:
        """Answer where it cannot be told now who asks."""
        answer = await self._answering.problem(request, 503, self._answering.say(request, "issuer_unreachable"))
        answer.headers["Retry-After"] = str(AFTER_FAILURE_SECONDS)
        return answer

    async def _refused(self, request: Request, visit: Visit | None, scope: str) -> Response | None:
        """Return why a request is not answered, or None."""
        answering = self._answering
        if visit is None:
            return await self._reception.refusal(request, 401)
        seconds = self._grounds.rate.wait_for(f"web\n{visit.guest.binding.scope.user_id}")
        if seconds:
            answer = await answering.problem(request, 429, answering.say(request, "too_many"), visit)
            answer.headers["Retry-After"] = str(seconds)
            return answer
        if not visit.may(scope):
            return await answering.problem(request, 403, answering.say(request, "may_not", scope), visit)
        return None

    def _asked(self, visit: Visit, fields: Mapping[str, str]) -> Asked:
        binding = visit.guest.binding
        return Asked(self._grounds.memory.of(binding.scope, binding.session), fields)


def make_site(grounds: Grounds) -> list[BaseRoute]:
    """Return the routes of all pages. Slow: loads the templates and the renderer of Markdown."""
    answering = Answering(grounds.place, make_renderer())
    reception = Reception(grounds.visits, grounds.guests, answering, grounds.body_seconds)
    site = Site(grounds, answering, reception)
    render = partial(rendered, make_markdown())
    profiles, reviews = ProfilePages(render), ReviewPages(render)
    pages: dict[str, Show] = {
        "": show_timeline,
        "event": show_event,
        "message": show_message,
        "profile": profiles.show,
        "groups": show_groups,
        "statement": show_statement,
        "reviews": reviews.list,
        "review": reviews.show,
        "queue": show_jobs,
        "status": show_status,
    }
    acts: dict[str, Act] = {
        "profile/rollback": profiles.roll_back,
        "review/accept": reviews.accept,
        "review/reject": reviews.reject,
        "queue/retry": retry,
        "queue/discard": discard,
    }
    routes: list[BaseRoute] = [
        *(Route(f"/{path}", partial(site.show, show, path), methods=["GET"]) for path, show in pages.items()),
        *(Route(f"/{path}", partial(site.do, act), methods=["POST"]) for path, act in acts.items()),
        *reception.routes(),
        Mount("/static", app=StaticFiles(directory=STATIC)),
    ]
    base, mount = grounds.place.base, grounds.place.mount or grounds.place.base

    async def first_page(_: Request) -> Response:
        return RedirectResponse(f"{base}/", 307)

    # files that are not there are told by an exception, which only a whole Starlette application would answer
    handlers = {IssuerUnreachableError: site.unreachable}
    pages_app = ExceptionMiddleware(Router(routes, default=site.nothing), handlers=handlers)
    return [Route(mount, first_page), Mount(mount, app=Protected(pages_app))]


def _status(error: ShiguanError) -> int:
    kinds = {NotFoundError: 404, InvalidInputError: 400, ConflictError: 409}
    return next((status for kind, status in kinds.items() if isinstance(error, kind)), 503)
