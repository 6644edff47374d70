"""From pages to answers: rendered in a worker thread, in the reader's language, with the cookies that go along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import partial

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from historian.zones import load_zone
from server.web.guests import COOKIE
from server.web.language import Language, accepted, chosen
from server.web.page import Done, Page
from server.web.rendering import Frame, Renderer, address
from server.web.visits import LONGEST_SECONDS, Visit
from server.web.words import DONE, word

LANGUAGE_COOKIE = "shiguan_language"
LANGUAGE_SECONDS = 365 * 86_400
PASSING = frozenset({"lang", "done", "count"})
"""Fields of an address that say nothing about which page it is."""
MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Place:
    """Where the pages are: the origin and the path under which all of them lie, as browsers see them.

    `mount` is that path as it arrives here, where a proxy in front takes something off it; "" where it is the same.
    """

    origin: str
    base: str
    mount: str = ""

    @property
    def is_secure(self) -> bool:
        """Whether cookies may be kept from unencrypted connections."""
        return self.origin.startswith("https:")


class Answering:
    """Makes answers of pages."""

    def __init__(self, place: Place, renderer: Renderer) -> None:
        self.place = place
        self._renderer = renderer

    async def page(
        self, request: Request, make: Callable[[], Page], visit: Visit | None = None, path: str = ""
    ) -> Response:
        """Return what `make` gives, called and rendered in a thread."""
        frame = self._frame(request, visit, path)

        def made() -> tuple[str, int]:
            page = make()
            return self._renderer.html(page, frame), page.status

        html, status = await anyio.to_thread.run_sync(made)
        answer = HTMLResponse(html, status)
        language = chosen(request.query_params.get("lang"))
        if language is not None:
            self._set(answer, LANGUAGE_COOKIE, language, LANGUAGE_SECONDS)
        return answer

    async def problem(
        self, request: Request, status: int, sentence: str, visit: Visit | None = None, path: str = ""
    ) -> Response:
        """Return a page that says why there is no other one."""
        make = partial(Page, "error.html", {"sentence": sentence}, status)
        return await self.page(request, make, visit, path)

    def going_on(self, done: Done | None = None) -> Response:
        """Return the way to the page that follows what was done; without that, to the first page."""
        target = address(self.place.base, done.page, done.fields) if done is not None else f"{self.place.base}/"
        return RedirectResponse(target, 303)

    def admit(self, answer: Response, key: str) -> None:
        """Have the browser keep the key of a visit, for our pages alone and out of reach of scripts."""
        self._set(answer, COOKIE, key, int(LONGEST_SECONDS))

    def dismiss(self, answer: Response) -> None:
        """Have the browser forget the key of a visit."""
        answer.delete_cookie(
            COOKIE, path=self.place.base, secure=self.place.is_secure, httponly=True, samesite="strict"
        )

    def say(self, request: Request, key: str, *values: object) -> str:
        """Return words in the language of a request."""
        return word(language_of(request), key, *values)

    def _set(self, answer: Response, name: str, value: str, seconds: int) -> None:
        answer.set_cookie(
            name,
            value,
            max_age=seconds,
            path=self.place.base,
            secure=self.place.is_secure,
            httponly=True,
            samesite="strict",
        )

    def _frame(self, request: Request, visit: Visit | None, path: str) -> Frame:
        binding = visit.guest.binding if visit is not None else None
        zone: tzinfo = load_zone(binding.session.timezone) if binding is not None else UTC
        who = ""
        if binding is not None:
            who = binding.session.sender_name or binding.scope.user_id
            who = f"{who} · {binding.scope.group_id}" if binding.scope.group_id is not None else who
        language = language_of(request)
        is_read = request.method == "GET"
        return Frame(
            base=self.place.base,
            language=language,
            zone=zone,
            path=path,
            query={k: v for k, v in request.query_params.items() if k not in PASSING} if is_read else {},
            csrf=visit.csrf if visit is not None else "",
            who=who,
            done=_told(language, request.query_params) if visit is not None and is_read else "",
        )


def language_of(request: Request) -> Language:
    """Return the language that a request is to be answered in."""
    named = chosen(request.query_params.get("lang"), request.cookies.get(LANGUAGE_COOKIE))
    return named or accepted(request.headers.get("accept-language", ""))


def _told(language: Language, fields: Mapping[str, str]) -> str:
    """Return what an address says was done: only words of ours, and a number."""
    done, count = fields.get("done", ""), fields.get("count", "")
    if done not in DONE:
        return ""
    is_number = count.isascii() and count.isdigit() and len(count) <= MAX_DIGITS
    return word(language, done, int(count) if is_number else 0)
