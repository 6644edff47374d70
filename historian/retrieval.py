"""The two signals of every search, by meaning and by words, as scores per row; what fails is named, never hidden."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from historian.bridges import bridge
from historian.complaints import Complaints
from historian.database import Database
from historian.engine import Engine
from historian.errors import ModelError, StoreError
from historian.indexer import Indexer
from historian.lexical import EVERYWHERE, LexicalIndex, Mentions, Within
from historian.lexical import Hits as WordHits
from historian.model import Reach
from historian.telling import common_terms, telling_part
from historian.text import says_nothing
from historian.turnstile import Turnstile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WARM_UP_SECONDS = 8.0
"""How long a search waits for the embedder that is still loading, before it answers by words alone and says so."""
AUTOMATIC_SECONDS = 1.0
"""How long those together do that nobody asked for by name: a turn is held up by them."""
CATCH_UP = 128
"""Texts without a vector that a search embeds first; more are left to the background."""

BRIDGED = 0.5
"""What a text with other words for what is asked counts, against one with the words themselves."""

SEARCH = "search by meaning failed"
"""What is complained about, once for each outage."""
STORE_FAILED = "search by meaning is off: the vector store failed and is tried again by itself; words are searched"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Hits:
    """Row → (similarity 0..1 or None, lexical score 0..1 or None), and what did not work."""

    scores: Mapping[int, tuple[float | None, float | None]]
    degraded: tuple[str, ...]


class Patience:
    """How long the searches of one request wait together for the embedder to be loaded."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left of it."""
        return max(0.0, self._until - time.monotonic())


@dataclass(frozen=True, slots=True)
class _Asked:
    """Where is searched, for whom, for how many rows, and between which epoch seconds."""

    collection: str
    reach: Reach
    limit: int
    since: float | None
    until: float | None

    @property
    def within(self) -> Within:
        if self.since is None and self.until is None:
            return EVERYWHERE  # else the time of every row that has a word of the query is looked up
        low = -(2**62) if self.since is None else math.ceil(self.since * 1000)
        high = 2**62 if self.until is None else math.ceil(self.until * 1000)
        return Within(condition="t.epoch_ms >= ? AND t.epoch_ms < ?", parameters=(low, high))


class Retrieval:
    """Searches the collections. Thread-safe."""

    def __init__(self, database: Database, engine: Engine, indexer: Indexer, words: Mapping[str, LexicalIndex]) -> None:
        self._database = database
        self._engine = engine
        self._indexer = indexer
        self._words = words
        self.turn = Turnstile()
        self.complaints = Complaints(log)

    @contextmanager
    def searching(self) -> Generator[None]:
        """Let one thread after the other search; those before the model wait for those who come to it as well."""
        with self._engine.embedder.coming(), self.turn:
            yield

    def find(
        self,
        collection: str,
        text: str,
        reach: Reach,
        *,
        limit: int,
        since: float | None,
        until: float | None,
        patience: float = WARM_UP_SECONDS,
    ) -> Hits:
        """Return up to `limit` rows by each signal. A query without words finds nothing. Times are epoch seconds.

        The embedder may take `patience` seconds until it is loaded; afterwards words alone are searched.
        """
        if says_nothing(text) or not reach:
            return Hits({}, ())
        with self.searching():
            return self._found(_Asked(collection, reach, limit, since, until), text, patience)

    def _found(self, asked: _Asked, text: str, patience: float) -> Hits:
        found = self._by_words(asked, text)
        lexical = {hit.row: hit.score for hit in found.hits}
        besides = bridge(text)
        if besides:
            for hit in self._by_words(asked, besides).hits:
                lexical[hit.row] = max(lexical.get(hit.row, 0.0), BRIDGED * hit.score)
        similar: dict[int, float] = {}
        degraded = self._warmed(patience)
        if not degraded:
            counted = found.mentions if asked.within is EVERYWHERE else None
            mentions = counted or self._mentions(asked, text)
            telling = f"{telling_part(text, common_terms(mentions))} {besides}".strip()
            similar, degraded = self._by_meaning(asked, telling, lexical)
        rows = {*lexical, *similar}
        return Hits({row: (similar.get(row), lexical.get(row)) for row in rows}, degraded)

    def catch_up(self, reach: Reach) -> None:
        """Embed what waits when it is little and may be found, so that a search sees what was stored just before it.

        Raises:
            ModelError, StoreError: as `Indexer.run_batch`.
        """
        if self._indexer.is_little_behind(CATCH_UP, reach):
            self._engine.embedder.needs_none()  # else who embeds would wait for this thread, which waits for it
            with self.turn.left():
                self._indexer.catch_up()

    def state(self) -> tuple[str, ...]:
        """Return what is degraded now, in words; empty when all is well."""
        if self._engine.state == "failed":
            return (f"search by meaning is off: {self._engine.failure}",)
        if self._engine.state == "loading":
            return ("search by meaning is warming up; words are searched",)
        return (STORE_FAILED,) if self._engine.is_store_broken else ()

    def _warmed(self, patience: float) -> tuple[str, ...]:
        """Return nothing once the embedder is loaded, else what is degraded."""
        if self._engine.state == "cold":
            self._engine.start()
        with self.turn.left():
            return () if self._engine.wait(patience) else self.state()

    def _by_words(self, asked: _Asked, text: str) -> WordHits:
        words = self._words[asked.collection]
        with self._database.read() as connection:
            return words.search(connection, asked.reach, text, limit=asked.limit, within=asked.within)

    def _mentions(self, asked: _Asked, text: str) -> Mentions:
        """Return who has which term: what most of them have, like a name, is not compared by meaning."""
        with self._database.read() as connection:
            return self._words[asked.collection].mentions(connection, asked.reach, text)

    def _by_meaning(self, asked: _Asked, text: str, worded: Iterable[int]) -> tuple[dict[int, float], tuple[str, ...]]:
        """Return the similarity of the nearest rows, and of those found by words: many others may be nearer."""
        try:
            self.catch_up(asked.reach)
            with self.turn.left():
                vector = self._engine.embed_query(text)
            near = self._nearest(asked, vector, worded)
            self.complaints.over(SEARCH)
            return self._calibrated(near), ()
        except (ModelError, StoreError) as error:
            self.complaints.say(SEARCH, error)
            return {}, (f"search by meaning failed, words were searched: {error}",)

    def _nearest(self, asked: _Asked, vector: NDArray[np.float32], worded: Iterable[int]) -> dict[str, float]:
        vectors, collection, reach = self._engine.vectors, asked.collection, asked.reach
        near = dict(vectors.search(collection, reach, vector, asked.limit, asked.since, asked.until))
        further = [row for row in map(str, worded) if row not in near]
        return near | dict(vectors.compare(collection, reach, vector, further)) if further else near

    def _calibrated(self, near: Mapping[str, float]) -> dict[int, float]:
        import numpy as np

        similarity = self._engine.embedder.calibrate(np.array([*near.values()], dtype=np.float32))
        return {int(row): float(score) for row, score in zip(near, similarity, strict=True)}
