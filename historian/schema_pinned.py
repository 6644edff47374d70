"""Tables of pinned notes: facts kept by hand, of one person or one group, numbered in each from 1."""

from __future__ import annotations

PINNED = (
    """
    CREATE TABLE pinned (
        row        INTEGER PRIMARY KEY,
        owner_key  TEXT NOT NULL,
        note_id    TEXT NOT NULL,
        author_key TEXT,
        text       TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX pinned_by_id ON pinned (owner_key, note_id)",
    "CREATE UNIQUE INDEX pinned_by_text ON pinned (owner_key, text)",
    "CREATE TABLE pinned_numbers (owner_key TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID",
)
