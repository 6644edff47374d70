"""The note that something forgotten has still to be wiped from the disk. It outlives the process that forgot."""

from __future__ import annotations

import sqlite3

_DUE = "wipe_due"


def note_due(connection: sqlite3.Connection) -> None:
    """Note it, with the change that forgets."""
    connection.execute("INSERT OR REPLACE INTO settings (key, value) VALUES (?, '1')", (_DUE,))


def is_due(connection: sqlite3.Connection) -> bool:
    """Whether it is noted."""
    return connection.execute("SELECT 1 FROM settings WHERE key = ?", (_DUE,)).fetchone() is not None


def note_done(connection: sqlite3.Connection) -> None:
    """Take the note away."""
    connection.execute("DELETE FROM settings WHERE key = ?", (_DUE,))
