"""What one recall may cost: rounds with the model, looks into the record, tokens and seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from typing import TypeVar

from historian.chat import Usage
from historian.errors import RetryableModelError
from historian.options import RecallOptions

_CHARACTERS = 3
"""Characters of a token where the endpoint does not count."""

T = TypeVar("T")


class Budget:
    """Counts down. `clock` gives seconds that only rise."""

    def __init__(self, options: RecallOptions, clock: Callable[[], float] = time.monotonic) -> None:
        self._options = options
        self._clock = clock
        self._until = clock() + options.seconds
        self.rounds = 0
        self.tokens = 0
        self.looks_left = options.calls

    def spent(self) -> str:
        """Return which budget is used up, in words, or nothing."""
        options = self._options
        if self.rounds >= options.rounds:
            return f"{options.rounds} rounds"
        if self.tokens >= options.tokens:
            return f"{options.tokens} tokens"
        if self._clock() >= self._until:
            return f"{options.seconds:g} seconds"
        return ""

    @property
    def is_last_round(self) -> bool:
        """Whether the next answer has to be the view: no further round, or no look, is left."""
        return self.rounds + 1 >= self._options.rounds or self.looks_left <= 0

    def count(self, usage: Usage, characters: int) -> None:
        """Count a round; `characters` were sent and received, for endpoints that count no tokens."""
        self.rounds += 1
        self.tokens += usage.prompt_tokens + usage.completion_tokens or characters // _CHARACTERS

    def within(self, call: Callable[[], T]) -> T:
        """Return what a call gives, unless the seconds are over first.

        Raises:
            RetryableModelError: they are; the call ends by itself, and nobody waits for it.
        """
        pool = ThreadPoolExecutor(1, thread_name_prefix="recall")
        try:
            return pool.submit(call).result(max(0.0, self._until - self._clock()))
        except LateError:
            raise RetryableModelError(f"The budget of {self._options.seconds:g} seconds is used up.") from None
        finally:
            pool.shutdown(wait=False)
