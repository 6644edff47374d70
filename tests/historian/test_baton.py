"""Of the threads that do jobs, one computes at a time while calls come in; a courtesy on which nothing can hang."""

from __future__ import annotations

import threading
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from historian.baton import Baton
from historian.foreground import Foreground


class Rested(Foreground):
    """Calls come in, and at the moment none is under way, so that who steps aside need not wait."""

    def is_busy(self) -> bool:
        return False


@pytest.fixture
def threads() -> Generator[tuple[ThreadPoolExecutor, ThreadPoolExecutor]]:
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        yield one, other


def lately() -> Baton:
    """Return a baton while calls come in."""
    foreground = Rested()
    with foreground.call():
        pass
    return Baton(foreground)


def taken(baton: Baton, thread: ThreadPoolExecutor) -> Future[bool]:
    """Let a thread take the baton, and say whether it has it."""

    def take() -> bool:
        baton.take()
        return baton.is_held()

    return thread.submit(take)


def test_while_calls_come_in_one_thread_has_the_baton_and_the_other_goes_on_without_it_after_a_while(
    threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor],
) -> None:
    one, other = threads
    baton = lately()
    assert taken(baton, one).result()
    assert not taken(baton, other).result()
    one.submit(baton.lay_down).result()
    assert taken(baton, other).result()


def test_while_one_thread_waits_for_a_model_another_one_has_the_baton(
    threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor],
) -> None:
    one, other = threads
    baton = lately()
    asked, answered = threading.Event(), threading.Event()

    def ask() -> bool:
        with baton.laid_down():
            asked.set()
            answered.wait()
        return baton.is_held()

    assert taken(baton, one).result()
    asking = one.submit(ask)
    asked.wait()
    assert taken(baton, other).result()
    other.submit(baton.lay_down).result()
    answered.set()
    assert asking.result()


def test_a_thread_that_does_no_job_waits_for_a_model_without_the_baton() -> None:
    baton = lately()
    with baton.laid_down():
        assert not baton.is_held()
    assert not baton.is_held()


def test_when_nobody_called_lately_nobody_needs_the_baton(
    threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor],
) -> None:
    baton = Baton(Foreground())
    for thread in threads:
        assert not taken(baton, thread).result()


def test_who_takes_it_again_has_it_once(threads: tuple[ThreadPoolExecutor, ThreadPoolExecutor]) -> None:
    one, other = threads
    baton = lately()
    assert taken(baton, one).result()
    assert taken(baton, one).result()
    one.submit(baton.lay_down).result()
    one.submit(baton.lay_down).result()
    assert taken(baton, other).result()
    assert not taken(baton, one).result()
