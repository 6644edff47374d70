"""Lets threads that want texts embedded at about the same moment share one call of a model: many cost little more."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PATIENCE_SECONDS = 0.03
"""How long who wants something now waits at most for those who will in a moment: about what a call for each costs."""


@dataclass(slots=True)
class _Request:
    """What one thread wants. `turn` is set once it is answered, or once it is to make the next call."""

    texts: Sequence[str]
    vectors: NDArray[np.float32] | None = None
    is_alone: bool = False
    turn: threading.Event = field(default_factory=threading.Event)


class JointCalls:
    """Makes the calls of a model one by one, each for those who wait then. Thread-safe; first come, first served.

    One of those who wait makes the call, so that there is no thread of its own. `encode` returns a row for each text;
    `most` texts are handed to it at once, or those of one request alone. Who makes a call waits for those who are
    `coming` for at most `patience` seconds.
    """

    def __init__(
        self,
        encode: Callable[[Sequence[str]], NDArray[np.float32]],
        most: int,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._encode = encode
        self._most = most
        self._patience = patience
        self._lock = threading.Lock()
        self._waiting: deque[_Request] = deque()
        self._is_called = False
        self._coming = 0
        self._nobody_comes = threading.Condition(self._lock)
        self._own = threading.local()

    @contextmanager
    def coming(self) -> Generator[None]:
        """Say for the duration of the block, or until `run` or `needs_none`, that this thread is about to call `run`.

        Who makes a call then waits for it a little, so that the call is one for both.
        """
        if getattr(self._own, "is_coming", False):
            yield
            return
        with self._lock:
            self._coming += 1
        self._own.is_coming = True
        try:
            yield
        finally:
            self.needs_none()

    def needs_none(self) -> None:
        """Say that this thread is not coming after all."""
        with self._lock:
            self._arrive()

    def run(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return what `encode` makes of these texts.

        Raises what it raises; those who shared a call that failed are served by calls of their own then.
        """
        request = _Request(texts)
        with self._lock:
            self._waiting.append(request)
            self._arrive()
            calls = not self._is_called
            self._is_called = True
        if not calls:
            request.turn.wait()
        if request.vectors is None:
            together = self._together()
            try:
                self._answer(together)
            finally:
                self._hand_on([one for one in together[1:] if one.vectors is None])
        assert request.vectors is not None
        return request.vectors

    def _together(self) -> list[_Request]:
        """Take the first who waits, and of the others as many as go into one call."""
        with self._lock:
            self._nobody_comes.wait_for(self._has_enough, self._patience)
            taken = [self._waiting.popleft()]
            count = len(taken[0].texts)
            while self._waiting and not (taken[0].is_alone or self._waiting[0].is_alone):
                count += len(self._waiting[0].texts)
                if count > self._most:
                    break
                taken.append(self._waiting.popleft())
        return taken

    def _has_enough(self) -> bool:
        """Say whether there is nothing to wait for. Needs the lock."""
        return (
            not self._coming or self._waiting[0].is_alone or sum(len(one.texts) for one in self._waiting) >= self._most
        )

    def _arrive(self) -> None:
        """Note that this thread is not coming any more. Needs the lock."""
        if getattr(self._own, "is_coming", False):
            self._own.is_coming = False
            self._coming -= 1
            self._nobody_comes.notify()

    def _answer(self, requests: Sequence[_Request]) -> None:
        rows = self._encode([text for request in requests for text in request.texts])
        start = 0
        for request in requests:
            request.vectors = rows[start : start + len(request.texts)]
            start += len(request.texts)
            request.turn.set()

    def _hand_on(self, unanswered: Sequence[_Request]) -> None:
        """Let the next who waits make the next call; first those whose shared call failed, each for itself."""
        for request in unanswered:
            request.is_alone = True
        with self._lock:
            self._waiting.extendleft(reversed(unanswered))
            following = self._waiting[0] if self._waiting else None
            self._is_called = following is not None
        if following is not None:
            following.turn.set()
