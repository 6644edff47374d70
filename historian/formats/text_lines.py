"""Text files of chats: their lines, and messages that begin with a heading and go on for lines."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from historian.formats.encodings import encoding_of
from historian.formats.piece import HEAD_BYTES, Piece

MAX_LINE = 2_000_000
"""Characters of one line that are read; of a longer one the rest counts as a line of its own."""
_MOST = 1_100_000
"""Characters that are gathered of one message; more are refused as too long anyway."""


def open_text(piece: Piece, *, newline: str | None = None) -> io.TextIOWrapper:
    """Return a file as text; a byte that is none becomes half a surrogate, so that its message is refused by name."""
    return io.TextIOWrapper(piece.open(), _encoding(piece), errors="surrogateescape", newline=newline)


def lines(piece: Piece) -> Iterator[str]:
    """Yield the lines of a text without their ends."""
    with open_text(piece) as stream:
        while line := stream.readline(MAX_LINE):
            yield line.removesuffix("\n")


def first_lines(piece: Piece, most: int = 200) -> list[str]:
    """Return the lines in the head of a text, for recognising a format."""
    head = piece.head.decode(_encoding(piece), "replace")
    return head.removeprefix("\ufeff").splitlines()[:most]


@dataclass(frozen=True, slots=True)
class Spoken:
    """A heading, the number of its line, and the text below it."""

    number: int
    heading: re.Match[str]
    body: str


def spoken(
    piece: Piece, heading: Callable[[str], re.Match[str] | None], first: str | None = None
) -> Iterator[Spoken | str]:
    """Yield messages: a heading, what its group `first` has, and all lines up to the next one.

    Lines before the first heading come back as they are.
    """
    current: re.Match[str] | None = None
    begun = length = 0
    body: list[str] = []
    for number, line in enumerate(lines(piece), start=1):
        found = heading(line)
        if found is not None:
            if current is not None:
                yield Spoken(begun, current, "\n".join(body).strip())
            current, begun = found, number
            body = [found[first]] if first else []
            length = sum(map(len, body))
        elif current is None:
            yield line
        elif length < _MOST:
            body.append(line)
            length += len(line) + 1
    if current is not None:
        yield Spoken(begun, current, "\n".join(body).strip())


def _encoding(piece: Piece) -> str:
    return encoding_of(piece.head, whole=len(piece.head) < HEAD_BYTES)
