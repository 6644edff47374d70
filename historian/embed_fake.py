"""A tiny embedder for tests and demonstrations: hashed character n-grams, deterministic, loads at once or when told."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING

from historian.errors import ModelError, RetryableModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class HashingEmbedder:
    """Near texts share character pairs.

    `gate` holds loading back until it is set; `failures` are raised by the first uses, in order.
    """

    def __init__(
        self,
        dimension: int = 64,
        *,
        name: str = "hashing",
        gate: threading.Event | None = None,
        failures: Sequence[ModelError] = (),
    ) -> None:
        self._dimension = dimension
        self._name = name
        self._gate = gate
        self._failures = list(failures)
        self.loading = threading.Event()
        self.calls = 0

    @property
    def identity(self) -> str:
        """Which model this is."""
        return f"fake:{self._name}:{self._dimension}"

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._dimension

    def load(self) -> None:
        """Wait for the gate, then raise the next failure if one is left."""
        self.loading.set()
        if self._gate is not None and not self._gate.wait(60):
            raise RetryableModelError("The gate was never opened.")
        if self._failures:
            raise self._failures.pop(0)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (n, dimension)."""
        import numpy as np

        self.load()
        self.calls += 1
        out = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            folded = f" {text.casefold()} ".encode("utf-8", "replace").decode("utf-8")
            for gram in [*folded, *map("".join, pairwise(folded))]:
                out[row, zlib.crc32(gram.encode()) % self._dimension] += len(gram) ** 2
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        return out

    def coming(self) -> AbstractContextManager[object]:
        """Do nothing."""
        return nullcontext()

    def needs_none(self) -> None:
        """Do nothing."""

    def calibrate(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine, clipped to 0..1."""
        import numpy as np

        return np.clip(np.asarray(cosine, dtype=np.float32), 0.0, 1.0)
