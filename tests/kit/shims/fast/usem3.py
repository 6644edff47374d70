"""Stands in for the built-in embedding model: hashed character pairs, ready at once."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any


class USE:
    """The part of the real class that Shiguan uses."""

    def __init__(self, **_: Any) -> None:
        self.dimension = 512

    def encode(self, texts: str | Sequence[str]) -> Any:
        """Return unit vectors, shape (n, 512)."""
        import numpy as np

        given = [texts] if isinstance(texts, str) else list(texts)
        out = np.zeros((len(given), self.dimension), dtype=np.float32)
        for row, text in enumerate(given):
            folded = f" {text.casefold()} "
            for gram in [*folded, *map("".join, pairwise(folded))]:
                out[row, zlib.crc32(gram.encode("utf-8", "replace")) % self.dimension] += len(gram) ** 2
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        return out
