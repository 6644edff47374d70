"""The owner: one process that holds a data folder and serves every client of it over a local socket."""

from __future__ import annotations

import hmac
import json
import logging
import os
import signal
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from historian.errors import InvalidInputError, ShiguanError
from historian.ids import normalise_id
from historian.model import Scope
from historian.session import Session
from historian.zones import load_zone
from server import __version__
from server.binding import Binder, Binding, FixedBinder
from server.garbage import undisturbed
from server.household import Household
from server.owner.lines import LineSink, LineSource
from server.owner.preamble import MAX_BYTES, differing, digests, encode, is_greeting, is_newer
from server.toolsets import REPEATABLE, require_toolsets
from server.trust import TrustedBinder
from server.web.visits import Guest
from server.web.window import Window
from server.wire import leave_within

if TYPE_CHECKING:
    from server.owner.apps import Apps
    from server.owner.control import Control

GREETING_SECONDS = 10.0
LOOK_SECONDS = 0.25
FIRST_CLIENT_SECONDS = 20.0
"""How long an owner waits for the client that started it, however short its idle time is."""
WRONG_TOKEN = "This client does not know the secret of the data folder; if owner.token changed, end the owner first."

EXIT_SECONDS = 10.0
"""How long a call that cannot be interrupted, say to a slow embedding endpoint, may hold up the end."""

log = logging.getLogger(__name__)


