"""Finding messages by meaning and by words at once, within a reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from heapq import nlargest
from typing import TYPE_CHECKING, Literal

from historian.clock import SystemClock
from historian.database import Database
from historian.engine import Engine
from historian.errors import InvalidInputError, ModelError, StoreError
from historian.message_question import Question, understand
from historian.message_ranking import Signals, Turn, cores, links_of, place
from historian.message_words import words_of
from historian.messages import StoredMessage
from historian.model import Reach
from historian.readable import EVERY_MESSAGE, MessageFilter, ReadableRecord
from historian.rerank import Reranking
from historian.retrieval import SEARCH, WARM_UP_SECONDS, Retrieval
from historian.surroundings import participants, rows_around, turns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SearchMode = Literal["hybrid", "semantic", "lexical"]

SEEDS = 40
"""Messages that each arm brings in, more where more are asked for; with them come those around them."""
LOOKED_AT = 60
"""Messages besides those asked for whose author, day and length are looked at: the best by meaning and words."""
NARROWED = 2_000
"""The same where a filter lets only some of those around the hits through."""
COMPARED = 20_000
"""Messages of a filter that are compared with the query, newest first."""


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """What to look for.

    `vector` is an embedding of the query made by `embedding_model`, used instead of embedding `text`; either may be
    missing. `min_score` is the least `semantic_score` of what is found, applied before the cut; a message that has no
    vector yet is kept for its words. `asked_at` is the instant, in the asker's zone, that "yesterday" is counted from;
    None is now, in UTC.
    """

    text: str
    reach: Reach
    top_k: int
    vector: NDArray[np.float32] | None = None
    embedding_model: str | None = None
    filter: MessageFilter = EVERY_MESSAGE
    min_score: float | None = None
    mode: SearchMode = "hybrid"
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RankedMessage:
    """A message with its place.

    `score` orders the answer, 0..1; in the modes of one arm it is the score of that arm. `semantic_score` is
    calibrated, `lexical_score` says how much of the words it has itself, both 0..1 and None where there is nothing to
    say. `how` names what spoke for it: semantic, lexical, neighbors, author, date, rerank.
    """

    stored: StoredMessage
    score: float
    semantic_score: float | None
    lexical_score: float | None
    how: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankedMessages:
    """Messages best first, and what did not work, in words."""

    items: tuple[RankedMessage, ...]
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Near:
    """What the vectors say: calibrated similarity by row, `more` for further rows, and what did not work."""

    similarity: Mapping[int, float]
    more: Callable[[Iterable[int]], Mapping[int, float]]
    degraded: tuple[str, ...] = ()


class MessageSearch:
    """Searches the record. Thread-safe; blocking.

    Where the vectors cannot be asked, only messages that have words of the query themselves are found.
    """

    def __init__(
        self,
        database: Database,
        engine: Engine,
        retrieval: Retrieval,
        reranking: Reranking | None = None,
    ) -> None:
        self._database = database
        self._engine = engine
        self._retrieval = retrieval
        self._turn = retrieval.turn
        self._reranking = reranking

    def search(self, query: MessageQuery) -> RankedMessages:
        """Return the best `top_k` messages, best first; a blank query without a vector finds nothing.

        Raises:
            InvalidInputError: the vector was not made by the embedding model in use.
            StoreError: the database cannot be read.
        """
        self._check_vector(query)
        said = bool(query.text.strip())
        if query.top_k < 1 or not (said or query.vector is not None):
            return RankedMessages(())
        embeds = query.mode != "lexical" and query.vector is None
        with self._retrieval.searching() if embeds else self._turn:
            return RankedMessages(self._by_words(query)) if query.mode == "lexical" else self._searched(query, said)

    def _searched(self, query: MessageQuery, said: bool) -> RankedMessages:
        asked_at = query.asked_at or SystemClock().now()
        with self._database.read() as connection:
            people = participants(connection, query.reach)
        question = understand(query.text, people, asked_at)
        near = self._near(query, question)
        if query.mode == "semantic":
            if near.degraded and said:
                return RankedMessages(self._by_words(query), near.degraded)
            return RankedMessages(self._by_meaning(query, near), near.degraded)
        count = self._reranking.candidates(query.top_k) if self._reranking is not None else 0
        items = self._fused(query, question, near, asked_at.tzinfo or UTC, max(count, query.top_k))
        failed: tuple[str, ...] = ()
        if count and self._reranking is not None:
            with self._turn.left():
                items, failed = _reranked(self._reranking, query.text, items)
        return RankedMessages(items[: query.top_k], near.degraded + failed)

    def _by_words(self, query: MessageQuery) -> tuple[RankedMessage, ...]:
        found = self._readable(query).lexical(query.text, query.filter, limit=query.top_k, ranked=True)
        return tuple(RankedMessage(one.stored, one.score, None, one.score, ("lexical",)) for one in found.items)

    def _by_meaning(self, query: MessageQuery, near: _Near) -> tuple[RankedMessage, ...]:
        least = query.min_score if query.min_score is not None else -1.0
        rows = [row for row, score in near.similarity.items() if score >= least]
        stored = {row: one for row, one in self._readable(query).rows(rows).items() if _fits(one, query.filter)}
        best = nlargest(query.top_k, stored, key=lambda row: (near.similarity[row], row))
        return tuple(
            RankedMessage(stored[row], round(near.similarity[row], 6), near.similarity[row], None, ("semantic",))
            for row in best
        )

    def _fused(
        self, query: MessageQuery, question: Question, near: _Near, zone: tzinfo, top: int
    ) -> tuple[RankedMessage, ...]:
        """Return the best `top` messages by meaning, words and where they stand."""
        wanted = query.filter
        with self._database.read() as connection:
            words = words_of(connection, query.reach, question.words, wanted)
            count = max(SEEDS, top)
            seeds = {*nlargest(count, near.similarity, key=lambda row: (near.similarity[row], row)), *words.best(count)}
            links = links_of(rows_around(connection, query.reach, seeds), seeds)
        known = links.known
        similarity = {**near.similarity, **near.more(known.difference(near.similarity))}
        signals = Signals(similarity, words.terms(known), words.weights)
        found = cores(links, signals)
        least = query.min_score if query.min_score is not None else 0.0
        eligible = (
            row
            for row in (signals.terms if near.degraded else links.rows)
            if row in found and wanted.since_row <= row < wanted.until_row and similarity.get(row, 1.0) >= least
        )
        narrow = wanted.role is not None or wanted.sender_id is not None
        shortlist = nlargest(top + (NARROWED if narrow else LOOKED_AT), eligible, key=lambda r: (found[r].score, r))
        with self._database.read() as connection:
            shown = turns(connection, query.reach, shortlist, zone if question.wanted.days else None)
        fitting = (turn for turn in shown if _wants(wanted, turn))
        placed = place(fitting, found, question.wanted, signals, top)
        stored = self._readable(query).rows(one.row for one in placed)
        return tuple(
            RankedMessage(stored[one.row], one.score, similarity.get(one.row), one.words or None, one.how)
            for one in placed
            if one.row in stored
        )

    def _near(self, query: MessageQuery, question: Question) -> _Near:
        """Return what the vectors find; nothing, and the reason, where they cannot be asked now."""
        if self._engine.state == "cold":
            self._engine.start()
        with self._turn.left():
            is_ready = self._engine.wait(WARM_UP_SECONDS)
        if not is_ready:
            return _Near({}, _nothing, self._retrieval.state())
        try:
            self._retrieval.catch_up(query.reach)
            with self._turn.left():
                vector = query.vector if query.vector is not None else self._engine.embed_query(question.meaning)
            return _Near(self._nearest(query, vector), lambda rows: self._around(query.reach, vector, rows))
        except (ModelError, StoreError) as error:
            self._retrieval.complaints.say(SEARCH, error)
            return _Near({}, _nothing, (f"search by meaning failed, words were searched: {error}",))

    def _nearest(self, query: MessageQuery, vector: NDArray[np.float32]) -> Mapping[int, float]:
        wanted = query.filter
        count = 2 * max(SEEDS, query.top_k)
        if wanted.condition("m")[0]:
            rows = self._readable(query).newest_rows(wanted, limit=COMPARED)
            compared = self._compared(query.reach, vector, rows)
            if compared or not rows:
                return compared
            count *= 5  # a scope too large to scan: what does not fit falls away afterwards
        since = None if wanted.since_ms is None else wanted.since_ms / 1000
        until = None if wanted.until_ms is None else wanted.until_ms / 1000
        near = self._engine.vectors.search("messages", query.reach, vector, count, since, until)
        best: dict[str, float] = {}
        for one, cosine in near:
            best.setdefault(one.partition(":")[0], cosine)
        return self._calibrated(best)

    def _compared(self, reach: Reach, vector: NDArray[np.float32], rows: Iterable[int]) -> Mapping[int, float]:
        return self._calibrated(self._engine.vectors.compare("messages", reach, vector, [str(row) for row in rows]))

    def _around(self, reach: Reach, vector: NDArray[np.float32], rows: Iterable[int]) -> Mapping[int, float]:
        """Compare what stands around the hits; without it they still have their place."""
        try:
            return self._compared(reach, vector, rows)
        except StoreError as error:
            self._retrieval.complaints.say(SEARCH, error)
            return {}

    def _calibrated(self, cosines: Mapping[str, float]) -> Mapping[int, float]:
        import numpy as np

        similarity = self._engine.embedder.calibrate(np.array([*cosines.values()], dtype=np.float32))
        return {int(row): score for row, score in zip(cosines, similarity.tolist(), strict=True)}

    def _check_vector(self, query: MessageQuery) -> None:
        if query.vector is None:
            return
        identity, dimension = self._engine.embedder.identity, self._engine.embedder.dimension
        if query.embedding_model not in (identity, *identity.split(":")[1:2]):
            raise InvalidInputError(f"The query_embedding must be made by {identity}; name it as embedding_model.")
        if dimension and len(query.vector) != dimension:
            raise InvalidInputError(
                f"The query_embedding has {len(query.vector)} numbers; {identity} makes {dimension}."
            )

    def _readable(self, query: MessageQuery) -> ReadableRecord:
        return ReadableRecord(self._database, query.reach)


def _reranked(
    reranking: Reranking, text: str, items: tuple[RankedMessage, ...]
) -> tuple[tuple[RankedMessage, ...], tuple[str, ...]]:
    """Return the messages in the order of the reranker, and what did not work; then the order stays."""
    scores, failed = reranking.scores(text, {str(one.stored.row): one.stored.message.content for one in items})
    if not scores:
        return items, failed
    again = [_with_score(one, scores.get(str(one.stored.row))) for one in items]
    return tuple(sorted(again, key=lambda one: (one.how[-1:] != ("rerank",), -one.score))), failed


def _with_score(item: RankedMessage, score: float | None) -> RankedMessage:
    return item if score is None else replace(item, score=round(score, 6), how=(*item.how, "rerank"))


def _nothing(_: Iterable[int]) -> Mapping[int, float]:
    return {}


def _fits(stored: StoredMessage, wanted: MessageFilter) -> bool:
    message = stored.message
    return (
        wanted.since_row <= stored.row < wanted.until_row
        and wanted.role in (None, message.role)
        and wanted.conversation_id in (None, message.conversation_id)
        and wanted.sender_id in (None, message.sender_id)
    )


def _wants(wanted: MessageFilter, turn: Turn) -> bool:
    return wanted.role in (None, turn.role) and wanted.sender_id in (None, turn.author[0])
