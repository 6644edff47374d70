"""The pages over an open memory, and a browser that is none: it keeps cookies, names its origin, and sends forms."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import httpx2

from historian.model import Scope
from historian.session import Session
from server.binding import Binding
from server.household import Household
from server.web.answering import Place
from server.web.loopback import make_app
from server.web.visits import EVERYTHING, Guest, Visits
from server.web.window import link_to

ORIGIN = "http://127.0.0.1:4000"
BASE = "/0123456789abcdef"
FORM = re.compile(r'<form method="post" action="([^"]+)">(.*?)</form>', re.DOTALL)
FIELD = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')


def guest(
    user: str = "alice",
    *,
    group: str | None = None,
    groups: frozenset[str] = frozenset(),
    scopes: frozenset[str] = EVERYTHING,
) -> Guest:
    """Return a guest in Shanghai."""
    scope = Scope(user, group, groups | ({group} if group else frozenset()))
    return Guest(Binding(scope, Session(timezone="Asia/Shanghai")), scopes)


class Pages:
    """The pages of one memory."""

    def __init__(self, household: Household) -> None:
        self.place = Place(ORIGIN, BASE)
        self.visits = Visits()
        self.app = make_app(household, self.place, self.visits)

    def link(self, who: Guest) -> str:
        """Return a link that works once."""
        return link_to(self.place, self.visits, who)

    @asynccontextmanager
    async def browser(self, who: Guest | None = None, **headers: str) -> AsyncGenerator[Browser]:
        """Open a browser, in which `who` has followed a link."""
        transport = httpx2.ASGITransport(app=self.app)
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers) as client:
            browser = Browser(client)
            if who is not None:
                answer = await client.get(self.link(who))
                assert answer.status_code == 303, answer.text
            yield browser


class Browser:
    """What a guest does."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def get(self, page: str = "", *, status: int = 200, **fields: str) -> str:
        """Return the HTML of a page."""
        answer = await self.client.get(f"{BASE}/{page}", params=fields)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.text

    async def post(self, path: str, fields: Mapping[str, str], origin: str | None = ORIGIN) -> httpx2.Response:
        """Send a form as a browser does."""
        headers = {"Origin": origin} if origin is not None else {}
        return await self.client.post(f"{BASE}/{path}", data=dict(fields), headers=headers)

    async def submit(self, page: str, action: str, **fields: str) -> httpx2.Response:
        """Open a page and send the first of its forms that goes to `action`."""
        shown = await self.get(page, **fields)
        return await self.post(action, next(one for path, one in forms(shown) if path == action))


def forms(shown: str) -> list[tuple[str, dict[str, str]]]:
    """Return the forms of a page: where they go, and their hidden fields."""
    found: list[tuple[str, dict[str, str]]] = []
    for action, inside in FORM.findall(shown):
        fields = {name: html.unescape(value) for name, value in FIELD.findall(inside)}
        found.append((html.unescape(action).removeprefix(f"{BASE}/"), fields))
    return found
