"""Every toolset of this version, found by asking for each reserved name: a new one is covered by itself."""

from __future__ import annotations

from historian.errors import InvalidInputError
from server.toolsets import RESERVED_TOOLSETS, published


def existing_toolsets() -> list[str]:
    """Return the names under which tools are published."""
    found: list[str] = []
    for name in RESERVED_TOOLSETS:
        try:
            published([name])
        except InvalidInputError:
            continue
        found.append(name)
    return found
