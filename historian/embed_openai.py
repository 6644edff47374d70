"""Vectors of any OpenAI-compatible endpoint, calibrated by itself on first use.

Everything here blocks and belongs in a worker thread. Heavy packages are imported where they are first needed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from historian.calibration import CalibrationFile, Measured, measure
from historian.connection import Connection
from historian.embed import clean
from historian.endpoint import model_error
from historian.errors import ModelError, PermanentModelError, RetryableModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from openai.types import CreateEmbeddingResponse

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an embedding model is served. `dimensions` is asked for when set; `timeout` is in seconds."""

    base_url: str
    api_key: str
    model: str
    dimensions: int | None = None
    timeout: float = 30.0


class OpenAIEmbedder:
    """An embedding model behind an OpenAI-compatible endpoint, calibrated by itself on first use."""

    MAX_CHARS = 6000

    def __init__(
        self, endpoint: Endpoint, *, calibrations: CalibrationFile | None = None, batch_size: int = 32
    ) -> None:
        self._endpoint = endpoint
        self._calibrations = calibrations
        self._batch_size = batch_size
        self._lock = threading.Lock()
        self._connection = Connection(endpoint.base_url, endpoint.api_key, endpoint.timeout)
        self._measured: Measured | None = None

    @property
    def identity(self) -> str:
        """Which model this is; the dimension is part of it once known."""
        return f"openai:{self._endpoint.model}:{self.dimension or '?'}"

    @property
    def dimension(self) -> int:
        """The length of a vector; 0 before the endpoint was asked and nothing was set."""
        measured = self._measured
        return measured.dimension if measured is not None else self._endpoint.dimensions or 0

    def load(self, *, again: bool = False) -> None:
        """Find out dimension and curve: from the file, else by embedding the anchors. Raises ModelError.

        `again` asks the endpoint even though the file knows, for a model that changed under its name.
        """
        with self._lock:
            if self._measured is not None and not again:
                return
            known = self._calibrations.load(self._name) if self._calibrations is not None and not again else None
            self._measured = known or self._measure()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (n, dimension). Raises RetryableModelError, PermanentModelError."""
        import numpy as np

        self.load()
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = self._embed_all(texts)
        if vectors.shape[1] != self.dimension:
            raise PermanentModelError(
                f"The embedding endpoint now gives {vectors.shape[1]} numbers a text where it gave {self.dimension}; "
                "set the former model, or run `shiguan reindex`."
            )
        return vectors

    def coming(self) -> AbstractContextManager[object]:
        """Do nothing: an endpoint answers several at once, and nobody waits for others."""
        return nullcontext()

    def needs_none(self) -> None:
        """Do nothing."""

    def calibrate(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the similarity, 0..1, of each cosine. Raises ModelError when the model was never reached."""
        self.load()
        assert self._measured is not None
        return self._measured.calibration.apply(cosine)

    @property
    def _name(self) -> str:
        return f"openai:{self._endpoint.model}:{self._endpoint.dimensions or 'default'}"

    def _measure(self) -> Measured:
        sizes: list[int] = []

        def embed(texts: Sequence[str]) -> NDArray[np.float32]:
            vectors = self._embed_all(texts)
            sizes.append(vectors.shape[1])
            return vectors

        measured = Measured(calibration=measure(embed), dimension=sizes[0])
        if self._calibrations is not None:
            try:
                self._calibrations.save(self._name, measured)
            except OSError as error:
                _log.warning("the calibration of the embedding model is not kept: %s", type(error).__name__)
        return measured

    def _embed_all(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        cleaned = [clean(text, self.MAX_CHARS) for text in texts]
        parts = [part for batch in self._batches(cleaned) for part in self._embed_batch(batch)]
        if len({part.shape[1] for part in parts}) != 1:
            raise PermanentModelError("The embedding endpoint gives vectors of different lengths; check the model.")
        vectors = np.concatenate(parts)
        wanted = self._endpoint.dimensions
        if wanted and vectors.shape[1] != wanted:
            raise PermanentModelError(
                f"The embedding endpoint gives {vectors.shape[1]} numbers a text and not {wanted}; "
                "set embedding.dimensions to what the model gives."
            )
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        for start in range(0, len(texts), self._batch_size):
            yield texts[start : start + self._batch_size]

    def _embed_batch(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the vectors of one batch, halving it where the endpoint finds it too large."""
        try:
            yield self._request(texts)
        except _TooLargeError as error:
            if len(texts) == 1:
                raise error.reason from None
            middle = len(texts) // 2
            yield from self._embed_batch(texts[:middle])
            yield from self._embed_batch(texts[middle:])

    def _request(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import openai

        try:
            with self._connection.lent() as client:
                answer = client.embeddings.create(
                    input=list(texts),
                    model=self._endpoint.model,
                    dimensions=self._endpoint.dimensions or openai.omit,
                    encoding_format="float",
                )
        except openai.OpenAIError as error:
            reason = model_error(error, "embedding endpoint")
            if isinstance(error, openai.APIStatusError) and error.status_code in {400, 413, 422}:
                raise _TooLargeError(reason) from None
            raise reason from None
        except ValueError:  # the body is no JSON
            raise _unreadable() from None
        return _vectors(answer, len(texts))


class _TooLargeError(Exception):
    """The endpoint refused a batch, perhaps for its size."""

    def __init__(self, reason: ModelError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def _unreadable() -> RetryableModelError:
    return RetryableModelError("The embedding endpoint gave an answer that cannot be read.")


def _vectors(answer: CreateEmbeddingResponse, count: int) -> NDArray[np.float32]:
    """Return the answer's vectors in the order of the texts, at unit length. Raises RetryableModelError."""
    import numpy as np

    try:
        rows = sorted(answer.data, key=lambda row: row.index)
        vectors = np.asarray([row.embedding for row in rows], dtype=np.float32)
    except (AttributeError, TypeError, ValueError):  # the package does not validate what it reads
        raise _unreadable() from None
    if vectors.ndim != 2 or len(vectors) != count:
        raise _unreadable()
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise _unreadable()
    unit: NDArray[np.float32] = vectors / lengths
    return unit
