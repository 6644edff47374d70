"""Rerankers: models that read a query together with each text. Behind a Cohere- or Jina-style `/rerank`."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from historian.clock import Clock
from historian.complaints import Complaints
from historian.connection import Connection
from historian.embed import clean
from historian.endpoint import model_error
from historian.errors import ModelError, RetryableModelError
from historian.options import QueryOptions, RerankOptions
from historian.outages import Outage, OutageGuard
from historian.troubles import Trouble

WHAT = "reranker"
FAILED = "reranking failed"
_FALLEN_BACK = f"{FAILED}, the order is by meaning and words"
LONGEST = 4000
"""Characters of a text that are sent."""
MOST = 200
"""Texts that are sent at once."""

log = logging.getLogger(__name__)


class Reranker(Protocol):
    """Says how well each text answers a query. Blocking; safe to use from many threads."""

    @property
    def outage(self) -> Outage | None:
        """Why it is not asked at the moment, or None."""
        ...

    def scores(self, query: str, texts: Sequence[str]) -> list[float | None]:
        """Return a score, 0..1, for each text; None for one that was passed over. Raises ModelError."""
        ...

    def close(self) -> None:
        """Let go of all connections."""
        ...


class HttpReranker:
    """A reranker behind an endpoint, as Cohere, Jina, vLLM and llama.cpp serve it, or TEI."""

    def __init__(self, options: RerankOptions, clock: Clock) -> None:
        self._options = options
        self._guard = OutageGuard(WHAT, clock)
        self._connection = Connection(options.base_url, options.api_key, options.timeout)
        self._texts_are_called = "documents"

    @property
    def outage(self) -> Outage | None:
        """Why it is not asked at the moment, or None."""
        return self._guard.outage

    def scores(self, query: str, texts: Sequence[str]) -> list[float | None]:
        """Return a score, 0..1, for each text; see `Reranker`. Scores without bounds are squeezed into them."""
        sent = [clean(text, LONGEST) for text in texts]
        with self._guard.guard():
            return _shares(_rows(self._asked(clean(query, LONGEST), sent)), len(texts))

    def close(self) -> None:
        """Let go of all connections."""
        self._connection.close()

    def _asked(self, query: str, texts: Sequence[str]) -> object:
        import openai

        name = self._texts_are_called
        try:
            return self._post(query, name, texts)
        except openai.APIStatusError as error:
            if error.status_code not in (400, 422):
                raise model_error(error, WHAT) from None
        except openai.OpenAIError as error:
            raise model_error(error, WHAT) from None
        other = "texts" if name == "documents" else "documents"
        try:
            answer = self._post(query, other, texts)
        except openai.OpenAIError as error:
            raise model_error(error, WHAT) from None
        self._texts_are_called = other
        return answer

    def _post(self, query: str, name: str, texts: Sequence[str]) -> object:
        body = {"model": self._options.model, "query": query, name: list(texts), "top_n": len(texts)}
        try:
            with self._connection.lent() as client:
                return client.post("/rerank", cast_to=object, body=body)
        except ValueError:  # the body is no JSON
            raise _unreadable() from None


@dataclass(frozen=True, slots=True)
class Reranking:
    """The stage of reranking: which texts are sent, and what it means when that fails. Thread-safe."""

    reranker: Reranker | None
    options: Callable[[], QueryOptions]
    complaints: Complaints = field(default_factory=lambda: Complaints(log))

    def candidates(self, top_k: int) -> int:
        """Return how many candidates are reranked for an answer of `top_k`; 0 when there is no reranking."""
        options = self.options()
        if self.reranker is None or not options.enable_rerank or options.rerank_candidate_multiplier < 2:
            return 0
        return min(options.rerank_candidate_multiplier * top_k, MOST)

    def scores(self, query: str, texts: Mapping[str, str]) -> tuple[Mapping[str, float], tuple[str, ...]]:
        """Return the scores, 0..1, of `texts` by their key, and what did not work, in words."""
        if self.reranker is None or not texts or not query.strip():
            return {}, ()
        try:
            found = self.reranker.scores(query, list(texts.values()))
        except ModelError as error:
            self.complaints.say(FAILED, error)
            return {}, (f"{_FALLEN_BACK}: {error}",)
        self.complaints.over(FAILED)
        return {key: score for key, score in zip(texts, found, strict=True) if score is not None}, ()

    def state(self) -> tuple[Trouble, ...]:
        """Return what does not work at the moment, and since when."""
        outage = None if self.reranker is None else self.reranker.outage
        return () if outage is None else (Trouble(f"{_FALLEN_BACK}: {outage.reason}", outage.since),)

    def close(self) -> None:
        """Let go of all connections."""
        if self.reranker is not None:
            self.reranker.close()


def _rows(answer: object) -> list[tuple[int, float]]:
    """Return index and score of each text, in any of the known wordings. Raises RetryableModelError."""
    try:
        found: Any = answer
        rows = found if isinstance(found, list) else found.get("results", found.get("data"))
        scored = [(int(row["index"]), float(row.get("relevance_score", row.get("score")))) for row in rows]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _unreadable() from None
    if not scored or not all(math.isfinite(score) for _, score in scored):
        raise _unreadable()
    return scored


def _shares(rows: Sequence[tuple[int, float]], count: int) -> list[float | None]:
    """Some models give the logarithm of the odds: such scores are turned into shares, all of one answer alike."""
    bounded = all(0.0 <= score <= 1.0 for _, score in rows)
    out: list[float | None] = [None] * count
    for index, score in rows:
        if not 0 <= index < count:
            raise _unreadable()
        out[index] = score if bounded else 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, score))))
    return out


def _unreadable() -> RetryableModelError:
    return RetryableModelError(f"The {WHAT} gave an answer that cannot be read; check base_url.")
