"""The tables of `memory.sqlite3`, as an ordered list of migrations: step N takes `user_version` N - 1 to N.

A step that was released is never edited; a change is a new step. Times are epoch milliseconds in UTC (`*_ms`) next to
the text as it was given, booleans are 0 and 1, lists and maps are JSON text.

Every readable row has *audiences*: the keys of `Owner.audiences`, numbered once in `audiences`. What a request may read
is a set of such keys, so visibility is one indexed look-up, also in the full-text tables, where each one is a token.
"""

from __future__ import annotations

from historian.schema_group import GROUP_MEMORIES
from historian.schema_merges import MERGES
from historian.schema_pinned import PINNED

_RECORD = (
    """
    CREATE TABLE audiences (
        id  INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE
    )
    """,
    # row = (ts_ms << 20) | seq, so that time range, order and cursor are all rowid ranges.
    """
    CREATE TABLE messages (
        row             INTEGER PRIMARY KEY,
        owner_key       TEXT NOT NULL,
        message_id      TEXT NOT NULL,
        conversation_id TEXT NOT NULL,
        role            TEXT NOT NULL,
        sender_id       TEXT,
        sender_name     TEXT,
        reply_to        TEXT,
        ts              TEXT NOT NULL,
        zone_known      INTEGER NOT NULL,
        stand_in        INTEGER NOT NULL,
        meta            TEXT,
        embedded_by     TEXT,
        content         TEXT NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX messages_by_id ON messages (message_id, owner_key)",
    "CREATE INDEX messages_by_conversation ON messages (owner_key, conversation_id)",
    "CREATE INDEX messages_by_embedder ON messages (embedded_by)",
    "CREATE INDEX messages_standing_in ON messages (owner_key) WHERE stand_in = 1",
    # No foreign key: a check by row would need a second index as large as the table; the record keeps both in one step.
    """
    CREATE TABLE message_audiences (
        audience_id INTEGER NOT NULL REFERENCES audiences (id),
        row         INTEGER NOT NULL,
        PRIMARY KEY (audience_id, row)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE message_aliases (
        owner_key TEXT NOT NULL,
        alias_id  TEXT NOT NULL,
        row       INTEGER NOT NULL REFERENCES messages (row) ON UPDATE CASCADE ON DELETE CASCADE,
        PRIMARY KEY (alias_id, owner_key)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX message_aliases_by_row ON message_aliases (row)",
)

_EVENTS = (
    """
    CREATE TABLE events (
        row            INTEGER PRIMARY KEY AUTOINCREMENT,
        owner_key      TEXT NOT NULL,
        event_id       TEXT NOT NULL,
        request_id     TEXT NOT NULL,
        end_seq        INTEGER NOT NULL,
        position       INTEGER NOT NULL,
        text           TEXT NOT NULL,
        original       TEXT NOT NULL,
        timestamp      TEXT NOT NULL,
        epoch_ms       INTEGER NOT NULL,
        timezone       TEXT NOT NULL,
        user_id        TEXT NOT NULL,
        group_id       TEXT,
        sender_id      TEXT,
        sender_name    TEXT,
        location       TEXT,
        request_type   TEXT NOT NULL,
        message_ids    TEXT NOT NULL,
        has_new_info   INTEGER NOT NULL,
        perspective    TEXT,
        is_absolute    INTEGER NOT NULL,
        flags          TEXT NOT NULL,
        origin         TEXT NOT NULL,
        same_as        TEXT,
        schema_version TEXT NOT NULL,
        mark           TEXT NOT NULL,
        embedded_by    TEXT,
        UNIQUE (owner_key, event_id)
    )
    """,
    "CREATE INDEX events_by_time ON events (owner_key, epoch_ms)",
    "CREATE INDEX events_by_mark ON events (owner_key, mark)",
    "CREATE INDEX events_by_embedder ON events (embedded_by) WHERE same_as IS NULL",
    """
    CREATE TABLE event_audiences (
        audience_id INTEGER NOT NULL REFERENCES audiences (id),
        row         INTEGER NOT NULL,
        PRIMARY KEY (audience_id, row)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE event_messages (
        event_row   INTEGER NOT NULL REFERENCES events (row) ON DELETE CASCADE,
        message_row INTEGER NOT NULL REFERENCES messages (row) ON UPDATE CASCADE ON DELETE CASCADE,
        PRIMARY KEY (event_row, message_row)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX event_messages_by_message ON event_messages (message_row)",
)

_TURNS = (
    """
    CREATE TABLE memos (
        row        INTEGER PRIMARY KEY AUTOINCREMENT,
        owner_key  TEXT NOT NULL,
        author_key TEXT,
        request_id TEXT NOT NULL,
        job_id     TEXT NOT NULL UNIQUE,
        text       TEXT NOT NULL,
        ts_ms      INTEGER NOT NULL,
        zone       TEXT NOT NULL
    )
    """,
    "CREATE INDEX memos_by_time ON memos (owner_key, ts_ms)",
    """
    CREATE TABLE receipts (
        job_id       TEXT PRIMARY KEY,
        owner_key    TEXT NOT NULL,
        fingerprint  TEXT NOT NULL,
        request_id   TEXT NOT NULL,
        end_seq      INTEGER NOT NULL,
        state        TEXT NOT NULL,
        step         TEXT,
        attempts     INTEGER NOT NULL DEFAULT 0,
        error        TEXT,
        receipt_json TEXT NOT NULL,
        created_ms   INTEGER NOT NULL,
        finished_ms  INTEGER
    ) WITHOUT ROWID
    """,
    "CREATE INDEX receipts_by_fingerprint ON receipts (owner_key, fingerprint)",
    """
    CREATE TABLE settings (
        key   TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID
    """,
)

# Lines of the profile files, for searching them: derived from the files, rebuilt when a file's digest differs.
_PROFILES = (
    """
    CREATE TABLE profile_files (
        entity_type TEXT NOT NULL,
        entity_id   TEXT NOT NULL,
        name        TEXT,
        digest      TEXT NOT NULL,
        PRIMARY KEY (entity_type, entity_id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE profile_lines (
        row         INTEGER PRIMARY KEY AUTOINCREMENT,
        entity_type TEXT NOT NULL,
        entity_id   TEXT NOT NULL,
        shown_in    TEXT NOT NULL,
        text        TEXT NOT NULL,
        epoch_ms    INTEGER NOT NULL,
        embedded_by TEXT,
        UNIQUE (entity_type, entity_id, shown_in, text)
    )
    """,
    "CREATE INDEX profile_lines_by_embedder ON profile_lines (embedded_by)",
    """
    CREATE TABLE profile_line_audiences (
        audience_id INTEGER NOT NULL REFERENCES audiences (id),
        row         INTEGER NOT NULL,
        PRIMARY KEY (audience_id, row)
    ) WITHOUT ROWID
    """,
)


def _lexical(name: str) -> tuple[str, str]:
    """Return the two tables of one lexical index: the folded text, and the terms without a copy of it.

    The application makes the terms (blanks around CJK characters, pairs of them, stems, audience and role), so the
    tokenizer only has to split at blanks: `ascii` does, for every character of every Unicode version. Neighbouring is
    verified on the folded text, which makes positions (`detail`) and sizes superfluous.
    """
    return (
        f"""
        CREATE TABLE {name}_lexical (
            row    INTEGER PRIMARY KEY,
            scope  TEXT NOT NULL,
            folded TEXT NOT NULL
        )
        """,
        f"CREATE VIRTUAL TABLE {name}_fts USING fts5(terms, content='', columnsize=0, detail=none, tokenize='ascii')",
    )


# Who says anything in the record, so that a name in a question is known without reading all messages; and of a message
# that is embedded in several pieces, how many vectors it has.
_SEARCH = (
    """
    CREATE TABLE participants (
        audience_id INTEGER NOT NULL REFERENCES audiences (id),
        sender_id   TEXT NOT NULL,
        sender_name TEXT NOT NULL,
        PRIMARY KEY (audience_id, sender_id, sender_name)
    ) WITHOUT ROWID
    """,
    """
    INSERT INTO participants (audience_id, sender_id, sender_name)
    SELECT DISTINCT a.audience_id, coalesce(m.sender_id, ''), coalesce(m.sender_name, '')
    FROM message_audiences AS a CROSS JOIN messages AS m ON m.row = a.row
    WHERE m.sender_id IS NOT NULL OR m.sender_name IS NOT NULL
    """,
    "ALTER TABLE messages ADD COLUMN pieces INTEGER NOT NULL DEFAULT 1",
    "CREATE INDEX messages_in_pieces ON messages (embedded_by, pieces) WHERE pieces > 1",
)

# Which events a model may still phrase better, how often it was asked, and what the profile lines of an event said
# before; what was given to whom, as digests, so that what comes back is known for an echo after a restart too; and how
# it was decided whether an exchange is worth remembering.
_AMENDMENTS = (
    "ALTER TABLE events ADD COLUMN tries INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE events ADD COLUMN restated_from TEXT",
    "CREATE INDEX events_by_rules ON events (row) WHERE has_new_info = 1 AND same_as IS NULL AND origin != 'model'",
    "CREATE INDEX events_restated ON events (row) WHERE restated_from IS NOT NULL",
    "CREATE INDEX events_same_as ON events (owner_key, same_as) WHERE same_as IS NOT NULL",
    """
    CREATE TABLE returned (
        digest BLOB PRIMARY KEY,
        at_ms  INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    "CREATE INDEX returned_by_time ON returned (at_ms)",
)
# What was forgotten, so that no import brings it back: keyed digests of kind, owner and id, and nothing else.
_FORGOTTEN = ("CREATE TABLE forgotten (digest BLOB PRIMARY KEY) WITHOUT ROWID",)


MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        *_RECORD,
        *_EVENTS,
        *_TURNS,
        *_PROFILES,
        *_lexical("messages"),
        *_lexical("events"),
        *_lexical("profile_lines"),
    ),
    _SEARCH,
    MERGES,
    _AMENDMENTS,
    _FORGOTTEN,
    (*GROUP_MEMORIES, *_lexical("group_memories")),
    PINNED,
)
"""The statements of each step, in order; run in one transaction."""
