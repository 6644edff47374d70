"""Whether a sentence tells something of its speaker's own life, in either language alike."""

from __future__ import annotations

import re
from typing import Final, Literal

from historian.life_en import BONDS_EN, FACTS_EN, UNSURE_EN
from historian.life_zh import BONDS_ZH, FACTS_ZH, UNSURE_ZH
from historian.patterns import lazy_pattern

_UNSURE: Final = (lazy_pattern(UNSURE_EN), lazy_pattern(UNSURE_ZH))
_TELLS: Final[tuple[tuple[Literal["relationship", "fact"], re.Pattern[str]], ...]] = (
    *(("relationship", lazy_pattern(row)) for row in (*BONDS_EN, *BONDS_ZH)),
    *(("fact", lazy_pattern(row)) for row in (*FACTS_EN, *FACTS_ZH)),
)


def told_of_life(sentence: str) -> Literal["relationship", "fact"] | None:
    """Return what kind of thing a plain sentence tells of its speaker's life, or None: most tell nothing.

    What happened, what somebody has, does and learns, and what is so with those close to them; not what is
    only dreamt, supposed, quoted or nearly so.
    """
    if any(doubt.search(sentence) for doubt in _UNSURE):
        return None
    return next((kind for kind, pattern in _TELLS if pattern.search(sentence)), None)
