"""The words of a question in the messages of a reach: who has which, also of those around a hit."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

from historian.lexical import Mentions, Within
from historian.model import Reach
from historian.readable import MESSAGE_WORDS, MessageFilter


@dataclass(frozen=True, slots=True)
class MessageWords:
    """Which messages have which terms. `wanted` holds those that fit the filter, `there` also those around them."""

    wanted: Mentions
    there: Mentions

    @property
    def weights(self) -> Sequence[float]:
        """How telling each term is, by its number."""
        return [*self.there.weights.values()]

    def best(self, count: int) -> list[int]:
        """Return the rows with the most telling terms."""
        strength: dict[int, float] = defaultdict(float)
        for term, weight in self.there.weights.items():
            for row in self.wanted.holders.get(term, ()):
                strength[row] += weight
        return [row for _, row in nlargest(count, ((value, row) for row, value in strength.items()))]

    def terms(self, rows: Iterable[int]) -> Mapping[int, Sequence[int]]:
        """Return the numbers of the terms that each of these rows has; rows without any are absent."""
        asked = {*rows}
        found: dict[int, list[int]] = defaultdict(list)
        for number, term in enumerate(self.there.weights):
            for row in asked.intersection((*self.there.holders[term], *self.wanted.holders.get(term, ()))):
                found[row].append(number)
        return found


def words_of(connection: sqlite3.Connection, reach: Reach, query: str, wanted: MessageFilter) -> MessageWords:
    """Look up the words of a query. Role and sender narrow what is looked for, not what is said around it."""
    there = MESSAGE_WORDS.mentions(connection, reach, query, within=_within(replace(wanted, role=None, sender_id=None)))
    if wanted.role is None and wanted.sender_id is None:
        return MessageWords(there, there)
    return MessageWords(MESSAGE_WORDS.mentions(connection, reach, query, within=_within(wanted)), there)


def _within(wanted: MessageFilter) -> Within:
    condition, parameters = wanted.condition("t", role=False)
    since = None if wanted.since_ms is None else wanted.since_row
    until = None if wanted.until_ms is None else wanted.until_row
    return Within(since, until, wanted.role, condition, tuple(parameters))
