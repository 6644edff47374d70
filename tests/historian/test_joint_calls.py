from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from historian.joint_calls import JointCalls

MOST = 4


class Slow:
    """Gives each text its number; the first call lasts until it is let go, and texts named "bad" fail."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.entered = threading.Event()
        self.go = threading.Event()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append([*texts])
        self.entered.set()
        assert self.go.wait(20)
        if "bad" in texts:
            raise ValueError("bad")
        return np.array([[float(text)] for text in texts], dtype=np.float32)


def until_waiting(calls: JointCalls, count: int) -> None:
    while len(calls._waiting) < count:  # pyright: ignore[reportPrivateUsage]
        threading.Event().wait(0.001)


def asked_meanwhile(slow: Slow, calls: JointCalls, wanted: Sequence[Sequence[str]]) -> list[Future[list[float]]]:
    """Have the first asked, and the others while it is being answered, one after the other."""
    futures: list[Future[list[float]]] = []
    with ThreadPoolExecutor(len(wanted)) as pool:
        for texts in wanted:
            futures.append(pool.submit(lambda texts=texts: [float(row[0]) for row in calls.run(texts)]))  # type: ignore[misc]
            assert slow.entered.wait(20)
            until_waiting(calls, len(futures) - 1)
        slow.go.set()
    return futures


def test_those_who_wait_meanwhile_share_the_next_call() -> None:
    slow = Slow()
    futures = asked_meanwhile(slow, JointCalls(slow, MOST), [["1"], ["2"], ["3", "4"], ["5"]])
    assert slow.calls == [["1"], ["2", "3", "4", "5"]]
    assert [future.result() for future in futures] == [[1.0], [2.0], [3.0, 4.0], [5.0]]


def test_no_call_is_larger_than_it_may_be_unless_one_request_is() -> None:
    slow = Slow()
    asked_meanwhile(slow, JointCalls(slow, MOST), [["1"], ["2", "3", "4"], ["5", "6"], ["7"] * 6, ["8"]])
    assert slow.calls == [["1"], ["2", "3", "4"], ["5", "6"], ["7"] * 6, ["8"]]


def test_a_text_that_fails_spoils_only_the_call_that_it_begins() -> None:
    slow = Slow()
    futures = asked_meanwhile(slow, JointCalls(slow, MOST), [["1"], ["bad"], ["2"], ["3"]])
    assert [future.result() for future in (futures[0], *futures[2:])] == [[1.0], [2.0], [3.0]]
    with pytest.raises(ValueError, match="bad"):
        futures[1].result()


def test_after_a_failure_the_next_is_served() -> None:
    slow = Slow()
    slow.go.set()
    calls = JointCalls(slow, MOST)
    with pytest.raises(ValueError, match="bad"):
        calls.run(["bad"])
    assert calls.run(["9"]).tolist() == [[9.0]]


def test_who_makes_a_call_waits_for_those_who_are_about_to_want_something() -> None:
    slow = Slow()
    slow.go.set()
    calls = JointCalls(slow, MOST, patience=20)
    with ThreadPoolExecutor(1) as pool:
        with calls.coming():
            first = pool.submit(calls.run, ["1"])
            until_waiting(calls, 1)
            assert calls.run(["2"]).tolist() == [[2.0]]
        assert first.result().tolist() == [[1.0]]
    assert slow.calls == [["1", "2"]]


def test_who_was_about_to_and_wants_nothing_is_not_waited_for() -> None:
    slow = Slow()
    slow.go.set()
    calls = JointCalls(slow, MOST, patience=20)
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(RuntimeError, match="changed its mind"), calls.coming():
            first = pool.submit(calls.run, ["1"])
            until_waiting(calls, 1)
            raise RuntimeError("changed its mind")
        assert first.result().tolist() == [[1.0]]
    assert slow.calls == [["1"]]


def test_who_finds_on_the_way_that_it_needs_nothing_is_not_waited_for() -> None:
    slow = Slow()
    slow.go.set()
    calls = JointCalls(slow, MOST, patience=20)
    with ThreadPoolExecutor(1) as pool, calls.coming():
        calls.needs_none()
        assert pool.submit(calls.run, ["1"]).result(10).tolist() == [[1.0]]
    with ThreadPoolExecutor(1) as pool:  # and is counted anew the next time
        with calls.coming():
            first = pool.submit(calls.run, ["2"])
            until_waiting(calls, 1)
            assert calls.run(["3"]).tolist() == [[3.0]]
        assert first.result().tolist() == [[2.0]]
    assert slow.calls == [["1"], ["2", "3"]]


def test_a_full_call_waits_for_nobody() -> None:
    slow = Slow()
    slow.go.set()
    calls = JointCalls(slow, MOST, patience=20)
    with ThreadPoolExecutor(1) as pool, calls.coming():
        assert pool.submit(calls.run, ["1"] * MOST).result(10).tolist() == [[1.0]] * MOST


def test_who_takes_long_to_come_is_waited_for_a_moment_only() -> None:
    slow = Slow()
    slow.go.set()
    calls = JointCalls(slow, MOST, patience=0.001)
    with ThreadPoolExecutor(1) as pool, calls.coming(), calls.coming():
        assert pool.submit(calls.run, ["1"]).result(10).tolist() == [[1.0]]
        assert calls.run(["2"]).tolist() == [[2.0]]
    assert slow.calls == [["1"], ["2"]]


@given(st.lists(st.lists(st.integers(0, 999), min_size=1, max_size=6), min_size=1, max_size=24), st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_every_thread_gets_the_rows_of_its_own_texts(wanted: list[list[int]], most: int) -> None:
    calls = JointCalls(lambda texts: np.array([[float(text)] for text in texts], dtype=np.float32), most)
    asked = [[str(one) for one in numbers] for numbers in wanted]
    with ThreadPoolExecutor(8) as pool:
        found = [rows.ravel().tolist() for rows in pool.map(calls.run, asked)]
    assert found == [[float(one) for one in numbers] for numbers in wanted]
