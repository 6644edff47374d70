"""Keeps an outage of a store from flooding logs and from making every caller wait for the same failure."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import StrEnum

from historian.clock import Clock
from historian.errors import EmbeddingMismatchError, StoreError, UnreadyStoreError

_log = logging.getLogger(__name__)


class BreakerState(StrEnum):
    """Whether calls are let through."""

    UNINITIALISED = "uninitialised"
    READY = "ready"
    FAILED = "failed"
    HALF_OPEN = "half-open"


class Breaker:
    """Lets calls through until one fails, then refuses for a growing delay, then lets a single probe through.

    A failure is a `StoreError`, except `EmbeddingMismatchError`, which no waiting heals. Delays in seconds, doubling
    from `first_delay` to `max_delay`. Safe to use from many threads. Logs once per transition.
    """

    def __init__(self, name: str, clock: Clock, *, first_delay: float = 1.0, max_delay: float = 60.0) -> None:
        self._name = name
        self._clock = clock
        self._first_delay = first_delay
        self._max_delay = max_delay
        self._lock = threading.Lock()
        self._state = BreakerState.UNINITIALISED
        self._delay = first_delay
        self._retry_at: datetime | None = None

    @property
    def state(self) -> BreakerState:
        """The present state."""
        with self._lock:
            return self._state

    @contextmanager
    def guard(self) -> Generator[bool]:
        """Run the body if calls are let through; raise StoreError at once if not. The body's errors pass through.

        It is told whether it is the probe after a failure, which has to find out whether the store is back.
        """
        is_probe = self._enter()
        answered = False
        try:
            yield is_probe
            answered = True
        except EmbeddingMismatchError:
            answered = True
            raise
        except StoreError as error:
            self._fail(error)
            raise
        finally:
            self._leave(answered=answered)

    def _enter(self) -> bool:
        with self._lock:
            if self._state is BreakerState.HALF_OPEN or (
                self._state is BreakerState.FAILED and self._retry_at is not None and self._clock.now() < self._retry_at
            ):
                raise UnreadyStoreError(f"The {self._name} is not available at the moment; try again later.")
            is_probe = self._state is BreakerState.FAILED
            if is_probe:
                self._state = BreakerState.HALF_OPEN
                _log.info("%s: trying again", self._name)
            return is_probe

    def _leave(self, *, answered: bool) -> None:
        with self._lock:
            if answered and self._state is not BreakerState.READY and self._state is not BreakerState.FAILED:
                if self._state is BreakerState.HALF_OPEN:
                    _log.info("%s: available again", self._name)
                self._state = BreakerState.READY
                self._delay = self._first_delay
            elif self._state is BreakerState.HALF_OPEN:  # the probe died of something else: nothing is known yet
                self._state = BreakerState.FAILED

    def _fail(self, error: StoreError) -> None:
        with self._lock:
            probed = self._state is BreakerState.HALF_OPEN
            if self._state is BreakerState.FAILED:
                return  # a call that began before the breaker opened
            if probed:
                self._delay = min(self._delay * 2, self._max_delay)
            else:
                self._delay = self._first_delay
            self._retry_at = self._clock.now() + timedelta(seconds=self._delay)
            self._state = BreakerState.FAILED
            _log.warning("%s: %s; trying again in %.0f s", self._name, error, self._delay)
