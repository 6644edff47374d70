"""Reading what a form sends, and telling one of our own pages from one that somebody else made."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request

from server.http.limits import read_body
from server.web.visits import Visit

MAX_BYTES = 65_536
MAX_FIELDS = 20
FORM = "application/x-www-form-urlencoded"


async def read_form(request: Request, seconds: float) -> Mapping[str, str] | None:
    """Return the fields of a form, or None where the body is no form, too large or too slow. `seconds` is its time."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        return None
    body = await read_body(request.receive, request.headers.get("content-length"), MAX_BYTES, seconds)
    if not isinstance(body, bytes):
        return None
    try:
        text = body.decode("utf-8")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict"))
    except ValueError:
        return None


def is_from_here(request: Request, origin: str) -> bool:
    """Say whether a page of ours sent a request: browsers name the origin with every form, and cannot be made to lie.

    `origin` is ours as clients see it; behind a proxy it may be none that this process knows.
    """
    named, site = request.headers.getlist("origin"), request.headers.get("sec-fetch-site", "same-origin")
    if len(named) != 1 or site != "same-origin":
        return False
    return named[0] == origin or urlsplit(named[0]).netloc == request.headers.get("host", "").lower()


def is_meant(request: Request, fields: Mapping[str, str], visit: Visit, origin: str) -> bool:
    """Say whether the guest of `visit` sent a form, and not a page of somebody else through the guest's browser.

    A bearer token is proof enough: no browser sends one by itself.
    """
    if not visit.csrf:
        return True
    sent = fields.get("csrf", "").encode("utf-8", "backslashreplace")
    return is_from_here(request, origin) and hmac.compare_digest(sent, visit.csrf.encode())
