"""The tables of group memory: versions of statements, the log of their changes, and the runs that made them.

A version is written as no head, read back, and only then takes the place of its parent; the indexes let no chain fork
and no memory have two heads.
"""

from __future__ import annotations

GROUP_MEMORIES = (
    """
    CREATE TABLE group_memories (
        row            INTEGER PRIMARY KEY AUTOINCREMENT,
        owner_key      TEXT NOT NULL,
        memory_id      TEXT NOT NULL,
        version        INTEGER NOT NULL CHECK (version >= 1),
        parent_version INTEGER CHECK (parent_version IS NULL OR parent_version = version - 1),
        is_head        INTEGER NOT NULL,
        status         TEXT NOT NULL CHECK (status = 'deprecated' OR (status = 'active' AND is_head = 1)),
        statement      TEXT NOT NULL,
        tags           TEXT NOT NULL,
        strength       REAL NOT NULL CHECK (strength BETWEEN 0 AND 1),
        strength_ms    INTEGER NOT NULL,
        created_ms     INTEGER NOT NULL,
        updated_ms     INTEGER NOT NULL,
        confirmed_ms   INTEGER NOT NULL,
        change_reason  TEXT NOT NULL,
        message_ids    TEXT NOT NULL,
        run_id         TEXT,
        flags          TEXT NOT NULL,
        embedded_by    TEXT,
        UNIQUE (owner_key, memory_id, version),
        CHECK ((parent_version IS NULL) = (version = 1))
    )
    """,
    "CREATE UNIQUE INDEX group_memories_heads ON group_memories (owner_key, memory_id) WHERE is_head = 1",
    "CREATE INDEX group_memories_by_change ON group_memories (owner_key, status, updated_ms) WHERE is_head = 1",
    "CREATE INDEX group_memories_by_embedder ON group_memories (embedded_by) WHERE status = 'active'",
    """
    CREATE TABLE group_memory_audiences (
        audience_id INTEGER NOT NULL REFERENCES audiences (id),
        row         INTEGER NOT NULL,
        PRIMARY KEY (audience_id, row)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE group_memory_messages (
        memory_row  INTEGER NOT NULL REFERENCES group_memories (row) ON DELETE CASCADE,
        message_row INTEGER NOT NULL REFERENCES messages (row) ON UPDATE CASCADE ON DELETE CASCADE,
        PRIMARY KEY (memory_row, message_row)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX group_memory_messages_by_message ON group_memory_messages (message_row)",
    # `after` is the version as it stood after the change: applying the log from nothing gives the present state.
    """
    CREATE TABLE group_changes (
        row           INTEGER PRIMARY KEY AUTOINCREMENT,
        owner_key     TEXT NOT NULL,
        memory_id     TEXT NOT NULL,
        version       INTEGER NOT NULL,
        action        TEXT NOT NULL,
        at_ms         INTEGER NOT NULL,
        old_statement TEXT,
        change_reason TEXT NOT NULL,
        message_ids   TEXT NOT NULL,
        run_id        TEXT,
        after         TEXT NOT NULL
    )
    """,
    "CREATE INDEX group_changes_by_time ON group_changes (owner_key, at_ms)",
    "CREATE INDEX group_changes_by_memory ON group_changes (owner_key, memory_id, row)",
    """
    CREATE TABLE group_runs (
        run_id      TEXT PRIMARY KEY,
        owner_key   TEXT NOT NULL,
        state       TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed')),
        started_ms  INTEGER NOT NULL,
        finished_ms INTEGER,
        since_row   INTEGER,
        until_row   INTEGER,
        messages    INTEGER NOT NULL DEFAULT 0,
        stats       TEXT NOT NULL DEFAULT '{}',
        error       TEXT
    ) WITHOUT ROWID
    """,
    "CREATE INDEX group_runs_by_group ON group_runs (owner_key, state, until_row)",
)
