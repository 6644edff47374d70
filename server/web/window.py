"""Where the owner of a data folder opens the pages: on a loopback port, or along with what is served anyway."""

from __future__ import annotations

import logging
import os
import socket
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.to_thread

from historian.errors import StoreError
from server.bound_socket import listen
from server.household import Household
from server.owner.address import LOCALHOST
from server.web.visits import Guest, Visits

if TYPE_CHECKING:
    from server.web.answering import Place

SECRET_BYTES = 16

log = logging.getLogger(__name__)


class Window(Protocol):
    """Opens the pages to guests."""

    @property
    def is_used(self) -> bool:
        """Whether somebody looks, or holds a link that still works."""
        ...

    async def link(self, guest: Guest) -> str:
        """Return an address that opens the pages for `guest` once. Raises StoreError."""
        ...

    async def run(self) -> None:
        """Do what has to be done meanwhile, until cancelled."""
        ...


def link_to(place: Place, visits: Visits, guest: Guest) -> str:
    """Return the address that begins a visit of `guest`."""
    from server.web.reception import ENTER  # the pages are loaded when somebody wants to see them

    return f"{place.origin}{place.base}/{ENTER}?key={visits.invite(guest)}"


class OpenWindow:
    """The pages that an HTTP server serves anyway."""

    def __init__(self, place: Place, visits: Visits) -> None:
        self._place = place
        self._visits = visits

    @property
    def is_used(self) -> bool:
        """Whether somebody looks, or holds a link that still works."""
        return self._visits.is_anybody_expected

    async def link(self, guest: Guest) -> str:
        """Return an address that opens the pages for `guest` once."""
        return link_to(self._place, self._visits, guest)

    async def run(self) -> None:
        """Do nothing."""


class LoopbackWindow:
    """The pages on a loopback port, from the first link that is asked for to the end of the owner.

    Cookies know no ports: the path under which the pages lie is a secret, so that the browser sends the cookie of a
    visit to no other server of this machine.
    """

    def __init__(self, household: Household) -> None:
        self._household = household
        self._visits = Visits()
        self._wanted = anyio.Event()
        self._place: Place | None = None
        self._socket: socket.socket | None = None

    @property
    def is_used(self) -> bool:
        """Whether somebody looks, or holds a link that still works."""
        return self._visits.is_anybody_expected

    async def link(self, guest: Guest) -> str:
        """Return an address that opens the pages for `guest` once; the first one opens the port.

        Raises:
            StoreError: there is no port.
        """
        if self._place is None:
            self._socket = _bound()
            origin = f"http://{LOCALHOST}:{self._socket.getsockname()[1]}"
            from server.web.answering import Place

            self._place = Place(origin, f"/{os.urandom(SECRET_BYTES).hex()}")
            self._wanted.set()
        return link_to(self._place, self._visits, guest)

    async def run(self) -> None:
        """Wait until a link is asked for, then serve until cancelled; what is being answered is finished shortly."""
        await self._wanted.wait()
        if self._place is None or self._socket is None:
            return
        place, bound = self._place, self._socket
        from server.web.loopback import make_web

        web = await anyio.to_thread.run_sync(make_web, self._household, place, self._visits)

        async def serve() -> None:
            with anyio.CancelScope(shield=True):
                await web.serve([bound])

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve)
                log.info("the pages are open on %s", place.origin)
                try:
                    await anyio.sleep_forever()
                finally:
                    web.attended.hang_up()
                    web.should_exit = True
        finally:
            bound.close()


def _bound() -> socket.socket:
    try:
        return listen(LOCALHOST, 0)
    except OSError:
        raise StoreError("No loopback port can be opened for the pages; try again.") from None
