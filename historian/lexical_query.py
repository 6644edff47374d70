"""What a lexical query asks for, and whether a text has it.

A bare English word matches its inflections; a phrase, a word with inner punctuation (`c++`, `node.js`, `10:30`) and any
run of CJK characters match literally in the folded text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from historian.fold import MAX_TERM_LENGTH, bigrams, has_cjk, runs
from historian.stems import STOP_CHARACTERS, STOP_WORDS, stem

Mode = Literal["words", "any", "query"]

MAX_ANY_TERMS = 64
"""Terms of a ranked search; the rest of a long question is left out."""

_PHRASE_TERMS = 12


class Text:
    """A folded text that phrases are looked for in; its stems are made when first needed."""

    def __init__(self, folded: str) -> None:
        self.folded = folded

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(stem(run[:MAX_TERM_LENGTH]) for run, is_cjk in runs(self.folded) if not is_cjk)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Something that must stand in the folded text as it is; `stem` is set where an inflection will do."""

    text: str
    stem: str | None = None

    @property
    def terms(self) -> tuple[str, ...]:
        """The index terms that every text with this phrase has; of a long phrase a spread of them."""
        found: list[str] = []
        for run, is_cjk in runs(self.text):
            if is_cjk:
                found.extend(bigrams(run) or [run])
            else:
                found.append(stem(run[:MAX_TERM_LENGTH]))
        unique = list(dict.fromkeys(found))
        step = -(-len(unique) // _PHRASE_TERMS) if unique else 1
        return tuple(unique[::step])

    @property
    def proven_by_terms(self) -> bool:
        """Whether a text with the index terms is sure to match."""
        return self.stem is not None or (len(self.text) <= 2 and list(runs(self.text)) == [(self.text, True)])

    def occurrences(self, text: Text) -> float:
        """Return how often it stands in the text; a mere inflection of the word counts as 0.7."""
        count = text.folded.count(self.text)
        if count and not _needs_no_bounds(self.text):
            count = _count_words(self.text, text.folded)
        if count == 0 and self._is_inflected_in(text):
            return 0.7
        return count

    def _is_inflected_in(self, text: Text) -> bool:
        """Whether a word of the text has the same stem. All but the last letter of a stem begin its words: cheap."""
        return self.stem is not None and self.stem[:-1] in text.folded and self.stem in text.stems


@dataclass(frozen=True, slots=True)
class And:
    """All of `must` and none of `must_not`; `must` is never empty."""

    must: tuple[Node, ...]
    must_not: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of the parts."""

    parts: tuple[Node, ...]


Node = Phrase | And | Or


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `node` is None where there is nothing to look for."""

    node: Node | None
    mode: Mode


@lru_cache(maxsize=256)
def _needs_no_bounds(text: str) -> bool:
    return has_cjk(text[0]) and has_cjk(text[-1])


def _count_words(wanted: str, folded: str) -> int:
    """Count where `wanted` stands without a word going on before or after it."""
    bounded_before, bounded_after = _is_in_word(wanted[0]), _is_in_word(wanted[-1])
    count, at = 0, folded.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        goes_on = (bounded_before and at > 0 and _is_in_word(folded[at - 1])) or (
            bounded_after and end < len(folded) and _is_in_word(folded[end])
        )
        count += not goes_on
        at = folded.find(wanted, at + 1 if goes_on else end)
    return count


def _is_in_word(character: str) -> bool:
    return character.isalnum() and (character.isascii() or not has_cjk(character))


def matches(node: Node, text: Text) -> bool:
    """Say whether a text fulfils a query."""
    if isinstance(node, Phrase):
        return node.occurrences(text) > 0
    if isinstance(node, Or):
        return any(matches(part, text) for part in node.parts)
    return all(matches(part, text) for part in node.must) and not any(matches(part, text) for part in node.must_not)


def match_expression(node: Node) -> str:
    """Return the FTS5 expression that every text fulfilling `node` matches; some that do not may match it, too."""
    if isinstance(node, Phrase):
        return " AND ".join(f'"{term}"' for term in node.terms)
    if isinstance(node, Or):
        return " OR ".join(f"({match_expression(part)})" for part in node.parts)
    wanted = " AND ".join(f"({match_expression(part)})" for part in node.must)
    certain = [part for part in node.must_not if proven_by_index(part)]
    unwanted = " OR ".join(f"({match_expression(part)})" for part in certain)
    return f"({wanted}) NOT ({unwanted})" if unwanted else wanted


def proven_by_index(node: Node) -> bool:
    """Whether `match_expression` matches exactly the texts that fulfil `node`."""
    if isinstance(node, Phrase):
        return node.proven_by_terms
    parts = node.parts if isinstance(node, Or) else (*node.must, *node.must_not)
    return all(proven_by_index(part) for part in parts)


def phrases(node: Node) -> list[Phrase]:
    """Return the phrases that speak for a text, each once, in order."""
    if isinstance(node, Phrase):
        return [node]
    parts = node.parts if isinstance(node, Or) else node.must
    return list(dict.fromkeys(phrase for part in parts for phrase in phrases(part)))


def any_terms(node: Node) -> dict[str, str]:
    """Return the terms of a ranked search: index term to the text to count; stop words and characters left out."""
    found: dict[str, str] = {}
    for phrase in phrases(node):
        for run, is_cjk in runs(phrase.text):
            if not is_cjk:
                if run not in STOP_WORDS:
                    found[stem(run[:MAX_TERM_LENGTH])] = run
                continue
            pairs = [pair for pair in bigrams(run) if not STOP_CHARACTERS.issuperset(pair)]
            found.update((term, term) for term in (*pairs, *run) if term not in STOP_CHARACTERS)
    return dict(list(found.items())[:MAX_ANY_TERMS])
