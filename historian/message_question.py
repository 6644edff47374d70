"""What a question about the record says besides its words: who is meant, whose turn it was, on which day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from historian.expressions_en import MONTHS
from historian.fold import has_cjk
from historian.message_ranking import Wanted
from historian.model import ROLES
from historian.named_days import named_days
from historian.patterns import lazy_pattern
from historian.stems import STOP_WORDS

Participant = tuple[str, str]
"""Sender id and sender name; what is unknown is empty."""

MOST_NAMES = 2_000
"""Names of a scope that a question is searched for."""
MOST_CHARACTERS = 2_000
"""Characters of a question that names and days are looked for in."""

_NO_NAMES = frozenset({*ROLES, "ai", "bot", "me", "我", "你"})
_COMMON = frozenset({*STOP_WORDS, *MONTHS, "mark", "bill", "hope", "grace", "rose", "sue", "art", "frank", "ray"})
"""Names that are words as well; they count as names only where they begin with a capital, as a name does."""
_GIVEN_NAME = lazy_pattern(r"[\u4e00-\u9fff]{3}\Z")
# Can you tell me …, 你还记得…: the one who is asked is not the one who is asked about.
_REQUEST = lazy_pattern(
    r"\b(?:can|could|would|will|do) you (?:please |still )?(?:tell|remind|remember|recall|know|find|show|help|list)\b"
    r"|你(?:还|能|可以|可不可以|能不能)*(?:记得|知道|告诉|帮|找)",
    re.IGNORECASE,
)
_PERSON = lazy_pattern(r"\b(?:(?P<first>i|me|my|mine)|you|your|yours)\b|(?P<wo>我)(?!们)|[你您](?!们)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as each arm gets it: `meaning` is embedded, `words` are looked up, `wanted` orders what was found."""

    meaning: str
    words: str
    wanted: Wanted


def understand(text: str, participants: Iterable[Participant], asked_at: datetime) -> Question:
    """Return what a question asks for. `participants` are those of the record that it is asked about.

    People hardly say their own name, and a name pulls in greetings addressed to that person. So names of participants
    become "I" for the embedding and are no search terms; whom they name wrote what is looked for.
    """
    head = text[:MOST_CHARACTERS]
    people = [*participants][:MOST_NAMES]
    named = _named(head, people)
    authors = frozenset(person for people_named in named.values() for person in people_named)
    meaning, words = text, text
    if named:
        pattern = re.compile("|".join(_pattern(name) for name in sorted(named, key=len, reverse=True)), re.IGNORECASE)
        first = "我" if has_cjk(_without(pattern, head, "")) else "I"
        meaning, words = _without(pattern, text, first), _without(pattern, text, " ")
    everyone = authors.issuperset(people)
    wanted = Wanted(frozenset() if everyone else authors, _role(head), named_days(head, asked_at))
    return Question(meaning if _says_more(meaning) else text, words if _says_more(words) else text, wanted)


def _named(text: str, people: Sequence[Participant]) -> dict[str, list[Participant]]:
    """Return the names of participants that stand in a text, and whose they are."""
    lowered = text.casefold()
    found: dict[str, list[Participant]] = {}
    for person in people:
        for name in _names(person):
            if name.casefold() in lowered and _stands_in(name, text):
                found.setdefault(name, []).append(person)
    return found


def _names(person: Participant) -> Iterable[str]:
    """Return what a participant may be called: id, name, and the part of it that friends use."""
    for known in dict.fromkeys(part.strip() for part in person):
        if len(known) < 2 or known.isdigit() or known.casefold() in _NO_NAMES:
            continue
        yield known
        first = known.split()[0]
        if first != known and len(first) > 2 and first.isalpha() and first.casefold() not in _NO_NAMES:
            yield first
        if _GIVEN_NAME.match(known):
            yield known[1:]


def _stands_in(name: str, text: str) -> bool:
    if name.casefold() in _COMMON:
        return re.search(_pattern(name.capitalize()), text) is not None
    return re.search(_pattern(name), text, re.IGNORECASE) is not None


def _pattern(name: str) -> str:
    """Return the pattern of a name: between Latin letters it is a part of another word, between CJK characters not."""
    before = r"(?<![A-Za-z0-9_])" if name[0].isascii() else ""
    after = r"(?![A-Za-z0-9_])" if name[-1].isascii() else ""
    return f"@?{before}{re.escape(name)}{after}"


def _without(pattern: re.Pattern[str], text: str, instead: str) -> str:
    return " ".join(pattern.sub(instead, text).split())


def _says_more(text: str) -> bool:
    return re.search(r"\w", re.sub(r"\bI\b|我", "", text)) is not None


def _role(text: str) -> str | None:
    """Return whose turn a question is about: mine, of the user, or yours, of the assistant."""
    person = _PERSON.search(_REQUEST.sub(" ", text))
    if person is None:
        return None
    return "user" if person["first"] or person["wo"] else "assistant"
