"""What is sought is found in a text by itself exactly where the word index finds the text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from historian.database import Database
from historian.model import Message, Owner
from historian.readable import MESSAGE_WORDS
from historian.record import Record
from historian.sought import Sought

WORDS = ("a", "he", "art", "cat", "cats", "Bob", "eight", "party", "c++", "node.js", "it's", "10:30", "Café", "ＡＲＴ")
CHARACTERS = ("猫", "梨", "树", "开", "花", "貓", "不", "か", "が", "한", "ไ", "𠮷")
MARKS = (" ", " ", " ", "", "。", ". ", "!", "-", "_", "\u200b", "\n", "🎉", "，", "'")
OPERATORS = (" AND ", " OR ", " NOT ", "NOT ", ' "', '" ', "「", "」", "(", ")", " or ")


def texts(parts: Sequence[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), max_size=8).map("".join)


TEXTS = texts([*WORDS, *CHARACTERS, *MARKS, *MARKS])
QUERIES = texts([*WORDS, *CHARACTERS, *MARKS, *OPERATORS])


def found_by_words(database: Database, owner: Owner, said: Sequence[str], query: str) -> set[str]:
    at = datetime(2026, 2, 20, tzinfo=UTC)
    Record(database).append(owner, [Message(str(n), "c", "user", text, at) for n, text in enumerate(said)])
    with database.read() as connection:
        hits = MESSAGE_WORDS.search(connection, frozenset({owner.key}), query, limit=1000, strict=True)
        rows = dict(connection.execute("SELECT row, content FROM messages").fetchall())
    return {rows[hit.row] for hit in hits.hits}


@pytest.mark.parametrize("examples", [100, pytest.param(5000, marks=pytest.mark.soak)])
def test_a_text_has_what_is_sought_where_the_index_finds_it(tmp_path: Path, examples: int) -> None:
    """P102, P103: short words, single characters, operators, phrases and what cannot be seen mean the same."""
    database = Database(tmp_path / "memory.sqlite3")
    numbers = count()

    @settings(max_examples=examples, derandomize=examples < 1000, deadline=None)
    @given(st.lists(TEXTS.filter(lambda text: bool(text.strip())), min_size=1, max_size=12, unique=True), QUERIES)
    @example(["The party begins at eight.", "Alice studies art.", "梨树开花了。"], "art")
    @example(["The party begins at eight.", "He is a cat", "梨树开花了。"], "he")
    @example(["我有一只貓", "The cat", "梨树开花了。"], "猫")
    @example(["anything", "。", "\u200b a"], "\u200b")
    @example(["a gizmo", "a snorkwiffle", "neither"], "gizmo OR snorkwiffle")
    @example(["a gizmo", "a snorkwiffle", "a gizmo, a snorkwiffle"], "gizmo NOT snorkwiffle")
    def run(said: list[str], query: str) -> None:
        sought = Sought(query)
        owner = Owner("user", f"ann-{next(numbers)}")
        assert {text for text in said if sought.is_in(text)} == found_by_words(database, owner, said, query)

    try:
        run()
    finally:
        database.close()
