"""Text files of chats: their encoding, their lines, and messages that begin with a heading and go on for lines."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from historian.formats.piece import HEAD_BYTES, Piece

MAX_LINE = 2_000_000
"""Characters of one line that are read; of a longer one the rest counts as a line of its own."""
_MOST = 1_100_000
"""Characters that are gathered of one message; more are refused as too long anyway."""


def encoding_of(piece: Piece) -> str:
    """Return the encoding of a text: by its byte order mark, else UTF-8, else what Chinese Windows writes."""
    head = piece.head
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if head.startswith(mark):
            return name
    for name in ("utf-8", "gb18030"):
        try:
            codecs.getincrementaldecoder(name)().decode(head, final=len(head) < HEAD_BYTES)
        except UnicodeDecodeError:
            continue
        return name
    return "utf-8"


def open_text(piece: Piece, *, newline: str | None = None) -> io.TextIOWrapper:
    """Return a file as text; a byte that is none becomes half a surrogate, so that its message is refused by name."""
    return io.TextIOWrapper(piece.open(), encoding_of(piece), errors="surrogateescape", newline=newline)


def lines(piece: Piece) -> Iterator[str]:
    """Yield the lines of a text without their ends."""
    with open_text(piece) as stream:
        while line := stream.readline(MAX_LINE):
            yield line.removesuffix("\n")


def first_lines(piece: Piece, most: int = 200) -> list[str]:
    """Return the lines in the head of a text, for recognising a format."""
    head = piece.head.decode(encoding_of(piece), "replace")
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
