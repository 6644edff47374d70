"""How messages that may answer a question are ordered. Pure: no clock, no store, no model.

A turn of a chat is short, and what it is about often stands in the turn before it or after it. So both arms look at a
message together with its surroundings: `SPREAD` turns on each side of the same conversation, no further apart than
`GAP_MS`; the turn at distance d counts `DECAY ** d`.

    meaning(m) = Σ weight · similarity / Σ weight               over m and its surroundings, as far as they have vectors
    words(m)   = Σ idf · tf · (K1 + 1) / (tf + K1) / Σ idf      at most 1; tf = Σ weight over those that have the term
    core(m)    = WORDS · words / max(best words, ENOUGH)
               + (1 - WORDS) · (meaning - UNRELATED) / (max(best meaning, ENOUGH) - UNRELATED)
    score(m)   = core + AUTHOR · said by one whom the question names, though not everyone
                      + ROLE   · of the role that the question asks about
                      + DATE   · said on a day that the question names
                      - ASKS   · is a question itself
                      - SHORT  · (1 - size / LONG_ENOUGH), where it is shorter; size in bytes of UTF-8
                 + SESSION · best score of its session / best score

`UNRELATED` is the similarity of unrelated texts. `ENOUGH` keeps an arm that found little from being blown up to full
strength: normalised scores, but not of noise. Without any vectors the core is the words alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain, pairwise

from historian.bm25 import K1
from historian.messages import SEQUENCE_BITS

SPREAD = 2
DECAY = 0.5
GAP_MS = 3 * 3_600_000
WORDS = 0.4
ENOUGH = 0.5
UNRELATED = 0.1
AUTHOR = 0.1
ROLE = 0.06
DATE = 0.3
ASKS = 0.1
SHORT = 0.15
LONG_ENOUGH = 180
"""Bytes: some thirty English words, sixty Chinese characters."""
SESSION = 0.1

_GAP_ROWS = GAP_MS << SEQUENCE_BITS
_HIGHEST = 1.0 + AUTHOR + ROLE + DATE + SESSION
_NEAR = 0.35
"""The similarity from which a message counts as found by meaning; see `calibration.BORDER`."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What the arms found, by row: calibrated similarity 0..1, and the numbers of the terms that a message has.

    `weights` says how telling each term is, by its number.
    """

    similarity: Mapping[int, float] = field(default_factory=dict[int, float])
    terms: Mapping[int, Sequence[int]] = field(default_factory=dict[int, Sequence[int]])
    weights: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Links:
    """The `rows` that may answer, and which rows count for them: those that stand d apart are in `pairs[d - 1]`."""

    rows: frozenset[int]
    pairs: tuple[Sequence[tuple[int, int]], ...]

    @property
    def known(self) -> frozenset[int]:
        """All rows that count."""
        return self.rows.union(*chain.from_iterable(self.pairs))


@dataclass(frozen=True, slots=True)
class Core:
    """What speaks for a message by what it and its surroundings are about; `words` is its word score with them."""

    score: float
    words: float


@dataclass(frozen=True, slots=True)
class Turn:
    """What else ranking knows of a message.

    `author` is sender id and name, `size` the length in bytes as far as it counts, `day` None where nobody asks.
    """

    row: int
    conversation: tuple[str, str]
    role: str
    author: tuple[str, str]
    size: int
    asks: bool
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Days:
    """A day, month or stretch of days that a question names: from `first` to `last`, in any year if `yearly`."""

    first: date
    last: date
    yearly: bool = False

    def hold(self, day: date) -> bool:
        """Say whether a day is one of them."""
        if not self.yearly:
            return self.first <= day <= self.last
        return (self.first.month, self.first.day) <= (day.month, day.day) <= (self.last.month, self.last.day)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question says about the messages that answer it, besides what they are about."""

    authors: frozenset[tuple[str, str]] = frozenset()
    role: str | None = None
    days: tuple[Days, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A message with its place. `score` lies in 0..1; `how` names what spoke for it; `words` is its own word score."""

    row: int
    score: float
    words: float
    how: tuple[str, ...]


def links_of(conversations: Iterable[Iterable[int]], seeds: Iterable[int]) -> Links:
    """Return what may answer where `seeds` were found: they and the rows beside them, with their surroundings.

    A conversation gives those of its rows that are known, in any order.
    """
    apart = [pairs for conversation in conversations for pairs in _pairs(sorted({*conversation}))]
    found = {*seeds}
    rows = frozenset(found.union(*(pair for _, pair in apart if not found.isdisjoint(pair))))
    pairs = ([pair for at, pair in apart if at == d and not rows.isdisjoint(pair)] for d in range(1, SPREAD + 1))
    return Links(rows, tuple(pairs))


def _pairs(ordered: Sequence[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield rows that count for each other, and how many turns apart they are."""
    near = [later - row <= _GAP_ROWS for row, later in pairwise(ordered)]
    for distance in range(1, SPREAD + 1):
        steps = zip(*(near[start:] for start in range(distance)), strict=False)
        for row, later, step in zip(ordered, ordered[distance:], steps, strict=False):
            if all(step):
                yield distance, (row, later)


def cores(links: Links, signals: Signals) -> dict[int, Core]:
    """Return what speaks for each row by its meaning and words, its surroundings included."""
    meaning = _meanings(links, signals.similarity)
    words = _words(links, signals)
    most_meant = max(ENOUGH, *meaning.values(), ENOUGH)
    most_said = max(ENOUGH, *words.values(), ENOUGH)
    weight = WORDS if meaning else 1.0
    found: dict[int, Core] = {}
    for row in links.rows:
        share = (meaning[row] - UNRELATED) / (most_meant - UNRELATED) if row in meaning else 0.0
        said = words.get(row, 0.0)
        found[row] = Core(weight * said / most_said + (1 - weight) * share, said)
    return found


def place(
    turns: Iterable[Turn], found: Mapping[int, Core], wanted: Wanted, signals: Signals, top_k: int
) -> list[Placed]:
    """Return the best `top_k` of the turns that have a core, best first, ties newest first.

    In which order they come does not matter.
    """
    ordered = sorted({t.row: t for t in turns if t.row in found}.values(), key=lambda t: (t.conversation, t.row))
    scores = _with_sessions(ordered, [found[turn.row].score + _prior(turn, wanted) for turn in ordered])
    ranked = sorted(zip(scores, ordered, strict=True), key=lambda pair: (-pair[0], -pair[1].row))
    total = sum(signals.weights)
    placed: list[Placed] = []
    for score, turn in ranked[: max(top_k, 0)]:
        said = dict.fromkeys(signals.terms.get(turn.row, ()), 1.0)
        own = round(_word_score(said, signals.weights, total), 6)
        how = _how(turn, wanted, signals.similarity.get(turn.row), own, found[turn.row].words)
        placed.append(Placed(turn.row, round(min(1.0, max(0.0, score / _HIGHEST)), 6), own, how))
    return placed


def _meanings(links: Links, similarity: Mapping[int, float]) -> dict[int, float]:
    known = {row: min(1.0, max(0.0, value)) for row, value in similarity.items() if math.isfinite(value)}
    value = defaultdict[int, float](float, known)
    total = defaultdict[int, float](float, dict.fromkeys(known, 1.0))
    for distance, pairs in enumerate(links.pairs, 1):
        weight = DECAY**distance
        for one, other in pairs:
            if one in known:
                value[other] += weight * known[one]
                total[other] += weight
            if other in known:
                value[one] += weight * known[other]
                total[one] += weight
    return {row: value[row] / total[row] for row in links.rows if row in total}


def _words(links: Links, signals: Signals) -> dict[int, float]:
    rows, terms, weights = links.rows, signals.terms, signals.weights
    mentions = {row: dict.fromkeys(said, 1.0) for row, said in terms.items() if row in rows}
    for distance, pairs in enumerate(links.pairs, 1):
        weight = DECAY**distance
        for pair in pairs:
            for one, other in (pair, pair[::-1]):
                if other in terms and one in rows:
                    counts = mentions.setdefault(one, {})
                    for term in terms[other]:
                        counts[term] = counts.get(term, 0.0) + weight
    total = sum(weights)
    return {row: _word_score(counts, weights, total) for row, counts in mentions.items()}


def _word_score(counts: Mapping[int, float], weights: Sequence[float], total: float) -> float:
    score = 0.0
    for term, count in counts.items():
        score += weights[term] * count / (count + K1)
    return min(1.0, score * (K1 + 1) / total) if total > 0 else 0.0


def _prior(turn: Turn, wanted: Wanted) -> float:
    """Return what speaks for or against a turn whatever it is about."""
    return (
        AUTHOR * (turn.author in wanted.authors)
        + ROLE * (turn.role == wanted.role)
        + DATE * _is_on(turn.day, wanted.days)
        - ASKS * turn.asks
        - SHORT * max(0.0, 1 - turn.size / LONG_ENOUGH)
    )


def _is_on(day: date | None, wanted: Iterable[Days]) -> bool:
    return day is not None and any(days.hold(day) for days in wanted)


def _with_sessions(ordered: Sequence[Turn], scores: Sequence[float]) -> list[float]:
    """Return the scores with what the best hit of its session adds to each. A session ends where a long gap begins."""
    sessions: list[int] = []
    number = 0
    for i, turn in enumerate(ordered):
        before = ordered[i - 1] if i else turn
        number += before.conversation != turn.conversation or turn.row - before.row > _GAP_ROWS
        sessions.append(number)
    best: dict[int, float] = defaultdict(float)
    for session, score in zip(sessions, scores, strict=True):
        best[session] = max(best[session], score)
    top = max(best.values(), default=0.0)
    if top <= 0:
        return [*scores]
    return [score + SESSION * best[session] / top for session, score in zip(sessions, scores, strict=True)]


def _how(turn: Turn, wanted: Wanted, similarity: float | None, own: float, around: float) -> tuple[str, ...]:
    spoke = (
        ("semantic", similarity is not None and similarity >= _NEAR),
        ("lexical", own > 0),
        ("neighbors", around > own + 1e-6),
        ("author", turn.author in wanted.authors),
        ("date", _is_on(turn.day, wanted.days)),
    )
    return tuple(name for name, yes in spoke if yes)
