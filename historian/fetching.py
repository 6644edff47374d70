"""Reading many rows of the database as one: SQLite gives up the interpreter for each row that it hands out."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from pydantic_core import from_json

from historian.database import Database


def fetch_together(
    connection: sqlite3.Connection, columns: str, source: str, parameters: Sequence[object] = ()
) -> list[list[Any]]:
    """Return the rows of `SELECT columns source` in no order, as lists. `source` begins with FROM.

    The columns are numbers and texts. While other threads compute, each row that is read by itself may cost a change of
    threads, which takes longer than the row.
    """
    rows: list[list[Any]] = from_json(connection.execute(together(columns, source), parameters).fetchone()[0])
    return rows


def ask_together(database: Database, columns: str, source: str, parameters: Sequence[object] = ()) -> list[list[Any]]:
    """Do as `fetch_together` where nothing else is read at the same moment."""
    rows: list[list[Any]] = from_json(database.ask(together(columns, source), parameters)[0])
    return rows


def together(columns: str, source: str) -> str:
    """Return a statement that reads rows as one value, which is JSON."""
    return f"SELECT json_group_array(json_array({columns})) {source}"
