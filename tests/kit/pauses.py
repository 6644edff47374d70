"""How long to wait between two looks at what can only be asked for: asking costs the server work too."""

from __future__ import annotations

from collections.abc import Iterator


def pauses(first: float = 0.02, longest: float = 0.25) -> Iterator[float]:
    """Yield seconds without end: the longer it has taken, the longer they are, by a quarter each time."""
    while True:
        yield first
        first = min(first * 1.25, longest)
