"""On whose behalf a request acts: the scope and session, bound by the server before any tool runs.

Tools receive their memory as their first parameter, of type `Bound`, which `with_memory` fills: it is absent from every
schema and nothing that a client sends reaches it. Resources and prompts cannot take it that way; they read the same
binding from a context variable that `bind_requests` sets around each request.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import anyio.to_thread

from historian.errors import ShiguanError
from historian.memory import Memory, ScopedMemory
from historian.model import Scope
from historian.session import Session
from server.seats import Room, Seats

if TYPE_CHECKING:  # loading the protocol takes most of a start, and what only commands ask for does without it
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.shared.exceptions import MCPError

OPENING = frozenset({"initialize", "notifications/initialized", "server/discover"})
"""Methods with which a client opens a connection; nothing may slow down what comes next."""
META_PREFIX = "shiguan/"
"""Request `_meta` keys with this prefix name whom a trusted host acts for."""
NOBODY = "This call names no user; the host must send shiguan/user_id in the _meta of every call."


@dataclass(frozen=True, slots=True)
class Binding:
    """Whose request it is, and what the host knows about it."""

    scope: Scope
    session: Session


class Binder(Protocol):
    """Decides the binding of one request."""

    def bind(self, meta: Mapping[str, Any] | None) -> Binding | None:
        """Return the binding of a request by its `_meta`, or None where it names nobody.

        Without one, what needs a user is refused; what needs none, such as a list of tools, is served.

        Raises:
            MCPError: the request names an identity that it may not use.
            InvalidInputError: what it names is no identity; the sentence names the key.
        """
        ...


@dataclass(frozen=True, slots=True)
class FixedBinder:
    """One person per process or connection, as over stdio: identity in `_meta` is an error, never ignored."""

    binding: Binding

    def bind(self, meta: Mapping[str, Any] | None) -> Binding:
        """Return the one binding there is."""
        named = identity_keys(meta)
        if named:
            raise invalid_request(
                f"This server is bound to one user and takes no identity from _meta; leave {named[0]} out, or "
                "start it with --trust-host for a host that says who asks."
            )
        return self.binding


def invalid_request(sentence: str) -> MCPError:
    """Return what refuses a request that may not be made here."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import INVALID_REQUEST

    return MCPError(code=INVALID_REQUEST, message=sentence)


def identity_keys(meta: Mapping[str, Any] | None) -> list[str]:
    """Return the keys of a request's `_meta` that say who asks, or anything else that only a trusted host may say."""
    return sorted(key for key in meta or {} if key.startswith(META_PREFIX))


@dataclass(frozen=True, slots=True)
class Attached:
    """What a server session works with; the SDK's lifespan yields it.

    `warm_up` begins to load what is slow, in the background; calling it again does nothing. `seats` limit how many
    tools run at a time.
    """

    memory: Memory
    binder: Binder
    warm_up: Callable[[], None]
    seats: Seats


_current: ContextVar[ScopedMemory | None] = ContextVar("shiguan_scoped_memory")


def current_memory() -> ScopedMemory:
    """Return the memory that the request being served may use.

    Raises:
        MCPError: nobody is named on whose behalf it is asked.
    """
    memory = _current.get()
    if memory is None:
        raise invalid_request(NOBODY)
    return memory


Report = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]
"""Tells the client how far a request is: done, of how much, and what was done last."""

_seats: ContextVar[Seats] = ContextVar("shiguan_seats")
_progress: ContextVar[Report] = ContextVar("shiguan_progress")


def current_progress() -> Report:
    """Return what reports the progress of the request being served; nothing is sent where none was asked for."""
    return _progress.get()


def current_seats() -> Seats:
    """Return what limits how many tools run at a time where the request is served."""
    return _seats.get()


async def bind_requests(ctx: ServerRequestContext[Attached, Any], call_next: CallNext) -> HandlerResult:
    """Middleware: bind each request once, before validation, lookup and handlers.

    What is slow is loaded once the first request after the opening ones is answered: most ask for the tools first.
    """
    try:
        return await _bind(ctx, call_next)
    finally:
        if ctx.method not in OPENING:
            ctx.lifespan_context.warm_up()


async def _bind(ctx: ServerRequestContext[Attached, Any], call_next: CallNext) -> HandlerResult:
    attached = ctx.lifespan_context
    if ctx.request_id is None:
        return await call_next(ctx)
    binding = _binding(attached.binder, ctx.params)
    _progress.set(ctx.session.report_progress)
    _seats.set(attached.seats)
    with _bound(attached.memory.of(binding.scope, binding.session) if binding is not None else None):
        return await call_next(ctx)


def _binding(binder: Binder, params: Mapping[str, Any] | None) -> Binding | None:
    """Bind by `_meta` as it was sent: the SDK drops all of one that is malformed, and with it who asks."""
    meta = (params or {}).get("_meta")
    try:
        return binder.bind(meta if isinstance(meta, Mapping) else None)
    except ShiguanError as error:
        from mcp.shared.exceptions import MCPError
        from mcp_types import INVALID_PARAMS

        raise MCPError(code=INVALID_PARAMS, message=str(error)) from None


@contextmanager
def _bound(memory: ScopedMemory | None) -> Generator[None]:
    token = _current.set(memory)
    try:
        yield
    finally:
        _current.reset(token)


Bound = ScopedMemory
"""A tool's memory, bound to the request."""
BOUND_NAME = "memory"
"""The name of the parameter that takes it."""


def with_memory(
    function: Callable[..., Any], room: Callable[[Seats], Room | None]
) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Return a tool's function with its memory filled in; what the SDK passes for that parameter is not looked at.

    One that blocks runs in a thread: in that room, or where there is none, in those of everybody.
    """
    if inspect.iscoroutinefunction(function):

        async def call_soon(memory: object, **arguments: Any) -> Any:
            return await function(current_memory(), **arguments)

        return call_soon

    async def call(memory: object, **arguments: Any) -> Any:
        memory_of_request = current_memory()
        work = partial(function, memory_of_request, **arguments)
        with memory_of_request.awaited():
            found = room(current_seats())
            return await (anyio.to_thread.run_sync(work) if found is None else found.run(memory_of_request.asker, work))

    return call
