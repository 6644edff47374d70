"""Many rows come as one, with every text and number as it is stored."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from historian.fetching import fetch_together

TEXTS = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])))
NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1)


@given(st.lists(st.tuples(NUMBERS, TEXTS, TEXTS)))
def test_rows_that_come_together_are_those_that_come_one_by_one(rows: list[tuple[int, str | None, str | None]]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE said (number INTEGER, one TEXT, other TEXT)")
        connection.executemany("INSERT INTO said VALUES (?, ?, ?)", rows)
        together = fetch_together(connection, "number, one, other", "FROM said ORDER BY rowid")
        assert [tuple(row) for row in together] == connection.execute("SELECT * FROM said ORDER BY rowid").fetchall()


def test_parameters_narrow_and_where_nothing_is_there_is_no_row() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE said (one TEXT)")
        connection.executemany("INSERT INTO said VALUES (?)", [("茶",), ("tea 🍵",)])
        assert fetch_together(connection, "one", "FROM said WHERE one = ?", ["tea 🍵"]) == [["tea 🍵"]]
        assert fetch_together(connection, "one", "FROM said WHERE one = ?", ["coffee"]) == []
