"""One lexical search: from a parsed query to ranked rows."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from historian.bm25 import Scorer, idf
from historian.fetching import fetch_together
from historian.fold import has_cjk
from historian.lexical_query import Mode, Node, Text, any_terms, match_expression, matches, phrases, proven_by_index

CANDIDATES = 500
"""Matching rows, newest first, among which a query is ranked; more where more are asked for."""

_SCANNED = 20_000
_BASE = " CROSS JOIN {} AS t ON t.row = f.rowid"
_TEXT = " CROSS JOIN {}_lexical AS l ON l.row = f.rowid"
_POOL = 300
_AT_ONCE = 32
"""Terms that are looked up by one statement."""
# What a lone character says in a ranked search, against a word or a pair, and how much of them a row needs.
_LONE_WEIGHT = 0.3
_LONE_NEEDED = 0.25


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one index: the prefix `name`, the `base` table with the same rows, and the `time` of a base row.

    `time` is an SQL expression over the base table, named `t`, or over `l.row`; ties are ordered by it.
    """

    name: str
    base: str
    time: str


@dataclass(frozen=True, slots=True)
class Within:
    """Where to look besides the reach: rows from `since_row` on and before `until_row`, a role, and a condition.

    `condition` is SQL about the base table, named `t`; `parameters` are the values of its question marks.
    """

    since_row: int | None = None
    until_row: int | None = None
    role: str | None = None
    condition: str = ""
    parameters: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A row and its lexical score, 0..1 (see `bm25`)."""

    row: int
    score: float


@dataclass(frozen=True, slots=True)
class Hits:
    """Rows best first; ties newest first, then by row.

    `mode` says how they were found: "words" have all words of the query, "any" are ranked by what they have of it,
    "query" fulfil its operators and phrases. `capped` says that more rows matched than were ranked; where it was not
    any word that counted, the others are older than `last_row`, the last one looked at. `mentions` is what was counted
    on the way, in mode "any".
    """

    hits: tuple[Hit, ...] = ()
    mode: Mode = "words"
    capped: bool = False
    last_row: int | None = None
    mentions: Mentions | None = None


@dataclass(frozen=True, slots=True)
class Mentions:
    """Which rows have which terms of a query. `weights` says how telling each term is: idf, less for a lone character.

    `holders` has the rows of each term, newest first; `total` is how many rows may be read.
    """

    weights: Mapping[str, float]
    holders: Mapping[str, Sequence[int]]
    total: int = 0


class Candidate(NamedTuple):
    """A row that may be a hit."""

    row: int
    time: int
    text: Text


class Search:
    """What one asker looks for in one index; `scope` is the FTS5 expression of what may be read."""

    def __init__(self, connection: sqlite3.Connection, tables: Tables, scope: str, within: Within) -> None:
        self._connection = connection
        self._tables = tables
        self._scope = scope
        self._within = within

    def matching(self, node: Node, mode: Mode, limit: int) -> Hits:
        """Return the rows that fulfil a query, ranked by how often they mention its phrases."""
        most = max(CANDIDATES, limit)
        pool: list[Candidate] = []
        scanned, last_row, proven = 0, None, proven_by_index(node)
        capped = False
        for candidate in self._texts(match_expression(node)):
            capped = len(pool) >= most
            if capped:
                break
            scanned, last_row = scanned + 1, candidate.row
            if proven or matches(node, candidate.text):
                pool.append(candidate)
        wanted = phrases(node)
        mentions = [[phrase.occurrences(candidate.text) for phrase in wanted] for candidate in pool]
        holding = [sum(1 for counts in mentions if counts[i]) for i in range(len(wanted))]
        hits = _best(pool, mentions, [idf(len(pool), n) for n in holding], limit)
        return Hits(hits, mode, capped or scanned >= _SCANNED, last_row)

    def any(self, node: Node, limit: int) -> Hits:
        """Return the rows that have the most telling terms of a query, whichever they are."""
        counted = any_terms(node)
        found = self.mentions(node)
        weights, holders = found.weights, found.holders
        rows = _strongest(weights, holders)
        pool = self._candidates(rows[: max(_POOL, limit)])
        held = [set(holders[term]) for term in weights]
        spelt = [counted[term] for term in weights]
        mentions = [
            [
                max(1, candidate.text.folded.count(word)) if candidate.row in rows_held else 0
                for word, rows_held in zip(spelt, held, strict=True)
            ]
            for candidate in pool
        ]
        hits = _best(pool, mentions, list(weights.values()), limit)
        return Hits(hits, "any", len(rows) > len(pool), mentions=found)

    def mentions(self, node: Node) -> Mentions:
        """Return the rows that have any term of a query."""
        holders = self._holders([*any_terms(node)])
        # A pair that no text has is most often the seam between two words, which says nothing.
        kept = [term for term in holders if holders[term] or not (has_cjk(term) and len(term) > 1)]
        total = max([self._count(), *(len(rows) for rows in holders.values())])
        weights = {term: idf(total, len(holders[term])) * (_LONE_WEIGHT if _is_lone(term) else 1.0) for term in kept}
        return Mentions(weights, {term: holders[term] for term in kept}, total)

    def _holders(self, terms: Sequence[str]) -> dict[str, list[int]]:
        """Return the rows of each term, looked up together: a statement costs as much as what it finds."""
        joins = _BASE.format(self._tables.base) if self._within.condition else ""
        holders: dict[str, list[int]] = {term: [] for term in terms}
        for first in range(0, len(terms), _AT_ONCE):
            some = terms[first : first + _AT_ONCE]
            parts = [self._statement("f.rowid AS row", joins, f'"{term}"') for term in some]
            # one list a term: each row that SQLite hands over by itself lets other threads run, and waits for them
            together = " UNION ALL ".join(
                f"SELECT {number}, json_group_array(row) FROM ({statement})"
                for number, (statement, _) in enumerate(parts)
            )
            found = self._connection.execute(together, [value for _, values in parts for value in values])
            holders.update((some[int(number)], json.loads(rows)) for number, rows in found)
        return holders

    def _texts(self, expression: str) -> Iterator[Candidate]:
        joins = _TEXT.format(self._tables.name)
        if self._within.condition or "t." in self._tables.time:
            joins += _BASE.format(self._tables.base)
        for row, time, folded in self._select(f"f.rowid, {self._tables.time}, l.folded", joins, expression):
            yield Candidate(row, time, Text(folded))

    def _select(self, columns: str, joins: str, expression: str) -> sqlite3.Cursor:
        """Walk the rows that match, newest row first, at most `_SCANNED`."""
        return self._connection.execute(*self._statement(columns, joins, expression))

    def _statement(self, columns: str, joins: str, expression: str) -> tuple[str, Sequence[object]]:
        name, within = self._tables.name, self._within
        conditions = [f"{name}_fts MATCH ?"]
        parameters: list[object] = [f"({self._scope}) AND ({expression})"]
        for bound, sign in ((within.since_row, ">="), (within.until_row, "<")):
            if bound is not None:
                conditions.append(f"f.rowid {sign} ?")
                parameters.append(bound)
        if within.condition:
            conditions.append(f"({within.condition})")
            parameters.extend(within.parameters)
        statement = (
            f"SELECT {columns} FROM {name}_fts AS f{joins} WHERE {' AND '.join(conditions)}"
            f" ORDER BY f.rowid DESC LIMIT {_SCANNED}"
        )
        return statement, parameters

    def _count(self) -> int:
        """Return how many rows the asker may read, counting no further than a term is followed."""
        name = self._tables.name
        inner = f"SELECT 1 FROM {name}_fts WHERE {name}_fts MATCH ? LIMIT {_SCANNED}"
        return int(self._connection.execute(f"SELECT count(*) FROM ({inner})", (self._scope,)).fetchone()[0])

    def _candidates(self, rows: Sequence[int]) -> list[Candidate]:
        name, base, time = self._tables.name, self._tables.base, self._tables.time
        source = (
            f"FROM json_each(?) AS j CROSS JOIN {name}_lexical AS l ON l.row = j.value"
            f" CROSS JOIN {base} AS t ON t.row = l.row"
        )
        found = fetch_together(self._connection, f"l.row, {time}, l.folded", source, (json.dumps(rows),))
        return [Candidate(row, when, Text(folded)) for row, when, folded in found]


def _is_lone(term: str) -> bool:
    return len(term) == 1 and has_cjk(term)


def _strongest(weights: Mapping[str, float], holders: Mapping[str, Sequence[int]]) -> list[int]:
    """Order rows by the summed weight of their terms, leaving out those that only share a few lone characters."""
    strength: dict[int, float] = defaultdict(float)
    telling: set[int] = set()
    for term, weight in weights.items():
        for row in holders[term]:
            strength[row] += weight
        if not _is_lone(term):
            telling.update(holders[term])
    needed = _LONE_NEEDED * sum(weights.values())
    rows = [row for row, value in strength.items() if row in telling or value >= needed]
    return sorted(rows, key=lambda row: (-strength[row], -row))


def _best(
    pool: Sequence[Candidate], mentions: Sequence[Sequence[float]], weights: Sequence[float], limit: int
) -> tuple[Hit, ...]:
    if not pool:
        return ()
    lengths = [len(candidate.text.folded) for candidate in pool]
    scorer = Scorer(weights, sum(lengths) / len(lengths))
    known: dict[tuple[float, ...], float] = {}  # many texts have the same length and one mention
    scored: list[tuple[float, int, int]] = []
    for counts, length, candidate in zip(mentions, lengths, pool, strict=True):
        key = (length, *counts)
        if key not in known:
            known[key] = scorer.score(counts, length)
        scored.append((known[key], candidate.time, candidate.row))
    return tuple(Hit(row, score) for score, _, row in sorted(scored, reverse=True)[:limit])
