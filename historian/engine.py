"""Loads what is slow to load, the embedding model and the vector store, in one background thread."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from historian.breaker import BreakerState
from historian.clock import Clock, SystemClock
from historian.embed import Embedder
from historian.errors import EmbeddingMismatchError, PermanentModelError, RetryableModelError, ShiguanError, StoreError
from historian.vectors import VectorStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_log = logging.getLogger(__name__)

EngineState = Literal["cold", "loading", "ready", "failed"]

_WARMING = "The search by meaning is still warming up; try again in a few seconds. Search by words works."
_BROKEN = "The search by meaning could not be started; see the log. Search by words works."
_FIRST_DELAY, _MAX_DELAY = 5.0, 120.0  # seconds


class Engine:
    """The embedding model and the vector store, ready or not. Blocks only in `wait`, `embed_query`, `close`.

    `open_store` makes a store for a loaded embedder and opens it; it runs in the background thread, as imports do.
    A failure that may pass (`RetryableModelError`, `StoreError`) is tried again after a delay, by the next use.
    """

    def __init__(
        self,
        embedder: Embedder,
        open_store: Callable[[Embedder], VectorStore],
        *,
        clock: Clock | None = None,
        cache_size: int = 256,
        close_seconds: float = 1.0,
    ) -> None:
        self.embedder = embedder
        self.ready = threading.Event()
        self._open_store = open_store
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._pausing = threading.Lock()
        self._is_paused = False
        self._settled = threading.Event()
        self._closing = threading.Event()
        self._state: EngineState = "cold"
        self._store: VectorStore | None = None
        self._error: ShiguanError | None = None
        self._delay = _FIRST_DELAY
        self._retry_at: datetime | None = None
        self._thread: threading.Thread | None = None
        self._cache: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._cache_size = cache_size
        self._close_seconds = close_seconds

    @property
    def state(self) -> EngineState:
        """Where loading stands."""
        return self._state

    @property
    def failure(self) -> str | None:
        """Why loading failed, in one sentence; None unless it did."""
        error = self._error
        return str(error) if self._state == "failed" and error is not None else None

    @property
    def is_store_broken(self) -> bool:
        """Whether the opened store failed and is not back yet."""
        store = self._store
        return store is not None and store.breaker.state in (BreakerState.FAILED, BreakerState.HALF_OPEN)

    @property
    def vectors(self) -> VectorStore:
        """The opened store. Raises StoreError while warming up, EmbeddingMismatchError for foreign vectors."""
        self._revive()
        if self._store is None:
            if isinstance(self._error, EmbeddingMismatchError):
                raise EmbeddingMismatchError(str(self._error))
            raise StoreError(self.failure or _WARMING)
        return self._store

    def start(self) -> None:
        """Begin loading in the background, unless it is under way or done. Returns at once."""
        self._start(quiet=False)

    def _start(self, *, quiet: bool) -> None:
        """Start the thread. A quiet start is a new attempt that nobody shall wait for."""
        with self._lock:
            if self._is_paused or self._state in ("loading", "ready"):
                return
            self._state = "loading"
            self._closing.clear()
            if not quiet:
                self._settled.clear()
            self._thread = threading.Thread(target=self._load, name="shiguan-engine", daemon=True)
            self._thread.start()

    def wait(self, timeout: float | None) -> bool:
        """Wait until loading ended, at most `timeout` seconds; return whether the engine is ready.

        After a failure it does not wait, not even while another attempt is under way.
        """
        self._revive()
        self._settled.wait(timeout)
        return self.ready.is_set()

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a query, shape (dimension,), remembering recent ones. Raises ModelError.

        While warming up it raises RetryableModelError at once.
        """
        self._revive()
        if not self.ready.is_set():
            if isinstance(self._error, PermanentModelError):
                raise PermanentModelError(str(self._error))
            raise RetryableModelError(self.failure or _WARMING)
        with self._lock:
            known = self._cache.get(text)
            if known is not None:
                self._cache.move_to_end(text)
                self.embedder.needs_none()
                return known
        vector: NDArray[np.float32] = self.embedder.embed([text])[0]
        vector.setflags(write=False)
        with self._lock:
            self._cache[text] = vector
            while len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)
        return vector

    def close(self) -> None:
        """Close the store. Loading that is under way gets `close_seconds` to end, and closes up after itself.

        The engine may be started again once loading has ended.
        """
        thread = self._thread
        self._closing.set()
        if thread is not None:
            thread.join(self._close_seconds)
            if thread.is_alive():
                _log.warning("the search by meaning was still loading when it was closed")
                return
        self._let_go("cold")

    def pause(self) -> None:
        """Close the store and let nobody start it until `resume`; searches are told that it is warming up.

        Loading that is under way ends first, and so does the pause of another thread.
        """
        self._pausing.acquire()
        with self._lock:
            self._is_paused = True  # before anything is closed: a search that finds it so would start it again
            thread = self._thread
            self._closing.set()
        if thread is not None:
            thread.join()
        self._let_go("loading")

    def resume(self) -> None:
        """Start again after `pause`."""
        with self._lock:
            self._state = "cold"
            self._is_paused = False
        self._pausing.release()
        self.start()

    def _let_go(self, state: EngineState) -> None:
        with self._lock:
            store, self._store = self._store, None
            self._state = state
            self._error = None
            self.ready.clear()
            self._settled.clear()
        if store is not None:
            store.close()

    def _load(self) -> None:
        error: ShiguanError = StoreError(_BROKEN)
        try:
            self.embedder.load()
            self._take(self._open_store(self.embedder))
        except ShiguanError as known:
            error = known
        except (ImportError, OSError, RuntimeError, ValueError, KeyError, MemoryError):
            _log.exception("loading failed")
        finally:  # also after an error that nobody foresaw: nobody may wait for ever
            if self._state != "ready":
                self._fail(error)
            self._settled.set()

    def _take(self, store: VectorStore) -> None:
        with self._lock:
            if not self._closing.is_set():
                self._store = store
                self._state = "ready"
                self.ready.set()
                return
        store.close()

    def _fail(self, error: ShiguanError) -> None:
        if self._closing.is_set():
            self._state = "cold"
            return
        _log.warning("the search by meaning is not available: %s", error)
        self._error = error
        self._retry_at = self._clock.now() + timedelta(seconds=self._delay)
        self._delay = min(self._delay * 2, _MAX_DELAY)
        self._state = "failed"

    def _revive(self) -> None:
        """Start again after a failure that may have passed, once its delay is over."""
        hopeless = isinstance(self._error, (PermanentModelError, EmbeddingMismatchError))
        if self._state != "failed" or hopeless or self._retry_at is None:
            return
        if self._clock.now() >= self._retry_at:
            self._start(quiet=True)
