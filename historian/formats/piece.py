"""One file of an export, wherever it lies, and the files beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import BinaryIO, Protocol

HEAD_BYTES = 1 << 18
"""How much of a file is looked at to recognise its format."""


class Piece(Protocol):
    """A file of a folder or of an archive."""

    @property
    def name(self) -> str:
        """Its path below the folder or archive, with `/` between the parts."""
        ...

    @property
    def title(self) -> str:
        """What a person calls it: the name of the file, or of the archive that has only this one."""
        ...

    @property
    def size(self) -> int:
        """Its size in bytes."""
        ...

    @property
    def modified(self) -> float:
        """When it was last written, in epoch seconds."""
        ...

    @property
    def head(self) -> bytes:
        """Its first `HEAD_BYTES` bytes. Raises InvalidInputError where it cannot be read."""
        ...

    def open(self) -> BinaryIO:
        """Return its bytes from the beginning. Reading raises InvalidInputError where they are damaged."""
        ...


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files that were named together: those of a folder or an archive, or a single one."""

    pieces: Sequence[Piece]

    def named(self) -> Mapping[str, Piece]:
        """Return them by name."""
        return {piece.name: piece for piece in self.pieces}


@dataclass(frozen=True, slots=True)
class Reading:
    """On whose behalf an export is read.

    `zone` is that of times without an offset. `me` are names and ids by which the export calls the user, who is
    `user` here.
    """

    user: str
    zone: tzinfo
    me: frozenset[str] = frozenset()

    def sender(self, prefix: str, *names: str) -> str:
        """Return the sender that is called by any of `names`: the user, else the first of them behind the prefix.

        The prefix keeps a person of another program from being taken for one of this memory.
        """
        known = [name for name in names if name]
        if any(name in self.me for name in known):
            return self.user
        return f"{prefix}{known[0]}" if known else ""
