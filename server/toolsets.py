"""Which tools are published: the default sets always, others where the operator names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_types import ToolAnnotations

from historian.errors import InvalidInputError

DEFAULT_TOOLSETS = ("core", "evidence")
RESERVED_TOOLSETS = ("core", "evidence", "host", "pinned", "group", "recall", "admin")


@dataclass(frozen=True, slots=True)
class Published:
    """One tool as clients see it.

    `aliases` map names accepted for compatibility to parameter names. Of the parameters in `one_of` a call has to send
    one at least. With `needs_admin` a token needs the admin scope for it, as for everything of the admin toolset.
    """

    function: Callable[..., Any]
    name: str
    title: str
    description: str
    annotations: ToolAnnotations
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    one_of: Sequence[str] = ()
    needs_admin: bool = False


def published(toolsets: Sequence[str]) -> list[Published]:
    """Return the tools of the default toolsets and of `toolsets`, in a stable order.

    Raises:
        InvalidInputError: a toolset does not exist (yet); the sentence lists those that do.
    """
    known = by_toolset()
    wanted = [*DEFAULT_TOOLSETS, *toolsets]
    for name in wanted:
        if name not in known:
            raise InvalidInputError(f"There is no toolset {name!r}; the toolsets are {', '.join(known)}.")
    return [tool for name in known if name in wanted for tool in known[name]]


def by_toolset() -> dict[str, list[Published]]:
    """Return every tool there is, by its toolset."""
    from server.tools import admin, context, core, evidence, group, host, leaving, pinned, recall

    return {
        "core": [*core.TOOLS, *context.TOOLS],
        "evidence": evidence.TOOLS,
        "host": host.TOOLS,
        "pinned": pinned.TOOLS,
        "recall": recall.TOOLS,
        "group": group.TOOLS,
        "admin": [*admin.TOOLS, *leaving.TOOLS],
    }
