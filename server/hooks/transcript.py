"""The end of a transcript: what was said since the last look."""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any, BinaryIO

from historian.durable import DiskErrors
from historian.formats.claude_code import ClaudeCode
from historian.formats.outcome import Read
from historian.formats.piece import Bundle, Reading

_CLOSED = re.compile(rb'"name"\s*:\s*"mcp__[^"]*shiguan[^"]*__end"')


@dataclass(frozen=True, slots=True)
class Tail:
    """Messages of a transcript as `historian.intake` takes them, oldest first.

    `end` is where they end, in bytes. `is_closed` says that the agent closed its turn with the tool `end` itself.
    """

    messages: tuple[dict[str, Any], ...]
    end: int
    is_closed: bool


def read_tail(transcript: Path, start: int | None, most: int, user: str, zone: tzinfo) -> Tail:
    """Return what stands in a transcript behind byte `start`, at most its last `most` bytes.

    A last line that is not finished waits for the next look. A transcript shorter than `start` was written anew.

    Raises:
        StoreError: it cannot be read.
    """
    with DiskErrors(), transcript.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        known = start if start is not None and start <= size else 0
        first = max(known, size - most)
        file.seek(first)
        data = file.read(size - first)
    if first > known:
        data = data[data.find(b"\n") + 1 :]  # it begins within a line
    whole = data[: data.rfind(b"\n") + 1]
    piece = _Piece(transcript.name, whole)
    found = ClaudeCode().read(piece, Bundle((piece,)), Reading(user, zone))
    messages = tuple(one.message for one in found if isinstance(one, Read))
    return Tail(messages, size - (len(data) - len(whole)), bool(_CLOSED.search(whole)))


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines in memory, as a file of an export."""

    name: str
    head: bytes
    modified: float = 0.0

    @property
    def title(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        return len(self.head)

    def open(self) -> BinaryIO:
        return io.BytesIO(self.head)
