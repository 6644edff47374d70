"""How strong a statement is: strengthened by what confirms it, fading while nothing does."""

from __future__ import annotations

import math
from dataclasses import dataclass

NEW = 0.5
"""What a new statement has."""
GAIN = 0.3
"""The part of what is missing to 1 that a confirmation adds."""
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class StrengthRule:
    """Half of the strength is gone after `half_life_days` without a confirmation; below `floor` it is proposed to
    delete a statement. With the defaults one that was never confirmed comes to that after 19 days.
    """

    half_life_days: float = 14.0
    floor: float = 0.2

    def faded(self, strength: float, since_ms: int, now_ms: int) -> float:
        """Return what is left of a strength; time that runs backwards changes nothing."""
        days = max(0, now_ms - since_ms) / DAY_MS
        return clamped(strength * 0.5 ** (days / self.half_life_days))

    def strengthened(self, strength: float) -> float:
        """Return a strength after one confirmation."""
        return clamped(strength + GAIN * (1.0 - strength))

    def is_weak(self, strength: float) -> bool:
        """Say whether a statement is so weak that the next run is asked to delete it."""
        return strength < self.floor


def clamped(strength: float) -> float:
    """Return a strength within 0..1; what is no number is 0."""
    return min(1.0, max(0.0, strength)) if math.isfinite(strength) else (1.0 if strength == math.inf else 0.0)
