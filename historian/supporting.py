"""Whether a statement says no more than its evidence: the same words, numbers and denials, or it is not proven."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from historian.expressions_en import MONTHS
from historian.identity_numbers import figures
from historian.identity_words import Material, check_extract, content_of
from historian.wording import lemma

MOST_REASONS = 3
_MONTHS_ZH = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
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
    if not content_of(statement):
        return "It says nothing that evidence could bear out."
    given = (*names, *(known for time in times for known in _dates(time)))
    drifts = check_extract(Material("\n".join(texts), "", given), statement)
    reasons = [
        _SAYS.get(drift.kind, "{} does not stand in its evidence").format(_as_written(drift.found, statement))
        for drift in drifts
    ]
    said, written = figures("\n".join((*texts, *names))), figures(_without_dates(statement, times))
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
    return (f"年 月 日 月份 {month} {month[:3]}",)


def _without_dates(statement: str, times: Sequence[datetime]) -> str:
    """Return a statement without the dates on which its evidence was said, however they are written."""
    for time in times:
        month, chinese = MONTHS[time.month - 1], f"(?:{time.month}|{_MONTHS_ZH[time.month - 1]})"
        for form in (
            rf"{time:%Y-%m-%d}|{time:%Y-%m}",
            rf"(?:{time.year}\s*年\s*)?(?<![\d十]){chinese}\s*月(?:份|\s*{time.day}\s*[日号])?(?!\s*\d)",
            rf"\b(?:{month}|{month[:3]})\b(?:\s+{time.day}(?:st|nd|rd|th)?\b)?(?:,?\s*{time.year}\b)?",
            rf"\b(?<!\d){time.year}(?:\s*年|\b)",
        ):
            statement = re.sub(form, " ", statement, flags=re.IGNORECASE)
    return statement
