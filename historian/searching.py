"""Finding events: vectors and words fused into one relevance, within a reach and strict bounds of time."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest

from historian.clock import Clock
from historian.events import EventStore, Sketch
from historian.model import Reach
from historian.options import QueryOptions
from historian.ranking import Candidate, Ranked, fused, rank
from historian.rerank import Reranking
from historian.retrieval import AUTOMATIC_SECONDS, WARM_UP_SECONDS, Hits, Patience, Retrieval
from historian.views import FoundEvent, FoundEvents

CANDIDATES = 200
"""Nearest vectors looked at before other filters narrow them; an exact scan gives them for nothing."""
MEMO_WEIGHT = 0.8
"""A memo tells what the agent did; a statement about the same matter is the better answer."""
_AS_WELL = 0.7
"""Of the weighed lexical score of a memo: what a statement of any usual length gets for as many of the words."""


@dataclass(frozen=True, slots=True)
class EventQuery:
    """What to look for. The targets and bounds narrow; they never widen what `reach` allows. `until` is exclusive.

    `patience` is shared with other searches of the same request; left out, this one waits by itself.
    """

    text: str
    reach: Reach
    top_k: int
    target_user_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    automatic: bool = False
    patience: Patience | None = None


class EventSearch:
    """Searches events. Thread-safe."""

    def __init__(
        self,
        events: EventStore,
        retrieval: Retrieval,
        options: Callable[[], QueryOptions],
        clock: Clock,
        reranking: Reranking | None = None,
    ) -> None:
        self._events = events
        self._retrieval = retrieval
        self._options = options
        self._clock = clock
        self._reranking = reranking or Reranking(None, options)

    def search(self, query: EventQuery) -> FoundEvents:
        """Return the most relevant events, best first; with nothing relevant, none."""
        with self._retrieval.searching():
            return self._searched(query)

    def _searched(self, query: EventQuery) -> FoundEvents:
        options = self._options()
        since = query.since.timestamp() if query.since else None
        until = query.until.timestamp() if query.until else None
        patience = query.patience or Patience(AUTOMATIC_SECONDS if query.automatic else WARM_UP_SECONDS)
        hits = self._retrieval.find(
            "events", query.text, query.reach, limit=CANDIDATES, since=since, until=until, patience=patience.left
        )
        found = self._sketched(query, hits, options.time_decay_min_similarity)
        candidates = [_candidate(item, *hits.scores[row]) for row, item in found.items()]
        candidates, reranked, failed = self._reranked(query, found, candidates)
        events = self._best(query, found, candidates, reranked)
        return FoundEvents(events, degraded=hits.degraded + failed)

    def _sketched(self, query: EventQuery, hits: Hits, floor: float) -> dict[int, Sketch]:
        """Return what ranking needs of the rows that were found, as far as they fit the query."""
        worth = [row for row, signals in hits.scores.items() if _can_rank(*signals, floor)]
        sketches = self._events.within(query.reach).sketches(worth)
        since = query.since.timestamp() if query.since else None
        until = query.until.timestamp() if query.until else None
        return {item.row: item for item in sketches if _fits(item, query, since, until)}

    def _best(
        self,
        query: EventQuery,
        found: Mapping[int, Sketch],
        candidates: Sequence[Candidate],
        reranked: Mapping[str, float],
    ) -> tuple[FoundEvent, ...]:
        options = self._options()
        memos = {str(row) for row, item in found.items() if not item.has_new_info}
        automatic, tool = options.time_decay_half_life_days_auto, options.time_decay_half_life_days_tool
        ranked = rank(
            candidates,
            now=self._clock.now().timestamp(),
            top_k=query.top_k + len(memos),
            floor=options.time_decay_min_similarity,
            half_life_days=automatic if query.automatic else tool,
            boost=options.time_decay_boost,
            decay_enabled=options.time_decay_enabled,
            rerank=reranked,
        )
        ranked = (ranked if reranked else behind_statements(ranked, memos))[: query.top_k]
        rows = self._events.within(query.reach).rows(int(item.id) for item in ranked)
        whole = {stored.row: stored.event for stored in rows}
        return tuple(FoundEvent(whole[int(item.id)], item.score, item.how) for item in ranked if int(item.id) in whole)

    def _reranked(
        self, query: EventQuery, found: Mapping[int, Sketch], candidates: list[Candidate]
    ) -> tuple[list[Candidate], Mapping[str, float], tuple[str, ...]]:
        """Return the candidates that stay, the scores of the reranker, and what did not work; then all stay."""
        count = self._reranking.candidates(query.top_k)
        if not count:
            return candidates, {}, ()
        best = nlargest(count, candidates, key=lambda one: (fused(one.similarity, one.lexical), one.epoch, int(one.id)))
        with self._retrieval.turn.left():
            scores, failed = self._reranking.scores(query.text, {one.id: one.text for one in best})
        weighed = {key: score * _weight(found[int(key)]) for key, score in scores.items()}
        return best if scores else candidates, weighed, failed


def behind_statements(ranked: Sequence[Ranked], memos: Container[str]) -> list[Ranked]:
    """Return what was found with each memo behind the statements that have as many of the words.

    A memo is short and new, which alone would put it before what was said about the same.
    """
    statements = [one for one in ranked if one.id not in memos]
    placed: list[tuple[float, bool, int, Ranked]] = []
    for at, one in enumerate(ranked):
        as_well = [
            other.score
            for other in statements
            if one.id in memos and one.lexical and (other.lexical or 0.0) >= _AS_WELL * one.lexical
        ]
        score = min(one.score, *as_well) if as_well else one.score
        placed.append((-score, one.id in memos, at, replace(one, score=score)))
    return [one for *_, one in sorted(placed, key=lambda place: place[:3])]


def _can_rank(similarity: float | None, lexical: float | None, floor: float) -> bool:
    """Say whether `rank` could keep a row: reading the others costs more than finding them did."""
    return bool(lexical) or (similarity is not None and similarity >= floor)


def _fits(item: Sketch, query: EventQuery, since: float | None, until: float | None) -> bool:
    return (
        not item.is_repeat
        and (query.target_user_id is None or query.target_user_id in (item.user_id, item.sender_id))
        and (since is None or item.epoch >= since)
        and (until is None or item.epoch < until)
        and (item.has_new_info or not query.automatic)
    )


def _candidate(item: Sketch, similarity: float | None, lexical: float | None) -> Candidate:
    weight = _weight(item)
    return Candidate(
        id=str(item.row),
        similarity=None if similarity is None else similarity * weight,
        lexical=None if lexical is None else lexical * weight,
        epoch=item.epoch,
        text=item.text,
    )


def _weight(item: Sketch) -> float:
    return 1.0 if item.has_new_info else MEMO_WEIGHT
