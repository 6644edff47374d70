"""The numbers that stand for audience keys inside the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from historian.model import Reach


def audience_id(connection: sqlite3.Connection, key: str) -> int:
    """Return the number of an audience key, giving it one if it is new. Needs a write transaction."""
    found = connection.execute("SELECT id FROM audiences WHERE key = ?", (key,)).fetchone()
    if found is not None:
        return int(found[0])
    cursor = connection.execute("INSERT INTO audiences (key) VALUES (?)", (key,))
    return int(cursor.lastrowid or 0)


def audience_ids(connection: sqlite3.Connection, keys: Iterable[str]) -> tuple[int, ...]:
    """Return the numbers of several keys in their order, giving new ones where needed. Needs a write transaction."""
    return tuple(audience_id(connection, key) for key in keys)


def known_audiences(connection: sqlite3.Connection, reach: Reach) -> tuple[int, ...]:
    """Return the numbers of those keys of a reach under which anything was ever stored, in ascending order."""
    marks = ", ".join("?" * len(reach))
    rows = connection.execute(f"SELECT id FROM audiences WHERE key IN ({marks}) ORDER BY id", sorted(reach))
    return tuple(int(row[0]) for row in rows)
