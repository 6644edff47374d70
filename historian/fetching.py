"""Reading many rows of the database as one: SQLite gives up the interpreter for each row that it hands out."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from pydantic_core import from_json


def fetch_together(
    connection: sqlite3.Connection, columns: str, source: str, parameters: Sequence[object] = ()
) -> list[list[Any]]:
    """Return the rows of `SELECT columns source` in no order, as lists. `source` begins with FROM.

    The columns are numbers and texts. While other threads compute, each row that is read by itself may cost a change of
    threads, which takes longer than the row.
    """
    together = connection.execute(f"SELECT json_group_array(json_array({columns})) {source}", parameters).fetchone()[0]
    rows: list[list[Any]] = from_json(together)
    return rows
