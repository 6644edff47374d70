"""What a format is: it recognises a file by its content, and reads it as messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from historian.formats.outcome import Outcome
from historian.formats.piece import Bundle, Piece, Reading


class Format(Protocol):
    """One program's export. Stateless; a file may be gigabytes large and is read as it streams by."""

    @property
    def name(self) -> str:
        """What `--format` calls it."""
        ...

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """Say whether this file is of this format, by its head and, where need be, by the files beside it."""
        ...

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield what each record comes to. A broken one is a `Refusal` and never ends the reading.

        Raises:
            InvalidInputError: the rest of the file cannot be read; what was yielded stands.
        """
        ...
