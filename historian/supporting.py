"""Whether a statement says no more than its evidence: the same words, numbers and denials, or it is not proven."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from historian.expressions_en import MONTHS
from historian.identity_numbers import figures
from historian.identity_words import Material, check_extract
from historian.wording import lemma

MOST_REASONS = 3
_SAYS = {
    "polarity": "what is denied is not the same ({})",
    "language": "it is written in another language than its evidence; keep the words of the evidence",
    "modality": "it is more certain or less certain than its evidence ({})",
    "order": "numbers or names are in another order ({})",
}


def unsupported(statement: str, texts: Sequence[str], names: Sequence[str], times: Sequence[datetime]) -> str:
    """Return why `statement` does not follow from `texts`, as one sentence, or nothing where it does.

    `names` are those of who said it, `times` (aware) when: both may be told in the statement.
    """
    given = (*names, *(known for time in times for known in _dates(time)))
    drifts = check_extract(Material("\n".join(texts), "", given), statement)
    reasons = [
        _SAYS.get(drift.kind, "{} does not stand in its evidence").format(_as_written(drift.found, statement))
        for drift in drifts
    ]
    said, written = figures("\n".join((*texts, *given))), figures(statement)
    invented = sorted((written.numbers - said.numbers) | (written.ids - said.ids))
    reasons += [f"{found} does not stand in its evidence" for found in invented]
    said_once = "; ".join(list(dict.fromkeys(reasons))[:MOST_REASONS])
    return f"{said_once[0].upper()}{said_once[1:]}." if said_once else ""


def _as_written(found: str, statement: str) -> str:
    """Return the word of the statement that a lemma was made of."""
    return next(
        (word for word in re.findall(r"\w+", statement) if found.isascii() and lemma(word.lower()) == found), found
    )


def _dates(time: datetime) -> tuple[str, ...]:
    month = MONTHS[time.month - 1]
    return (
        time.date().isoformat(),
        f"{time.year} 年 {time.month} 月 {time.day} 日 {time.month}月份",
        f"{month} {month[:3]} {time.day} {time.year}",
    )
