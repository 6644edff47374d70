"""How messages that may answer a question are ordered. Pure: no clock, no store, no model.

A turn of a chat is short, and what it is about often stands in the turn before it or after it. So both arms look at a
message together with its surroundings: `SPREAD` turns on each side of the same conversation, no further apart than
`GAP_MS`; the turn at distance d counts `DECAY ** d`.

    meaning(m) = Σ weight · similarity / Σ weight                      over m and its surroundings
    words(m)   = Σ idf · tf · (K1 + 1) / (tf + K1 · (1 - B + B · length / average))  divided by the best there can be
                 tf = Σ weight over those of m and its surroundings that have the term; length likewise
    share(x)   = (x - base) / (max(best x, ENOUGH) - base), at least -1
    core       = WORDS · share(words) + (1 - WORDS) · share(meaning)
    score      = core + AUTHOR · said by one whom the question names, but not everyone
                      + ROLE   · of the role that the question asks about
                      + DATE   · said on a day that the question names
                      - ASKS   · is a question itself
                      - SHORT  · (1 - words / LONG_ENOUGH), where it has fewer
                 + SESSION · best score of its session / best score

`base` is what unrelated texts have: 0 for words, `UNRELATED` for similarities. `ENOUGH` keeps an arm that found little
from being blown up to full strength: normalised scores, but not of noise. Without any vectors the core is the words.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from historian.bm25 import Scorer
from historian.messages import row_ms

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
LONG_ENOUGH = 30.0
SESSION = 0.1

_HIGHEST = 1.0 + AUTHOR + ROLE + DATE + SESSION
_NEAR = 0.35
"""The similarity from which a message counts as found by meaning; see `calibration.BORDER`."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What ranking knows of a message. `author` is sender id and name; `length` counts characters, `words` words."""

    row: int
    conversation: tuple[str, str]
    role: str
    author: tuple[str, str]
    day: date
    length: int
    words: float
    asks: bool


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
class Signals:
    """What the arms found, by row: calibrated similarity 0..1, and the numbers of the terms that a message has.

    `weights` says how telling each term is, by its number.
    """

    similarity: Mapping[int, float] = field(default_factory=dict[int, float])
    terms: Mapping[int, Sequence[int]] = field(default_factory=dict[int, Sequence[int]])
    weights: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A message with its place. `score` lies in 0..1; `how` names what spoke for it; `words` is its own word score."""

    row: int
    score: float
    words: float
    how: tuple[str, ...]


def place(turns: Iterable[Turn], eligible: Container[int], wanted: Wanted, signals: Signals) -> list[Placed]:
    """Return the turns whose rows are `eligible`, best first, ties newest first.

    The other turns only count as surroundings. In which order turns come does not matter.
    """
    ordered = sorted({turn.row: turn for turn in turns}.values(), key=lambda turn: (turn.conversation, turn.row))
    if not ordered:
        return []
    links = _links(ordered)
    meaning = _meaning(ordered, links, signals.similarity)
    words = _words(ordered, links, signals)
    own = _words(ordered, [[(i, 1.0)] for i in range(len(ordered))], signals)
    chosen = [i for i, turn in enumerate(ordered) if turn.row in eligible]
    scores = _scores(ordered, chosen, wanted, meaning, words)
    scores = _with_sessions(ordered, scores)
    return [
        Placed(
            ordered[i].row,
            round(min(1.0, max(0.0, score / _HIGHEST)), 6),
            own[i],
            _how(ordered[i], wanted, signals, own[i], words[i]),
        )
        for i, score in sorted(scores.items(), key=lambda item: (-item[1], -ordered[item[0]].row))
    ]


def _links(ordered: Sequence[Turn]) -> list[list[tuple[int, float]]]:
    """Return for each turn which turns count for it, itself included, and how much."""
    links: list[list[tuple[int, float]]] = [[(i, 1.0)] for i in range(len(ordered))]
    for i, turn in enumerate(ordered):
        for j in range(i + 1, min(i + SPREAD + 1, len(ordered))):
            if _apart(ordered[j - 1], ordered[j]) or ordered[j].conversation != turn.conversation:
                break
            weight = DECAY ** (j - i)
            links[i].append((j, weight))
            links[j].append((i, weight))
    return links


def _apart(one: Turn, other: Turn) -> bool:
    return one.conversation != other.conversation or row_ms(other.row) - row_ms(one.row) > GAP_MS


def _meaning(
    ordered: Sequence[Turn], links: Sequence[Sequence[tuple[int, float]]], similarity: Mapping[int, float]
) -> list[float | None]:
    known = [_finite(similarity.get(turn.row)) for turn in ordered]
    found: list[float | None] = []
    for near in links:
        there = [(value, weight) for j, weight in near if (value := known[j]) is not None]
        total = sum(weight for _, weight in there)
        found.append(sum(value * weight for value, weight in there) / total if total else None)
    return found


def _words(ordered: Sequence[Turn], links: Sequence[Sequence[tuple[int, float]]], signals: Signals) -> list[float]:
    lengths = [sum(weight * ordered[j].length for j, weight in near) for near in links]
    scorer = Scorer(signals.weights, sum(lengths) / len(lengths))
    terms = [signals.terms.get(turn.row, ()) for turn in ordered]
    found: list[float] = []
    for near, length in zip(links, lengths, strict=True):
        mentions = [0.0] * len(signals.weights)
        for j, weight in near:
            for term in terms[j]:
                mentions[term] += weight
        found.append(scorer.score(mentions, length) if any(mentions) else 0.0)
    return found


def _scores(
    ordered: Sequence[Turn],
    chosen: Sequence[int],
    wanted: Wanted,
    meaning: Sequence[float | None],
    words: Sequence[float],
) -> dict[int, float]:
    known = [value for i in chosen if (value := meaning[i]) is not None]
    most_meant = max([ENOUGH, *known])
    most_said = max([ENOUGH, *(words[i] for i in chosen)])
    weight = WORDS if known else 1.0
    scores: dict[int, float] = {}
    for i in chosen:
        meant = meaning[i]
        share = 0.0 if meant is None else max(-1.0, (meant - UNRELATED) / (most_meant - UNRELATED))
        scores[i] = weight * words[i] / most_said + (1 - weight) * share + _prior(ordered[i], wanted)
    return scores


def _prior(turn: Turn, wanted: Wanted) -> float:
    """Return what speaks for or against a turn whatever it is about."""
    return (
        AUTHOR * (turn.author in wanted.authors)
        + ROLE * (turn.role == wanted.role)
        + DATE * any(days.hold(turn.day) for days in wanted.days)
        - ASKS * turn.asks
        - SHORT * max(0.0, 1 - turn.words / LONG_ENOUGH)
    )


def _with_sessions(ordered: Sequence[Turn], scores: Mapping[int, float]) -> dict[int, float]:
    """Return the scores with what the best hit of its session adds to each."""
    session: dict[int, int] = {}
    number = 0
    for i in range(len(ordered)):
        number += i > 0 and _apart(ordered[i - 1], ordered[i])
        session[i] = number
    best: dict[int, float] = defaultdict(float)
    for i, score in scores.items():
        best[session[i]] = max(best[session[i]], score)
    top = max(best.values(), default=0.0)
    if top <= 0:
        return dict(scores)
    return {i: score + SESSION * best[session[i]] / top for i, score in scores.items()}


def _how(turn: Turn, wanted: Wanted, signals: Signals, own: float, around: float) -> tuple[str, ...]:
    similarity = _finite(signals.similarity.get(turn.row))
    spoke = (
        ("semantic", similarity is not None and similarity >= _NEAR),
        ("lexical", own > 0),
        ("neighbors", around > own),
        ("author", turn.author in wanted.authors),
        ("date", any(days.hold(turn.day) for days in wanted.days)),
    )
    return tuple(name for name, yes in spoke if yes)


def _finite(value: float | None) -> float | None:
    return min(1.0, max(0.0, value)) if value is not None and math.isfinite(value) else None
