"""What a host tells a hook on stdin."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from historian.errors import InvalidInputError

MOST_BYTES = 8_000_000
"""A host sends a few hundred bytes, or a long prompt."""


class Payload:
    """A JSON object of which nobody promised the shape; what is missing is empty."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    @classmethod
    def read(cls, stream: BinaryIO) -> Payload:
        """Return what stands on `stream`.

        Raises:
            InvalidInputError: it is no JSON object.
        """
        try:
            fields: object = json.loads(stream.read(MOST_BYTES).decode("utf-8-sig"))
        except (ValueError, RecursionError, OSError):
            raise InvalidInputError("A hook reads a JSON object from stdin; this is none.") from None
        if not isinstance(fields, dict):
            raise InvalidInputError("A hook reads a JSON object from stdin; this is none.")
        return cls(fields)

    def text(self, name: str) -> str:
        """Return a text, "" where there is none. Half a surrogate pair is left out."""
        value = self._fields.get(name)
        return value.encode("utf-8", "ignore").decode() if isinstance(value, str) else ""

    @property
    def event(self) -> str:
        """Which hook this is, as the host calls it."""
        return self.text("hook_event_name")

    @property
    def session(self) -> str:
        """The id of the conversation."""
        return self.text("session_id").strip()

    @property
    def transcript(self) -> Path | None:
        """Where the host writes the conversation down."""
        name = self.text("transcript_path").replace("\0", "").strip()
        try:
            return Path(name).expanduser() if name else None
        except RuntimeError:  # it begins with the home of somebody who is not there
            return None
