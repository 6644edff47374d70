"""Of a long lane only what is needed is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from historian.clock import SystemClock
from historian.queue import Queue


@pytest.mark.parametrize(
    ("most", "numbers", "left"), [(10, [0, 1, 2, 3, 4], 0), (5, [0, 1, 2, 3, 4], 0), (3, [0, 3, 4], 2), (1, [0], 4)]
)
def test_an_outline_has_the_first_job_and_the_newest_ones_and_counts_the_rest(
    tmp_path: Path, most: int, numbers: list[int], left: int
) -> None:
    queue = Queue(tmp_path, clock=SystemClock())
    for number in range(5):
        queue.enqueue("end", "user:小林", {"number": number})
        queue.enqueue("end", "user:bob", {"number": 100})
    jobs, unread = queue.outline("user:小林", most)
    assert [job.payload["number"] for _, job in jobs] == numbers
    assert unread == left
    queue.close()
