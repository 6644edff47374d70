"""How long to wait before trying again."""

from __future__ import annotations

import math

from historian.errors import InvalidInputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

FIRST_WAIT_AT_MOST = 5.0
WAIT_AT_MOST = 300.0
ASKED_WAIT_AT_MOST = 86_400.0


class RetryPolicy:
    """Exponential back-off with jitter: the n-th wait is half to all of `base_delay * 2 ** (n - 1)` seconds."""

    def __init__(self, max_retries: int, base_delay: float, rng: Random | None) -> None:
        if max_retries < 0 or not math.isfinite(base_delay) or base_delay < 0:
            raise InvalidInputError("The number of retries and the delay between them must not be negative.")
        self.max_retries = max_retries
        self._base_delay = base_delay
        self._rng = rng

    def delay(self, attempts: int, retry_after: float | None = None) -> float:
        """Return the seconds to wait after so many attempts; never less than `retry_after`, up to a day."""
        if self._rng is None:
            from random import Random

            self._rng = Random()
        limit = FIRST_WAIT_AT_MOST if attempts == 1 else WAIT_AT_MOST
        wait = min(self._base_delay * 2.0 ** min(attempts - 1, 60), limit) * self._rng.uniform(0.5, 1.0)
        return wait if retry_after is None else max(wait, self.bounded(retry_after))

    def bounded(self, seconds: float) -> float:
        """Return a wait that somebody asked for, within zero and a day; nonsense counts as zero."""
        return min(max(seconds, 0.0), ASKED_WAIT_AT_MOST) if not math.isnan(seconds) else 0.0
