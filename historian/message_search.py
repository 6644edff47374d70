"""Finding messages by meaning and by words at once, within a reach."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from historian.engine import Engine
from historian.errors import InvalidInputError, ModelError, StoreError
from historian.indexer import Indexer
from historian.messages import StoredMessage
from historian.model import Reach
from historian.readable import EVERY_MESSAGE, MessageFilter
from historian.record import Record
from historian.retrieval import CATCH_UP, WARM_UP_SECONDS, Retrieval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SearchMode = Literal["hybrid", "semantic", "lexical"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """What to look for.

    `vector` is an embedding of the query made by `embedding_model`, used instead of embedding `text`; either may be
    missing. `min_score` is the least `semantic_score` of what is found by meaning; hits by words need none. `asked_at`
    is the instant, in the asker's zone, that "yesterday" is counted from; None is now, in UTC.
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

    `score` orders the answer, 0..1. `semantic_score` is calibrated, `lexical_score` that of the word index, both 0..1
    and None where that arm did not look at it or found nothing. `how` names what spoke for it.
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


class MessageSearch:
    """Searches the record. Thread-safe; blocking."""

    def __init__(self, record: Record, engine: Engine, indexer: Indexer, retrieval: Retrieval) -> None:
        self._record = record
        self._engine = engine
        self._indexer = indexer
        self._retrieval = retrieval

    def search(self, query: MessageQuery) -> RankedMessages:
        """Return the best `top_k` messages, best first; a blank query without a vector finds nothing.

        Raises:
            InvalidInputError: the vector was not made by the embedding model in use.
            StoreError: the database cannot be read.
        """
        self._check_vector(query)
        readable = self._record.within(query.reach)
        lexical: dict[int, float] = {}
        if query.mode != "semantic" and query.text.strip():
            found = readable.lexical(query.text, query.filter, limit=200, ranked=True)
            lexical = {item.stored.row: item.score for item in found.items}
        similar: dict[int, float] = {}
        degraded: tuple[str, ...] = ()
        if query.mode != "lexical" and (query.text.strip() or query.vector is not None):
            similar, degraded = self._by_meaning(query)
            if degraded and query.mode == "semantic" and query.text.strip():
                found = readable.lexical(query.text, query.filter, limit=200, ranked=True)
                lexical = {item.stored.row: item.score for item in found.items}
        rows = readable.rows({*lexical, *similar})
        best = max(lexical.values(), default=1.0)
        items = [
            RankedMessage(
                stored,
                round(0.5 * similar.get(row, 0.0) + 0.5 * lexical.get(row, 0.0) / best, 6),
                similar.get(row),
                lexical.get(row),
                tuple(how for how, arm in (("semantic", similar), ("lexical", lexical)) if row in arm),
            )
            for row, stored in rows.items()
            if _fits(stored, query.filter)
        ]
        items.sort(key=lambda item: (-item.score, -item.stored.row))
        return RankedMessages(tuple(items[: max(query.top_k, 0)]), degraded)

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

    def _by_meaning(self, query: MessageQuery) -> tuple[dict[int, float], tuple[str, ...]]:
        if self._engine.state == "cold":
            self._engine.start()
        if not self._engine.wait(WARM_UP_SECONDS):
            return {}, self._retrieval.state()
        try:
            self._indexer.catch_up(CATCH_UP)
            vector = query.vector if query.vector is not None else self._engine.embed_query(query.text)
            wanted = query.filter
            since = None if wanted.since_ms is None else wanted.since_ms / 1000
            until = None if wanted.until_ms is None else wanted.until_ms / 1000
            near = self._engine.vectors.search("messages", query.reach, vector, 200, since, until)
            return self._calibrated(near, query.min_score), ()
        except (ModelError, StoreError) as error:
            log.warning("search by meaning failed: %s", error)
            return {}, (f"search by meaning failed, words were searched: {error}",)

    def _calibrated(self, near: list[tuple[str, float]], least: float | None) -> dict[int, float]:
        import numpy as np

        similarity = self._engine.embedder.calibrate(np.array([cosine for _, cosine in near], dtype=np.float32))
        best: dict[int, float] = {}
        for (one, _), score in zip(near, similarity, strict=True):
            row = int(one.partition(":")[0])
            best[row] = max(best.get(row, 0.0), float(score))
        return {row: score for row, score in best.items() if least is None or score >= least}


def _fits(stored: StoredMessage, wanted: MessageFilter) -> bool:
    message = stored.message
    return (
        wanted.since_row <= stored.row < wanted.until_row
        and wanted.role in (None, message.role)
        and wanted.conversation_id in (None, message.conversation_id)
        and wanted.sender_id in (None, message.sender_id)
    )
