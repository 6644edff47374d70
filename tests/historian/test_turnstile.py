"""Searches compute one after the other, and leave the turn to others while they only wait."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from historian.turnstile import Turnstile


def test_one_thread_is_inside_at_a_time_however_many_blocks_it_is_in() -> None:
    turn, inside, most = Turnstile(), 0, 0

    def pass_through(_: int) -> None:
        nonlocal inside, most
        with turn, turn:
            inside += 1
            most = max(most, inside)
            inside -= 1

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(pass_through, range(400))] == [None] * 400
    assert most == 1


def test_while_a_thread_waits_for_something_else_another_one_goes_through() -> None:
    turn, passed = Turnstile(), threading.Event()

    def pass_through() -> None:
        with turn:
            passed.set()

    with ThreadPoolExecutor(1) as threads, turn, turn:
        going = threads.submit(pass_through)
        with turn.left():
            assert passed.wait(30)
        going.result()


def test_who_is_not_inside_leaves_nothing_and_an_error_leaves_it_free() -> None:
    turn = Turnstile()
    with turn.left():
        pass
    with pytest.raises(ValueError, match="within"), turn:
        raise ValueError("within")
    with pytest.raises(ValueError, match="outside"), turn, turn.left():
        raise ValueError("outside")
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(turn.__enter__).exception() is None
