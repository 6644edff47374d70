"""What is asked of the record in many tests."""

from __future__ import annotations

from historian.excerpts import read_newest
from historian.readable import EVERY_MESSAGE, MessageFilter, ReadableRecord


def count(readable: ReadableRecord, wanted: MessageFilter = EVERY_MESSAGE) -> int:
    """Return how many messages fit, as a list of them says."""
    return read_newest(readable, wanted, limit=1, count_to=1_000).total
