from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from historian.breaker import Breaker, BreakerState
from historian.clock import FixedClock
from historian.errors import EmbeddingMismatchError, StoreError


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 11, 28, tzinfo=UTC))


@pytest.fixture
def breaker(clock: FixedClock) -> Breaker:
    return Breaker("vector store", clock, first_delay=1.0, max_delay=8.0)


def fail(breaker: Breaker) -> None:
    with pytest.raises(StoreError, match="disk full"), breaker.guard():
        raise StoreError("disk full")


def succeed(breaker: Breaker) -> None:
    with breaker.guard():
        pass


def assert_refused(breaker: Breaker) -> None:
    with pytest.raises(StoreError, match="not available"), breaker.guard():
        pytest.fail("the body must not run")


def test_it_is_uninitialised_until_something_worked(breaker: Breaker) -> None:
    assert breaker.state is BreakerState.UNINITIALISED
    succeed(breaker)
    assert breaker.state is BreakerState.READY


def test_after_a_failure_calls_are_refused_without_trying(breaker: Breaker) -> None:
    fail(breaker)
    assert breaker.state is BreakerState.FAILED
    assert_refused(breaker)


def test_after_the_delay_one_probe_closes_it(breaker: Breaker, clock: FixedClock) -> None:
    fail(breaker)
    clock.advance(seconds=1.01)
    succeed(breaker)
    assert breaker.state is BreakerState.READY


def test_while_a_probe_is_under_way_others_are_refused(breaker: Breaker, clock: FixedClock) -> None:
    fail(breaker)
    clock.advance(seconds=1.01)
    with breaker.guard():
        assert breaker.state is BreakerState.HALF_OPEN
        assert_refused(breaker)
        assert breaker.state is BreakerState.HALF_OPEN
    assert breaker.state is BreakerState.READY


def test_the_delay_grows_with_every_failed_probe_up_to_a_bound(breaker: Breaker, clock: FixedClock) -> None:
    fail(breaker)
    for delay in (1, 2, 4, 8, 8):
        clock.advance(seconds=delay - 0.01)
        assert_refused(breaker)
        clock.advance(seconds=0.02)
        fail(breaker)


def test_after_recovery_the_delay_starts_small_again(breaker: Breaker, clock: FixedClock) -> None:
    fail(breaker)
    clock.advance(seconds=1.01)
    fail(breaker)
    clock.advance(seconds=2.01)
    succeed(breaker)
    fail(breaker)
    clock.advance(seconds=1.01)
    succeed(breaker)


def test_a_mismatch_of_models_is_no_outage(breaker: Breaker) -> None:
    for _ in range(3):
        with pytest.raises(EmbeddingMismatchError), breaker.guard():
            raise EmbeddingMismatchError("another model")
    assert breaker.state is BreakerState.READY


def test_a_probe_that_dies_of_something_else_does_not_block_the_next(breaker: Breaker, clock: FixedClock) -> None:
    fail(breaker)
    clock.advance(seconds=1.01)
    with pytest.raises(KeyboardInterrupt), breaker.guard():
        raise KeyboardInterrupt
    succeed(breaker)
    assert breaker.state is BreakerState.READY


def test_an_outage_is_logged_once_a_transition(
    breaker: Breaker, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="historian.breaker"):
        fail(breaker)
        for _ in range(50):
            assert_refused(breaker)
        clock.advance(seconds=1.01)
        succeed(breaker)
        for _ in range(50):
            succeed(breaker)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO", "INFO"]
