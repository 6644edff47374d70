"""A look at what would be forgotten: the beginnings of a few texts of each kind, so that a person sees what it is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from historian.forget_selection import Doomed

SHOWN = 3
"""Texts of each kind, the newest ones."""
LENGTH = 80
"""Characters of each."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of one text, on one line, and of which kind it is, named as in the counts.

    `along`: nobody named it; it goes because it rests on what is meant, or says the same.
    """

    what: str
    text: str
    along: bool = False


def samples(connection: sqlite3.Connection, meant: Doomed, *, along: bool = False) -> tuple[Sample, ...]:
    """Return a look at these rows, all of which the asker may read."""
    places = (
        ("messages", "messages", "content", meant.messages),
        ("events", "events", "text", meant.events),
        ("memos", "memos", "text", meant.memos),
        ("pinned notes", "pinned", "text", meant.pinned),
    )
    found: list[Sample] = []
    for what, table, column, rows in places:
        texts = connection.execute(
            f"SELECT {column} FROM {table} WHERE row IN (SELECT value FROM json_each(?)) ORDER BY row DESC LIMIT ?",
            (json.dumps(sorted(rows)), SHOWN),
        )
        found += _of(what, (text for (text,) in texts), along=along)
    return (*found, *line_samples((text for _, text in meant.lines), along=along))


def line_samples(texts: Iterable[str], *, along: bool = False) -> tuple[Sample, ...]:
    """Return a look at lines of profiles that the asker may read."""
    return tuple(_of("profile lines", sorted(texts)[:SHOWN], along=along))


def going_along(meant: Doomed, gone: Doomed, readable: Doomed) -> Doomed:
    """Return the rows that go without being meant, as far as the asker may read them: others' texts are not shown."""

    def rest(all_gone: set[int], named: Collection[int], own: Collection[int]) -> set[int]:
        return all_gone.difference(named).intersection(own)

    return Doomed(
        rest(gone.messages, meant.messages, readable.messages),
        rest(gone.events, meant.events, readable.events),
        rest(gone.memos, meant.memos, readable.memos),
        rest(gone.pinned, meant.pinned, readable.pinned),
    )


def _of(what: str, texts: Iterable[str], *, along: bool) -> list[Sample]:
    lines = (_one_line(text) for text in texts)
    return [Sample(what, line if len(line) <= LENGTH else f"{line[:LENGTH]}…", along) for line in lines]


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
