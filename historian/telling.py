"""What of a query is compared: not a name that nearly every text has."""

from __future__ import annotations

from collections.abc import Iterator

from historian.fold import MAX_TERM_LENGTH, bigrams, fold, runs
from historian.lexical_parsing import parse
from historian.lexical_query import any_terms
from historian.lexical_search import Mentions
from historian.patterns import lazy_pattern
from historian.stems import stem

FEWEST = 8
"""Texts from which on a term that most of them have tells nothing; fewer texts share a lot."""
_ORPHAN = lazy_pattern(r"(?<!\w)'s\b")


def common_terms(mentions: Mentions) -> frozenset[str]:
    """Return the terms of a query that stand in more than half of the texts that may be read."""
    if mentions.total < FEWEST:
        return frozenset()
    return frozenset(
        term for term, rows in mentions.holders.items() if len(term) > 1 and 2 * len(rows) > mentions.total
    )


def telling_part(query: str, common: frozenset[str]) -> str:
    """Return a query without common terms, to be compared by meaning; as it is where nothing else would be left."""
    if not common:
        return query
    folded = fold(query)
    dropped = set(_places(folded, common))
    cut = "".join(" " if at in dropped else character for at, character in enumerate(folded))
    rest = " ".join(_ORPHAN.sub(" ", cut).split())
    node = parse(rest).node
    left = any_terms(node) if node is not None else {}
    return rest if any(len(term) > 1 for term in left) else query


def _places(folded: str, common: frozenset[str]) -> Iterator[int]:
    end = 0
    for run, is_cjk in runs(folded):
        start = folded.index(run, end)
        end = start + len(run)
        if not is_cjk:
            if stem(run[:MAX_TERM_LENGTH]) in common:
                yield from range(start, end)
            continue
        for at, pair in enumerate(bigrams(run)):
            if pair in common:
                yield from (start + at, start + at + 1)
