"""What a lexical query asks for: words, "phrases", AND / OR / NOT and parentheses. No text is an error.

A bare English word matches its inflections; a phrase, a word with inner punctuation (`c++`, `node.js`, `10:30`) and any
run of CJK characters match literally in the folded text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from historian.fold import CJK, MAX_TERM_LENGTH, bigrams, fold, has_cjk, runs
from historian.patterns import lazy_pattern
from historian.stems import STOP_CHARACTERS, STOP_WORDS, stem

Mode = Literal["words", "any", "query"]

MAX_QUERY_LENGTH = 2_000
"""Characters of a query that are looked at."""
MAX_PHRASES = 32
"""Words and phrases of a query that are looked at."""
MAX_ANY_TERMS = 64
"""Terms of a ranked search; the rest of a long question is left out."""

_PHRASE_TERMS = 12
_MAX_DEPTH = 16
_WORD_CHARACTER = f"(?:(?![{CJK}])[^\\W_])"
_PIECE = lazy_pattern(
    rf"(?:[{CJK}]|{_WORD_CHARACTER}[._'@:/&+#-]+(?={_WORD_CHARACTER})|\d,(?=\d)"
    rf"|{_WORD_CHARACTER}[+#]{{1,2}}(?!{_WORD_CHARACTER})|{_WORD_CHARACTER}|_)+"
)
_TOKEN = lazy_pattern(
    r'"([^"]*)"|＂([^＂]*)＂|“([^“”]*)”|「([^「」]*)」|『([^『』]*)』|([()（）])|([^\s"＂“”「」『』()（）]+)'
)
_OPERATORS = frozenset({"AND", "OR", "NOT"})


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
class _Not:
    part: Node


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


def parse(raw: str) -> Query:
    """Read a query. Operators count in upper case only; a stray operator, quote or parenthesis is passed over."""
    tokens = list(_tokens(raw[:MAX_QUERY_LENGTH]))
    if not any(kind in ("word", "phrase") for kind, _ in tokens):
        tokens = [("word", text.lower()) if kind == "operator" else (kind, text) for kind, text in tokens]
    asked = any(kind in ("operator", "phrase") for kind, _ in tokens)
    node = _Parser(tokens if asked else [token for token in tokens if token[0] != "paren"]).everything()
    return Query(node, "query" if asked else "words")


def _tokens(raw: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(raw):
        text = match.group(match.lastindex or 0)
        if match.lastindex == 6:
            yield "paren", text
        elif match.lastindex == 7:
            yield ("operator" if text in _OPERATORS else "word"), text
        else:
            yield "phrase", text


class _Parser:
    """Recursive descent over tokens; what does not fit is skipped."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._phrases = 0

    def everything(self) -> Node | None:
        parts: list[Node | _Not] = []
        while self._at < len(self._tokens):
            part = self._alternatives()
            if part is not None:
                parts.append(part)
            self._at += 1  # a closing parenthesis that nothing opened
        node = _conjunction(parts)
        return None if isinstance(node, _Not) else node

    def _peek(self) -> str:
        if self._at >= len(self._tokens):
            return "end"
        kind, text = self._tokens[self._at]
        return text if kind == "operator" else {"(": "(", "（": "(", ")": ")", "）": ")"}.get(text, kind)

    def _alternatives(self) -> Node | _Not | None:
        parts = [self._sequence()]
        while self._peek() == "OR":
            self._at += 1
            parts.append(self._sequence())
        return _disjunction([part for part in parts if part is not None])

    def _sequence(self) -> Node | _Not | None:
        parts: list[Node | _Not] = []
        while (kind := self._peek()) not in ("end", ")", "OR"):
            if kind == "AND":
                self._at += 1
            elif (part := self._one()) is not None:
                parts.append(part)
        return _conjunction(parts)

    def _one(self) -> Node | _Not | None:
        negated = False
        while self._peek() == "NOT":
            negated = not negated
            self._at += 1
        part = self._group() if self._peek() == "(" else self._operand()
        if part is None or not negated:
            return part
        return part.part if isinstance(part, _Not) else _Not(part)

    def _group(self) -> Node | _Not | None:
        self._at += 1
        if self._depth >= _MAX_DEPTH:
            return None
        self._depth += 1
        inner = self._alternatives()
        self._depth -= 1
        if self._peek() == ")":
            self._at += 1
        return inner

    def _operand(self) -> Node | _Not | None:
        kind = self._peek()
        if kind not in ("word", "phrase"):
            return None
        text = fold(self._tokens[self._at][1])
        self._at += 1
        found = [_phrase(text)] if kind == "phrase" else [_word(match.group()) for match in _PIECE.finditer(text)]
        parts = [phrase for phrase in found if phrase.terms][: MAX_PHRASES - self._phrases]
        self._phrases += len(parts)
        return _conjunction(list(parts))


def _phrase(text: str) -> Phrase:
    """Return a quoted phrase without the sentence punctuation at its ends, which a reader would not insist on."""
    return Phrase(text.strip(" ,.!?;:、。…~"))


def _word(text: str) -> Phrase:
    plain = not has_cjk(text) and next(runs(text), ("", False))[0] == text
    return Phrase(text, stem(text[:MAX_TERM_LENGTH]) if plain and len(text) <= MAX_TERM_LENGTH else None)


def _conjunction(parts: list[Node | _Not]) -> Node | _Not | None:
    must = tuple(part for part in parts if not isinstance(part, _Not))
    must_not = tuple(part.part for part in parts if isinstance(part, _Not))
    if not must:
        barred = _either(must_not)
        return None if barred is None else _Not(barred)
    return must[0] if len(must) == 1 and not must_not else And(must, must_not)


def _disjunction(parts: list[Node | _Not]) -> Node | _Not | None:
    """Join alternatives. One that only says what must be absent would admit everything, and is left out."""
    positive = tuple(part for part in parts if not isinstance(part, _Not))
    return _either(positive) or (parts[0] if parts else None)


def _either(parts: tuple[Node, ...]) -> Node | None:
    return Or(parts) if len(parts) > 1 else next(iter(parts), None)
