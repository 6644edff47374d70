"""Whether a statement about a group says what its messages say: refused only where they clearly say otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from historian.fold import has_cjk
from historian.group_page import Page
from historian.identity import negations
from historian.identity_numbers import clock_readings, figures
from historian.identity_persons import described, is_supported, persons
from historian.overlap import share
from historian.patterns import lazy_pattern

SAME_MATTER = 0.6
"""Share of a statement that stands in a clause which is about the same matter."""
_CLAUSES = lazy_pattern(r"[，。；！,;!\n]|\.\s|\b(?:but|however)\b|但")
_ASKS = lazy_pattern(r"[?？]|[吗呢]\s*$|能不能|可不可以|是不是|有没有")
_AVERSE = lazy_pattern(
    r"避免|禁|忌|拒|反对|讨厌|少|停|"
    r"\b(?i:avoid|against|refrain|bann?|forb|prohibit|dislike|hate|except|only|stop|few|rare|unless|instead)"
)
_DAY = lazy_pattern(
    r"\d{4}\s?(?:-|/|\.|年)\s?\d{1,2}(?:\s?(?:-|/|\.|月)\s?\d{1,2}\s?[日号]?|\s?月)?|\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号])?|"
    r"\d{1,2}:\d{2}|(?:19|20)\d\d(?!\d)|"
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s\d{1,2}(?:st|nd|rd|th)?|"
    r"\b\d{1,2}(?:st|nd|rd|th)?\s(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
)
_WORD = lazy_pattern(r"[A-Za-z]{2,}")


class StatementCheck:
    """Checks statements against the page for which they were made."""

    def __init__(self, page: Page) -> None:
        people = page.people
        self._page = page
        self._names = (*people.names.values(), *people.ids)
        self._said = {stored.message.message_id: stored.message.content for stored in page.messages}
        self._sources = (*self._said.values(), *(one.statement for one in page.statements))

    def wrong(self, text: str, message_ids: Sequence[str], earlier: Sequence[str]) -> str | None:
        """Return why a statement cannot stand, or None. `message_ids` are cited, `earlier` is what it said before."""
        cited = [self._said[one] for one in message_ids if one in self._said]
        if self._is_foreign(text, [*cited, *earlier]):
            return "The statement is in another language than the messages behind it."
        for name in dict.fromkeys((*persons(text), *described(text))):
            if not name.endswith("s") and not is_supported(name, self._sources, self._names):
                return f"The statement names {name}, whom no message names."
        number = self._invented_number(text)
        if number:
            return f"The statement has the number {number}, which no message has."
        if _is_turned(text, cited or earlier):
            return "The statement says the opposite of the messages behind it."
        return None

    def _is_foreign(self, text: str, sources: Sequence[str]) -> bool:
        is_cjk = has_cjk(text)
        if is_cjk == (self._page.language == "zh") or (not is_cjk and len(_WORD.findall(text)) < 3):
            return False
        spoken = [source for source in sources if has_cjk(source) or _WORD.search(source)]
        return bool(spoken) and all(has_cjk(source) != is_cjk for source in spoken)

    def _invented_number(self, text: str) -> str | None:
        """Return a number that stands nowhere; days follow from when things were said, and people can be counted."""
        given = [figures(self._nameless(source)).numbers | clock_readings(source) for source in self._sources]
        most = max(len(self._said), len(self._page.people.ids))
        written = figures(self._nameless(_DAY.sub(" ", text))).numbers
        left = sorted(written.difference(*given))
        return next((one for one in left if not (one.isdecimal() and int(one) <= most)), None)

    def _nameless(self, text: str) -> str:
        for name in sorted(self._names, key=len, reverse=True):
            if len(name) > 1 and not name.isdigit():
                text = text.replace(name, " ")
        return text


def _is_turned(text: str, sources: Sequence[str]) -> bool:
    """Tell whether all that is said of the same matter denies what the text affirms, or the other way round."""
    clauses = [clause for source in sources if not _ASKS.search(source) for clause in _CLAUSES.split(source)]
    same = [clause for clause in clauses if clause.strip() and share(text, [clause]) >= SAME_MATTER]
    return bool(same) and all(_denies(clause) != _denies(text) for clause in same)


def _denies(text: str) -> bool:
    return bool(negations(text)) or _AVERSE.search(text) is not None
