"""Reading a lexical query: words, "phrases", AND / OR / NOT and parentheses. No text is an error.

A bare English word matches its inflections; a phrase, a word with inner punctuation (`c++`, `node.js`, `10:30`) and any
run of CJK characters match literally in the folded text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from historian.fold import CJK, MAX_TERM_LENGTH, fold, has_cjk, runs
from historian.lexical_query import And, Node, Or, Phrase, Query
from historian.patterns import lazy_pattern
from historian.stems import stem

MAX_QUERY_LENGTH = 2_000
"""Characters of a query that are looked at."""
MAX_PHRASES = 32
"""Words and phrases of a query that are looked at."""

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


@dataclass(frozen=True, slots=True)
class _Not:
    part: Node


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
