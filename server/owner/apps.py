"""One server per set of toolsets, made when the first client asks for it: making one takes tens of milliseconds."""

from __future__ import annotations

from collections.abc import Sequence

from server.app import ShiguanServer, build_app


class Apps:
    """The servers of one owner. For the event loop's thread."""

    def __init__(self) -> None:
        self._known: dict[frozenset[str], ShiguanServer] = {}

    def get(self, toolsets: Sequence[str]) -> ShiguanServer:
        """Return the server that publishes `toolsets` beside the default ones.

        Raises:
            InvalidInputError: a toolset does not exist.
        """
        key = frozenset(toolsets)
        if key not in self._known:
            self._known[key] = build_app([*toolsets])
        return self._known[key]