class Owner:
    """Serves connections until it is told to stop, a newer version takes over, or nobody needs it any more.

    One that is also reached over HTTP, at `url`, leaves only when it is told to: others may need it at any time.
    """

    def __init__(
        self, household: Household, token: str, idle_seconds: float, window: Window, url: str | None = None
    ) -> None:
        self._household = household
        self._token = token
        self._idle_seconds = idle_seconds
        self._apps: Apps | None = None
        self._window = window
        self._url = url
        self._control: Control | None = None
        self._stopping = anyio.Event()
        self._clients = 0
        self._last_busy = anyio.current_time() + FIRST_CLIENT_SECONDS - min(idle_seconds, FIRST_CLIENT_SECONDS)

    def stop(self) -> None:
        """Leave soon: finish what is under way and close every connection; clients find or start another owner."""
        self._stopping.set()

    async def run(self, listener: anyio.abc.Listener[SocketStream]) -> None:
        """Serve until stopped."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, self._serve)
            if self._url is None:
                tasks.start_soon(self._leave_when_idle)
            tasks.start_soon(self._leave_on_signal)
            tasks.start_soon(self._window.run)
            await self._stopping.wait()
            leave_within(EXIT_SECONDS)
            tasks.cancel_scope.cancel()

    async def _serve(self, stream: SocketStream) -> None:
        self._clients += 1
        try:
            async with stream:
                await self._converse(stream)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
            log.info("a client hung up")
        finally:
            self._clients -= 1
            self._last_busy = anyio.current_time()

    async def _converse(self, stream: SocketStream) -> None:
        lines = BufferedByteReceiveStream(stream)
        hello: Any = None
        with anyio.move_on_after(GREETING_SECONDS) as greeting:
            try:
                hello = json.loads(await lines.receive_until(b"\n", MAX_BYTES))
            except (ValueError, RecursionError, anyio.DelimiterNotFound, anyio.IncompleteRead):
                return
            welcome = self._answer(hello)
            await stream.send(encode(welcome))
            if not welcome["ok"]:
                await self._hand_over(welcome, stream)
                return
        if greeting.cancelled_caught:  # it said nothing, or took nothing
            return
        if hello["purpose"] == "control":
            guest = Guest(binding_of(hello))
            await self._answering().serve(lines, stream, partial(self._window.link, guest))
        else:
            attached = self._household.attached(binder_of(hello))
            app = (await self._serving()).get(hello["toolsets"])
            await app.serve_lines(attached, LineSource(lines), LineSink(stream))

    def _answering(self) -> Control:
        if self._control is None:
            from server.owner.control import Control  # the first client waits for all that is imported before it

            self._control = Control(self._household, self.stop, self._url)
        return self._control

    async def _serving(self) -> Apps:
        if self._apps is None:
            apps = await anyio.to_thread.run_sync(_load_apps)  # an owner that only commands ask never needs them
            self._apps = self._apps or apps
        return self._apps

    def _answer(self, hello: Any) -> dict[str, Any]:
        """Return the welcome of a client, or why it gets none."""
        if not isinstance(hello, dict) or not _is_same(hello.get("token"), self._token):
            return {"ok": False, "error": WRONG_TOKEN}
        if self._stopping.is_set():
            return {"ok": False, "retry": True}
        is_older = is_newer(str(hello.get("version", "0")), __version__)
        if is_older and self._url is None and hello.get("takeover", True):
            return {"ok": False, "retry": True, "takeover": True}
        if not is_greeting(hello):
            return {"ok": False, "error": "The client and the owner of the data folder differ too much; update both."}
        try:
            require_toolsets(hello["toolsets"])
            binder_of(hello)
        except ShiguanError as error:
            return {"ok": False, "error": str(error)}
        names = differing(hello["settings"], digests(os.environ))
        warnings = [f"{name} differs from the running owner's and has no effect until it restarts." for name in names]
        if is_older and self._url is not None:
            warnings.append(f"The HTTP server that owns the data folder is of version {__version__}; restart it.")
        return {
            "ok": True,
            "version": __version__,
            "pid": os.getpid(),
            "warnings": warnings,
            "repeatable": REPEATABLE,
        }

    async def _hand_over(self, welcome: Mapping[str, Any], stream: SocketStream) -> None:
        """Leave for a newer client once it hangs up, which it does when no other client may start the next owner."""
        if welcome.get("takeover"):
            log.info("a newer version takes over")
            try:
                await stream.receive()
            finally:
                self.stop()

    async def _leave_when_idle(self) -> None:
        while True:
            await anyio.sleep(LOOK_SECONDS)
            if self._clients or self._window.is_used or await anyio.to_thread.run_sync(self._household.has_work):
                self._last_busy = max(self._last_busy, anyio.current_time())
            elif anyio.current_time() - self._last_busy >= self._idle_seconds:
                log.info("idle and drained: leaving")
                self.stop()

    async def _leave_on_signal(self) -> None:
        wanted = [signal.SIGTERM, signal.SIGINT] if os.name != "nt" else [signal.SIGINT]
        with anyio.open_signal_receiver(*wanted) as signals:
            async for _ in signals:
                self.stop()


def _load_apps() -> Apps:
    with undisturbed():
        from server.owner.apps import Apps

    return Apps()


def _is_same(token: object, ours: str) -> bool:
    return hmac.compare_digest(str(token).encode("utf-8", "backslashreplace"), ours.encode())


def binder_of(hello: Mapping[str, Any]) -> Binder:
    """Return what binds the calls of a greeted client. Raises as `binding_of`."""
    binding = binding_of(hello)
    return (
        TrustedBinder(Session(timezone=binding.session.timezone)) if hello.get("trust_host") else FixedBinder(binding)
    )


def binding_of(hello: Mapping[str, Any]) -> Binding:
    """Return on whose behalf a greeted client acts.

    Raises:
        InvalidInputError: an id or the time zone is wrong.
    """
    groups = hello["groups"]
    if not isinstance(groups, list):
        raise InvalidInputError("groups must be a list of names.")
    names = [normalise_id(str(group), "group") for group in groups]
    load_zone(str(hello["timezone"]))
    scope = Scope(normalise_id(str(hello["user"]), "user"), names[0] if len(names) == 1 else None, frozenset(names))
    name = hello.get("name")
    return Binding(scope, Session(timezone=str(hello["timezone"]), sender_name=str(name) if name else None))
