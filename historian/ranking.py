"""One composed relevance for everything that is searched. Pure: no clock, no store, no model.

In this order: similarity and lexical score are fused; where a reranker answered, its score takes the place of the
fusion; time decay; near-duplicates are collapsed; the best `top_k` remain.

**Fusion.** `1 − (1 − similarity)(1 − LEXICAL_WEIGHT × lexical)`: the chance that at least one of two witnesses is
right. Either alone suffices, both together say more, a missing one costs nothing, and the result stays within 0..1.
Normalised scores rather than reciprocal ranks: ranks of a weak arm drag down a good one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from historian.fold import fold, runs
from historian.sameness import statement_key

LEXICAL_WEIGHT = 0.6
_DAY = 86_400.0
_SHORT = 24
"""Characters of a text that may be a single word."""
_OF_A_WORD, _OF_A_SIGN = 0.6, 0.8
"""The similarity that a text of one word needs, and one of a letter or a sign: to a query of a word such texts are all
alike, whatever they say (`x` to `tea` 0.44, 👍 to 花生 0.69), and so is what means the same (猫 to `cat` 0.9)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something found. `similarity` is calibrated, `lexical` normalised, both 0..1, None where that search missed it.

    `id` is the number of a row: as texts, 10 stands before 9, so that what others store would decide between equals.
    `epoch` is in seconds. An empty `text` is like no other.
    """

    id: str
    similarity: float | None
    lexical: float | None
    epoch: float
    text: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its place. `score` lies in 0..1 + boost; `how` names the stages that spoke for it."""

    id: str
    score: float
    similarity: float | None
    lexical: float | None
    how: tuple[str, ...]


_Scored = tuple[float, Candidate, tuple[str, ...]]


def normalised(scores: Mapping[str, float]) -> dict[str, float]:
    """Return scores without bound (BM25, higher is better) as shares, 0..1, of the best; 0 or less falls out."""
    finite = {one: score for one, score in scores.items() if math.isfinite(score) and score > 0}
    best = max(finite.values(), default=0.0)
    return {one: score / best for one, score in finite.items()}


def fused(similarity: float | None, lexical: float | None) -> float:
    """Return the relevance, 0..1, of a similarity and a lexical score."""
    return 1.0 - (1.0 - _share(similarity)) * (1.0 - LEXICAL_WEIGHT * _share(lexical))


def decay(age_seconds: float, *, half_life_days: float, boost: float) -> float:
    """Return the factor of time: 1 + boost for what was just said, halving its lead every `half_life_days`."""
    if half_life_days <= 0:
        return 1.0
    halvings = max(0.0, age_seconds) / _DAY / half_life_days
    return 1.0 + boost * math.pow(0.5, halvings)


def rank(
    candidates: Iterable[Candidate],
    *,
    now: float,
    top_k: int,
    half_life_days: float,
    floor: float = 0.35,
    boost: float = 0.2,
    decay_enabled: bool = True,
    rerank: Mapping[str, float] | None = None,
) -> list[Ranked]:
    """Return the best `top_k` candidates, best first; ties go to the newer, then to the lower row.

    A candidate needs a similarity of at least `floor` or a lexical hit. `now` is in seconds. The order in which
    candidates come does not matter; of one id the best signals count.
    """
    scored: list[_Scored] = []
    for candidate in _merged(candidates):
        near = candidate.similarity is not None and _is_near(_share(candidate.similarity), candidate.text, floor)
        said = _share(candidate.lexical) > 0
        if not near and not said:
            continue
        reranked = _finite((rerank or {}).get(candidate.id))
        score = _share(reranked) if reranked is not None else fused(candidate.similarity, candidate.lexical)
        if near and decay_enabled:
            score *= decay(now - candidate.epoch, half_life_days=half_life_days, boost=boost)
        stages = (("semantic", near), ("lexical", said), ("rerank", reranked is not None))
        scored.append((score, candidate, tuple(name for name, spoke in stages if spoke)))
    scored.sort(key=lambda one: (-one[0], -one[1].epoch, len(one[1].id), one[1].id))
    return _collapsed(scored, top_k)


def _is_near(similarity: float, text: str, floor: float) -> bool:
    """Tell whether a text counts without the words of the query; what hardly says anything rarely does."""
    if similarity < floor or similarity >= _OF_A_SIGN or not text or len(text) > _SHORT:
        return similarity >= floor
    words = [*runs(fold(text))]
    if len(words) > 1 or any(is_cjk and len(word) > 2 for word, is_cjk in words):
        return True
    says = sum(len(word) + is_cjk for word, is_cjk in words) > 1
    return says and similarity >= _OF_A_WORD


def _collapsed(scored: Sequence[_Scored], top_k: int) -> list[Ranked]:
    """Return the first `top_k`, without those that say what a better one says."""
    seen: set[str] = set()
    out: list[Ranked] = []
    for score, candidate, how in scored:
        if len(out) >= top_k:
            break
        key = statement_key(candidate.text)
        if key and key in seen:
            continue
        seen.add(key)
        out.append(Ranked(candidate.id, score, candidate.similarity, candidate.lexical, how))
    return out


def _merged(candidates: Iterable[Candidate]) -> Iterable[Candidate]:
    """Return one candidate an id, with the best of each signal."""
    by_id: dict[str, Candidate] = {}
    for one in candidates:
        if one.id not in by_id and _is_sound(one.similarity) and _is_sound(one.lexical):
            by_id[one.id] = one
            continue
        other = by_id.get(one.id, one)
        by_id[one.id] = Candidate(
            one.id,
            _best(one.similarity, other.similarity),
            _best(one.lexical, other.lexical),
            max(one.epoch, other.epoch),
            max(one.text, other.text),
        )
    return by_id.values()


def _best(one: float | None, other: float | None) -> float | None:
    present = [value for value in (_finite(one), _finite(other)) if value is not None]
    return max(present, default=None)


def _is_sound(value: float | None) -> bool:
    return value is None or math.isfinite(value)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _share(value: float | None) -> float:
    """Return the value within 0..1; what is missing or no number counts as 0."""
    finite = _finite(value)
    return min(max(finite, 0.0), 1.0) if finite is not None else 0.0
