"""Which tools are published: the default sets always, others where the operator names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from historian.errors import InvalidInputError

if TYPE_CHECKING:  # what toolsets there are is asked before anything is loaded
    from mcp_types import ToolAnnotations

    from server.seats import Room, Seats

DEFAULT_TOOLSETS = ("core", "evidence")
REPEATABLE = (
    "build_context",
    "end",
    "export",
    "get_profile",
    "group_memories",
    "lexical_search",
    "memory_add",
    "memory_changes",
    "memory_delete",
    "memory_history",
    "memory_list",
    "memory_status",
    "memory_update",
    "messages_append",
    "messages_list",
    "neighbors",
    "profile_history",
    "recall",
    "search_events",
    "search_group_memories",
    "search_profiles",
    "semantic_search",
    "verify_view",
)
"""Tools that may be called again when it is not known whether a call arrived, as their annotations say.

Listed here since a client is told of them before any tool is loaded.
"""


@dataclass(frozen=True, slots=True)
class Published:
    """One tool as clients see it.

    `aliases` map names accepted for compatibility to parameter names. Of the parameters in `one_of` a call has to send
    one at least. With `needs_admin` a token needs the admin scope for it, as for everything of the admin toolset.
    One that `takes_long` may compute for seconds, one that `asks_model` waits for a chat model.
    """

    function: Callable[..., Any]
    name: str
    title: str
    description: str
    annotations: ToolAnnotations
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    one_of: Sequence[str] = ()
    needs_admin: bool = False
    takes_long: bool = False
    asks_model: bool = False

    def room(self, seats: Seats) -> Room | None:
        """Return where it runs now; None is in the threads in which turns are handed in."""
        reads = bool(self.annotations.read_only_hint)
        return seats.room(reads=reads, takes_long=self.takes_long, asks_model=self.asks_model)


def require_toolsets(names: Iterable[str]) -> None:
    """Raise InvalidInputError for a toolset that does not exist; the sentence lists those that do."""
    for name in names:
        if name not in TOOLSETS:
            raise InvalidInputError(f"There is no toolset {name!r}; the toolsets are {', '.join(TOOLSETS)}.")


def published(toolsets: Sequence[str]) -> list[Published]:
    """Return the tools of the default toolsets and of `toolsets`, in a stable order.

    Raises:
        InvalidInputError: as `require_toolsets`.
    """
    require_toolsets(toolsets)
    wanted = {*DEFAULT_TOOLSETS, *toolsets}
    return [tool for name, load in TOOLSETS.items() if name in wanted for tool in load()]


def by_toolset() -> dict[str, list[Published]]:
    """Return every tool there is, by its toolset."""
    return {name: load() for name, load in TOOLSETS.items()}


def _core() -> list[Published]:
    from server.tools import context, core

    return [*core.TOOLS, *context.TOOLS]


def _evidence() -> list[Published]:
    from server.tools import evidence

    return evidence.TOOLS


def _host() -> list[Published]:
    from server.tools import host

    return host.TOOLS


def _pinned() -> list[Published]:
    from server.tools import pinned

    return pinned.TOOLS


def _recall() -> list[Published]:
    from server.tools import recall

    return recall.TOOLS


def _group() -> list[Published]:
    from server.tools import group

    return group.TOOLS


def _admin() -> list[Published]:
    from server.tools import admin, leaving

    return [*admin.TOOLS, *leaving.TOOLS]


# What is not published is not imported: each toolset costs the start of a server.
TOOLSETS: Mapping[str, Callable[[], list[Published]]] = {
    "core": _core,
    "evidence": _evidence,
    "host": _host,
    "pinned": _pinned,
    "recall": _recall,
    "group": _group,
    "admin": _admin,
}
