"""Whether a statement says no more than its evidence: the same words, numbers and denials, or it is not proven."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from historian.expressions_en import MONTHS
from historian.fold import has_cjk
from historian.identity import Drift
from historian.identity_numbers import figures
from historian.identity_words import Material, check_extract, content_of
from historian.stances import clauses, is_denied
from historian.wording import lemma

MOST_REASONS = 3
_MONTHS_ZH = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_SAYS = {
    "polarity": "what is denied is not the same ({})",
    "language": "it is written in another language than its evidence; keep the words of the evidence",
    "modality": "it is more certain or less certain than its evidence ({})",
    "order": "numbers or names are in another order ({})",
}


def unsupported(statement: str, texts: Sequence[str], names: Sequence[str], days: Sequence[date]) -> str:
    """Return why `statement` does not follow from `texts`, as one sentence, or nothing where it does.

    `names` are those of who said it, `days` when, and which days it names: both may be told in the statement.
    """
    statement = _without_dates(statement, days)
    if not content_of(statement):
        return "It says nothing that evidence could bear out."
    drifts = check_extract(Material("\n".join(texts), "", tuple(names)), statement)
    reasons = [
        _SAYS.get(drift.kind, "{} does not stand in its evidence").format(_as_written(drift.found, statement))
        for drift in _joined(drifts, statement)
    ]
    if not reasons and _joins_denied(statement, texts, names):
        reasons.append("It joins what is denied with what is said of another thing")
    said, written = figures("\n".join((*texts, *names))), figures(statement)
    invented = sorted((written.numbers - said.numbers) | (written.ids - said.ids))
    reasons += [f"{found} does not stand in its evidence" for found in invented]
    said_once = "; ".join(list(dict.fromkeys(reasons))[:MOST_REASONS])
    return f"{said_once[0].upper()}{said_once[1:]}." if said_once else ""


def _joins_denied(statement: str, texts: Sequence[str], names: Sequence[str]) -> bool:
    """Say whether a statement that denies nothing is made of a denied clause and of another one.

    "Allergic to walnuts" and "don't eat pork" are no allergy to pork.
    """
    if any(is_denied(clause) for clause in clauses(statement)):
        return False
    told = set(content_of(statement)).difference(*(content_of(name) for name in names))
    said = [(is_denied(clause), set(content_of(clause))) for text in texts for clause in clauses(text)]
    free = set[str]().union(*(content for denied, content in said if not denied))
    return any(told & content - free and told - content for denied, content in said if denied)


def _joined(drifts: Sequence[Drift], statement: str) -> list[Drift]:
    """Return the drifts, with characters that were invented side by side as one word: 巴黎 rather than 巴 and 黎."""
    signs = {drift.found for drift in drifts if drift.kind == "word_invented" and has_cjk(drift.found)}
    words = re.findall(f"[{''.join(signs)}]+", statement) if signs else []
    if not words:
        return [*drifts]
    others = [drift for drift in drifts if not (drift.kind == "word_invented" and drift.found in signs)]
    return [*(Drift("word_invented", word) for word in words), *others]


def _as_written(found: str, statement: str) -> str:
    """Return the word of the statement that a lemma was made of."""
    return next(
        (word for word in re.findall(r"\w+", statement) if found.isascii() and lemma(word.lower()) == found), found
    )


def _without_dates(statement: str, days: Sequence[date]) -> str:
    """Return a statement without the dates on which its evidence was said, whole ones first, however written."""
    for forms in zip(*(_forms(day) for day in days), strict=True):
        for form in forms:
            statement = re.sub(form, " ", statement, flags=re.IGNORECASE)
    return statement


def _forms(day: date) -> tuple[str, ...]:
    """Return patterns of a date: day, month and year."""
    month, chinese = MONTHS[day.month - 1], f"(?:{day.month}|{_MONTHS_ZH[day.month - 1]})"
    english, year = rf"\b(?:{month}|{month[:3]})\b", rf"(?:,?\s*{day.year}\b)?"
    return (
        rf"(?<!\d){day:%Y-%m-%d}(?!\d)"
        rf"|(?:{day.year}\s*年\s*)?(?<![\d十]){chinese}\s*月\s*{day.day}\s*[日号]"
        rf"|{english}\s+{day.day}(?:st|nd|rd|th)?\b{year}",
        rf"(?<!\d){day:%Y-%m}(?![\d-])|(?:{day.year}\s*年\s*)?(?<![\d十]){chinese}\s*月份?(?!\s*\d)|{english}(?!\s+\d{{1,2}}\b){year}",
        rf"(?<![\d-]){day.year}(?:\s*年|(?![\d-]))",
    )
