"""The servers that clients in this process share: making one takes longer than most of what is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from server.app import ShiguanServer, attach, build_app
from server.binding import Binder
from server.household import Household


def app_over(household: Household, binder: Binder, toolsets: Sequence[str] = ()) -> ShiguanServer:
    """Return a server whose next session from here is over `household`, whose historian somebody else runs.

    Raises:
        InvalidInputError: a toolset does not exist.
    """
    attach(household.attached(binder))
    return _app_of(frozenset(toolsets))


@cache
def _app_of(toolsets: frozenset[str]) -> ShiguanServer:
    return build_app(sorted(toolsets))
