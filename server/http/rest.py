"""Group memory as plain REST below `/memory`: the same operations, tokens, scopes and limits as the tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from historian.errors import (
    ConflictError,
    InvalidInputError,
    ModelError,
    NotConfiguredError,
    NotFoundError,
    ShiguanError,
)
from historian.memory import Memory
from historian.session import Session
from server.arguments import checked
from server.binding import Binding
from server.http.binder import binding_of_identity
from server.http.door import Inlet, identity_of
from server.http.identity import Identity
from server.http.metrics import Metrics
from server.http.openapi import document, page
from server.http.refusals import refusal
from server.http.rest_operations import OPERATIONS, Operation
from server.seats import Seats
from server.tools.group import TOOLS

PREFIX = "/memory"
NOBODY = "This token speaks for nobody of its own; use one that was made for a user."
NO_OBJECT = "The body is no JSON object; send parameters as one, or in the query."
UNKNOWN = "There is nothing at this address; see /memory/docs."
_ROOMS = {tool.name: tool.room for tool in TOOLS}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class Rest:
    """Answers each operation. Everything is checked here but host, origin and token, which are checked before."""

    def __init__(
        self,
        memory: Memory,
        warm_up: Callable[[], None],
        bind: Callable[[Identity], Binding | None],
        inlet: Inlet,
        metrics: Metrics,
        seats: Seats,
    ) -> None:
        self._memory = memory
        self._warm_up = warm_up
        self._bind = bind
        self._inlet = inlet
        self._metrics = metrics
        self._seats = seats

    async def answer(self, operation: Operation, request: Request) -> Response:
        """Answer one request whose token was verified."""
        identity = identity_of(request.scope)
        (subject,) = map(str, request.path_params.values())
        inlet = self._inlet
        body = await inlet.body(request.scope, request.receive) if subject else inlet.refuse("address", 404, UNKNOWN)
        if not isinstance(body, bytes):
            return body or Response(status_code=400)  # nobody hears it
        if not identity.may(operation.scope):
            return inlet.lacking(operation.scope)
        binding = self._bind(identity)
        if binding is None:
            return inlet.refuse("nobody", 403, NOBODY)
        self._metrics.asked("tools/call", operation.tool)
        self._warm_up()
        try:
            given = checked(operation.tool, operation.schema, _given(request, body), {})
            work = partial(self._done, operation, binding, subject, given)
            room = _ROOMS[operation.tool](self._seats)
            done = await (anyio.to_thread.run_sync(work) if room is None else room.run(binding.scope.user_id, work))
        except ShiguanError as error:
            return problem(error)
        return JSONResponse(done, headers={"Cache-Control": "no-store"})

    def _done(self, operation: Operation, binding: Binding, subject: str, given: Mapping[str, Any]) -> dict[str, Any]:
        groups = self._memory.of(binding.scope, binding.session).groups
        return operation.call(groups, subject, given).model_dump(mode="json")


def rest_routes(rest: Rest, guarded: Callable[[ASGIApp], ASGIApp], address: str) -> list[BaseRoute]:
    """Return the routes below `PREFIX`; `guarded` puts the token check before an app, `address` is the public path.

    What describes the interface is open: it tells nothing that is anybody's.
    """
    described = document(OPERATIONS, address)
    shown = page(described)

    async def openapi(_: Request) -> Response:
        return JSONResponse(described)

    async def docs(_: Request) -> Response:
        return HTMLResponse(shown, headers={"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"})

    operations = [
        Route(one.path.replace("}", ":path}"), partial(rest.answer, one), methods=[one.method]) for one in OPERATIONS
    ]
    return [
        Route(f"{PREFIX}/openapi.json", openapi, methods=["GET"]),
        Route(f"{PREFIX}/docs", docs, methods=["GET"]),
        Mount(PREFIX, app=guarded(Router(routes=operations, default=_unknown, redirect_slashes=False))),
    ]


def problem(error: ShiguanError) -> Response:
    """Return an error as an answer."""
    kinds: tuple[tuple[type[ShiguanError], int, str], ...] = (
        (InvalidInputError, 400, "invalid"),
        (NotFoundError, 404, "not_found"),
        (ConflictError, 409, "conflict"),
        (NotConfiguredError, 501, "not_configured"),
        (ModelError, 502, "model"),
    )
    known = ((status, name) for kind, status, name in kinds if isinstance(error, kind))
    status, name = next(known, (503, "unavailable"))
    return JSONResponse({"error": name, "error_description": str(error)}, status_code=status)


def bound(alone: Binding | None, defaults: Session) -> Callable[[Identity], Binding | None]:
    """Return what binds a request by its token; without a verifier everybody is `alone`."""
    return lambda identity: alone if alone is not None else binding_of_identity(identity, defaults)


def _given(request: Request, body: bytes) -> dict[str, Any]:
    """Return the parameters of the query, and of a JSON object as the body. Raises InvalidInputError."""
    given: dict[str, Any] = dict(request.query_params)
    if not body.strip():
        return given
    try:
        sent: object = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInputError(NO_OBJECT) from None
    if not isinstance(sent, dict):
        raise InvalidInputError(NO_OBJECT)
    return given | sent


async def _unknown(scope: Scope, receive: Receive, send: Send) -> None:
    await refusal(404, "not_found", UNKNOWN)(scope, receive, send)
