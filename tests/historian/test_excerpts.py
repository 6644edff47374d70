"""Lists of messages are cut the same way, however they are read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from historian.database import Database
from historian.excerpts import BUDGET, read_excerpts, read_newest
from historian.intake import MAX_CONTENT
from historian.model import Message, Owner
from historian.readable import EVERY_MESSAGE
from historian.record import Record

ALICE = Owner("user", "alice")
START = datetime(2026, 2, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    "lengths",
    [
        [],
        [5, 7, 9],
        [20_000, 20_000, 1],
        [20_001],
        [20_001, 3, 5],
        [MAX_CONTENT],
        [MAX_CONTENT, MAX_CONTENT, 10],
        [19_000] * 12,
    ],
    ids=["none", "short", "just-short-enough", "one", "one-of-three", "whole", "two-of-three", "too-much-together"],
)
def test_the_newest_messages_are_cut_as_if_they_had_been_named(tmp_path: Path, lengths: list[int]) -> None:
    database = Database(tmp_path / "memory.sqlite3")
    record = Record(database)
    said = [
        Message(f"m{at}", "c", "user", "字" * length, START + timedelta(minutes=at))
        for at, length in enumerate(lengths)
    ]
    record.append(ALICE, said)
    readable = record.within(frozenset({ALICE.key}))
    for limit in (1, 2, 200):
        rows = readable.newest_rows(limit=limit)
        named = read_excerpts(readable, rows)
        newest = read_newest(readable, EVERY_MESSAGE, limit=limit)
        assert newest.shown == [named[row] for row in rows]
        assert newest.has_more is (len(lengths) > limit)
        assert sum(len(one.stored.message.content) for one in newest.shown) <= max(BUDGET, MAX_CONTENT)
    database.close()
