"""BM25 over a pool of candidates, normalised to 0..1.

    s    = Σ idf · weight · tf · (K1 + 1) / (tf + K1 · (1 - B + B · length / average length))
    best = Σ idf · weight · (K1 + 1) / (1 + K1 · (1 - B))

`idf = ln(1 + (N - n + 0.5) / (n + 0.5))`, counted among the rows that the asker may read and nobody else's. `best` is
what a very short text that mentions every term once would get; the score is `s / best`, at most 1. One mention of
everything in a text of average length gives 0.78.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

K1 = 1.2
B = 0.4
_ROOM = (K1 + 1) / (1 + K1 * (1 - B))


def idf(total: int, holding: int) -> float:
    """Return how telling a term is that `holding` of `total` texts have; always above 0."""
    holding = min(holding, total)
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


class Scorer:
    """Scores texts by how often they mention each of some terms.

    `weights` holds `idf · weight` per term, `average` the mean length of a text.
    """

    def __init__(self, weights: Sequence[float], average: float) -> None:
        self._weights = weights
        self._average = max(average, 1.0)
        self._best = _ROOM * sum(weights)

    def score(self, mentions: Sequence[float], length: float) -> float:
        """Return the score of a text with so many mentions of each term, 0..1, rounded to six places."""
        damping = K1 * (1 - B + B * length / self._average)
        total = 0.0
        for weight, tf in zip(self._weights, mentions, strict=True):
            if tf:
                total += weight * tf * (K1 + 1) / (tf + damping)
        return round(min(1.0, total / self._best), 6) if self._best else 0.0
