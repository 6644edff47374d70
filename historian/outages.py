"""Remembers that an endpoint is out of order, so that a thousand jobs do not each wait for the same time-out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from historian.clock import Clock
from historian.errors import ModelError, ModelSettingsError, RetryableModelError

FIRST_WAIT, LONGEST_WAIT = 2.0, 60.0
"""Seconds for which nobody asks, doubling with every probe that fails."""
IN_A_ROW = 3
"""So many failures in a row are an outage; one alone may be chance."""
SLOW_SECONDS = 5.0
"""A failure that took longer than this counts twice: each further one costs as much."""
LONGEST_ASKED_WAIT = 3600.0
"""Seconds that an endpoint may ask us to stay away for; afterwards it is probed."""
PROBE_SECONDS = 1.0
"""What those are told to wait who come while somebody probes."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outage:
    """Why an endpoint is not asked, since when, and when it is asked again. Times are aware."""

    reason: str
    since: datetime
    retry_at: datetime


class OutageGuard:
    """Lets calls through until an endpoint is out of order, then one probe at a time. Thread-safe.

    Out of order is: `IN_A_ROW` RetryableModelErrors without a success between them, one that says how long to stay
    away, or a ModelSettingsError, which holds for every call. Any other outcome is an answer. Logs once per change.
    """

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._first_failure: datetime | None = None
        self._wait = FIRST_WAIT
        self._outage: Outage | None = None
        self._error: ModelError | None = None
        self._probing = False

    @property
    def outage(self) -> Outage | None:
        """What is wrong now, or None."""
        with self._lock:
            return self._outage

    @contextmanager
    def guard(self) -> Generator[None]:
        """Run the body, or raise at once what the last call failed with. The body's errors pass through.

        Raises:
            RetryableModelError: the endpoint is out of order; `retry_after` is when it is asked again, in seconds.
            ModelSettingsError: it refused the settings a moment ago.
        """
        probe = self._enter()
        begun = self._clock.now()
        try:
            yield
        except (RetryableModelError, ModelSettingsError) as error:
            self._fail(error, begun, probe=probe)
            raise
        except ModelError:
            self._succeed()
            raise
        else:
            self._succeed()
        finally:
            if probe:
                with self._lock:
                    self._probing = False

    def _enter(self) -> bool:
        """Return whether this call is a probe."""
        with self._lock:
            if self._outage is None:
                return False
            left = (self._outage.retry_at - self._clock.now()).total_seconds()
            if left <= 0 and not self._probing:
                self._probing = True
                return True
            if isinstance(self._error, ModelSettingsError):
                raise ModelSettingsError(self._outage.reason)
            raise RetryableModelError(self._outage.reason, retry_after=max(left, PROBE_SECONDS))

    def _succeed(self) -> None:
        with self._lock:
            if self._outage is not None:
                log.info("the %s answers again", self._name)
            self._failures, self._first_failure = 0, None
            self._wait = FIRST_WAIT
            self._outage = self._error = None

    def _fail(self, error: ModelError, begun: datetime, *, probe: bool) -> None:
        with self._lock:
            now = self._clock.now()
            if self._outage is not None and not probe:
                return  # it began before the outage was noticed
            asked = error.retry_after if isinstance(error, RetryableModelError) else None
            self._failures += 2 if (now - begun).total_seconds() > SLOW_SECONDS else 1
            self._first_failure = self._first_failure or begun
            certain = bool(asked) or isinstance(error, ModelSettingsError)
            if not probe and not certain and self._failures < IN_A_ROW:
                return
            wait = self._wait if not asked else min(asked, LONGEST_ASKED_WAIT)
            self._wait = min(self._wait * 2, LONGEST_WAIT)
            self._error = error
            self._outage = Outage(str(error), self._first_failure, now + timedelta(seconds=wait))
            if not probe:
                log.warning("%s It is asked again in %.0f s.", error, wait)
