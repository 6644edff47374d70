"""What profiles do not hold yet: statements that wait for their merge, why they wait, merges that a person has to look
at first (`review` of a statement names one), and why lines are gone.

`merge_reviews.proposed` was the profile as it would be; it is made when somebody looks, and is empty.
"""

from __future__ import annotations

MERGES = (
    """
    CREATE TABLE merge_waiting (
        row         INTEGER PRIMARY KEY AUTOINCREMENT,
        entity_type TEXT NOT NULL,
        entity_id   TEXT NOT NULL,
        shown_in    TEXT NOT NULL,
        owner_key   TEXT NOT NULL,
        event_id    TEXT NOT NULL,
        name        TEXT,
        job_id      TEXT NOT NULL,
        review      INTEGER,
        since_ms    INTEGER NOT NULL,
        UNIQUE (entity_type, entity_id, owner_key, event_id)
    )
    """,
    "CREATE INDEX merge_waiting_by_review ON merge_waiting (review, entity_type, entity_id, row)",
    "CREATE INDEX merge_waiting_by_job ON merge_waiting (job_id)",
    "CREATE INDEX merge_waiting_by_event ON merge_waiting (event_id, owner_key)",
    """
    CREATE TRIGGER merge_waiting_forgets AFTER DELETE ON events BEGIN
        DELETE FROM merge_waiting WHERE event_id = OLD.event_id AND owner_key = OLD.owner_key;
    END
    """,
    """
    CREATE TABLE merge_troubles (
        entity_type   TEXT NOT NULL,
        entity_id     TEXT NOT NULL,
        attempts      INTEGER NOT NULL,
        reason        TEXT NOT NULL,
        not_before_ms INTEGER NOT NULL,
        by_rules      INTEGER NOT NULL,
        PRIMARY KEY (entity_type, entity_id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE merge_reviews (
        id          INTEGER PRIMARY KEY AUTOINCREMENT,
        entity_type TEXT NOT NULL,
        entity_id   TEXT NOT NULL,
        made_ms     INTEGER NOT NULL,
        reasons     TEXT NOT NULL,
        plan        TEXT NOT NULL,
        proposed    TEXT NOT NULL
    )
    """,
    "CREATE INDEX merge_reviews_by_entity ON merge_reviews (entity_type, entity_id)",
    """
    CREATE TABLE profile_drops (
        row         INTEGER PRIMARY KEY AUTOINCREMENT,
        entity_type TEXT NOT NULL,
        entity_id   TEXT NOT NULL,
        digest      TEXT NOT NULL,
        line        TEXT NOT NULL,
        reason      TEXT NOT NULL,
        at_ms       INTEGER NOT NULL
    )
    """,
    "CREATE INDEX profile_drops_by_entity ON profile_drops (entity_type, entity_id, row)",
)
