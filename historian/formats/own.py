"""What `shiguan export` writes: messages, events, memos and profiles, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator

from historian.formats.json_lines import objects, samples
from historian.formats.outcome import Outcome, Own, Refusal
from historian.formats.piece import Bundle, Piece, Reading
from historian.takeout import FORMAT, KINDS


class OwnExport:
    """An export of this memory; the memory itself looks at what the lines say."""

    name = FORMAT

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """One of the first lines says that it is one, or the lines are of its kinds and have owners."""
        del bundle
        lines = samples(piece)
        return any(line.get("kind") == KINDS[0] and line.get("format") == FORMAT for line in lines) or any(
            line.get("kind") in KINDS[1:] and "owner" in line for line in lines
        )

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield each line as it is."""
        del bundle, reading
        for found in objects(piece):
            yield found if isinstance(found, Refusal) else Own(found[0], found[1])
