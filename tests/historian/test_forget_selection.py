"""What a selection means of a long record."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from historian.database import Database
from historian.events import EventStore
from historian.forget_selection import Selection, Selector
from historian.model import Message, Owner, Scope
from historian.record import Record

MANY = 20_300
"""More than one search looks at."""


def test_a_search_means_whatever_has_the_word_however_much_that_is(tmp_path: Path) -> None:
    """P102: not only as many as a search looks at."""
    database = Database(tmp_path / "memory.sqlite3")
    record = Record(database)
    at = datetime(2026, 2, 20, tzinfo=UTC)
    messages = [Message(str(n), "c", "user", f"猫 cat {n}", at + timedelta(seconds=n)) for n in range(MANY)]
    record.append(Owner("user", "ann"), messages)
    selector = Selector(database, record, EventStore(database))
    assert len(selector.find(Scope("ann"), Selection(query="cat OR 猫")).messages) == MANY
    database.close()
