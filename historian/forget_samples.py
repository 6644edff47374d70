"""A look at what would be forgotten: the beginnings of a few texts of each kind, so that a person sees what it is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from historian.forget_selection import Doomed

SHOWN = 3
"""Texts of each kind, the newest ones."""
LENGTH = 80
"""Characters of each."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of one text, on one line, and of which kind it is, named as in the counts."""

    what: str
    text: str


def samples(connection: sqlite3.Connection, meant: Doomed) -> tuple[Sample, ...]:
    """Return a look at the rows that somebody means. What follows from them may be others' and is not shown."""
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
        found += _of(what, (text for (text,) in texts))
    return (*found, *_of("profile lines", [text for _, text in sorted(meant.lines)][:SHOWN]))


def _of(what: str, texts: Iterable[str]) -> list[Sample]:
    return [Sample(what, line if len(line) <= LENGTH else f"{line[:LENGTH]}…") for line in map(_one_line, texts)]


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
