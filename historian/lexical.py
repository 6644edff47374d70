"""The lexical index: finding messages and events by words, in every language, within what the asker may read.

One instance stands for one pair of tables (`schema`). The terms of a row, its audiences and its role are tokens of one
FTS5 row, so that scope is part of the MATCH and the row lists are walked together: a query costs what the asker's own
rows cost. FTS5 keeps no positions here; that characters are neighbours is known from the indexed pairs and verified on
the folded text. A second field (the neighbours of a message) would be terms with a private-use character in front.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from historian.audiences import audience_ids, known_audiences
from historian.fold import fold, terms
from historian.lexical_parsing import parse
from historian.lexical_search import Hits, Mentions, Search, Tables, Within
from historian.model import Reach

__all__ = ["EVERYWHERE", "Hits", "LexicalIndex", "Mentions", "Within"]

EVERYWHERE = Within()
MAX_ANY = 500
"""Rows that a search for any of the words returns at most: what is beyond has hardly anything of the query."""

# Private-use characters are no part of any term, so that no text can forge a token of scope.
_AUDIENCE = "\ue000"
_ROLE = "\ue001"


class LexicalIndex:
    """The index of one kind of text: `LexicalIndex("events", table="events", time="t.epoch_ms")`."""

    def __init__(self, name: str, *, table: str, time: str) -> None:
        self._tables = Tables(name, table, time)

    def add(
        self, connection: sqlite3.Connection, row: int, text: str, audiences: Iterable[str], role: str | None = None
    ) -> None:
        """Index a text under its row, readable by these audience keys. Needs a write transaction and a new row."""
        self.add_numbered(connection, row, text, audience_ids(connection, audiences), role)

    def add_numbered(
        self, connection: sqlite3.Connection, row: int, text: str, audiences: Iterable[int], role: str | None = None
    ) -> None:
        """Do as `add` with the numbers of the audiences, for callers that have them."""
        self.add_all(connection, [(row, text)], audiences, role)

    def add_all(
        self,
        connection: sqlite3.Connection,
        texts: Sequence[tuple[int, str]],
        audiences: Iterable[int],
        role: str | None = None,
    ) -> None:
        """Do as `add_numbered` for some rows with the same audiences: two statements, however many there are."""
        if not texts:
            return
        tokens = [f"{_AUDIENCE}{number}" for number in audiences]
        if role is not None:
            tokens.append(_ROLE + role)
        name, scope = self._tables.name, " ".join(tokens)
        rows = [(row, scope, fold(text)) for row, text in texts]
        lists = ", ".join(["(?, ?, ?)"] * len(rows))
        connection.execute(
            f"INSERT INTO {name}_lexical (row, scope, folded) VALUES {lists}", [value for row in rows for value in row]
        )
        documents = [value for row, _, folded in rows for value in (row, _document(scope, folded))]
        lists = ", ".join(["(?, ?)"] * len(rows))
        connection.execute(f"INSERT INTO {name}_fts (rowid, terms) VALUES {lists}", documents)

    def remove(self, connection: sqlite3.Connection, row: int) -> None:
        """Take a row out; an unknown one is no error. Needs a write transaction."""
        name = self._tables.name
        found = connection.execute(f"SELECT scope, folded FROM {name}_lexical WHERE row = ?", (row,)).fetchone()
        if found is None:
            return
        connection.execute(
            f"INSERT INTO {name}_fts ({name}_fts, rowid, terms) VALUES ('delete', ?, ?)", (row, _document(*found))
        )
        connection.execute(f"DELETE FROM {name}_lexical WHERE row = ?", (row,))

    def scrub(self, connection: sqlite3.Connection) -> None:
        """Rewrite the index without the terms of removed rows, which stay in the file until then. May take seconds."""
        name = self._tables.name
        connection.execute(f"INSERT INTO {name}_fts ({name}_fts) VALUES ('optimize')")

    def rebuild(self, connection: sqlite3.Connection) -> None:
        """Make the index anew from the folded texts: for a migration after `fold.terms` changed."""
        name = self._tables.name
        connection.execute(f"INSERT INTO {name}_fts ({name}_fts) VALUES ('delete-all')")
        rows = connection.execute(f"SELECT row, scope, folded FROM {name}_lexical ORDER BY row")
        connection.executemany(
            f"INSERT INTO {name}_fts (rowid, terms) VALUES (?, ?)",
            ((row, _document(scope, folded)) for row, scope, folded in rows),
        )

    def rows(self, connection: sqlite3.Connection) -> set[int]:
        """Return the rows that any audience can find here. Reads all of the lists; for examining the index."""
        name = self._tables.name
        found: set[int] = set()
        for (audience,) in connection.execute("SELECT id FROM audiences").fetchall():
            match = f'"{_AUDIENCE}{audience}"'
            found.update(
                row for (row,) in connection.execute(f"SELECT rowid FROM {name}_fts WHERE {name}_fts MATCH ?", (match,))
            )
        return found

    def search(
        self,
        connection: sqlite3.Connection,
        reach: Reach,
        query: str,
        *,
        limit: int,
        within: Within = EVERYWHERE,
        ranked: bool = False,
        strict: bool = False,
    ) -> Hits:
        """Return at most `limit` rows in `reach` that fit `query`.

        All words have to match; where no row has them all, any of them counts, except where `strict`. `ranked` asks for
        the latter at once, for questions; then, and where it is all that is left, at most `MAX_ANY` rows come back.
        Operators and phrases always bind. A query without a letter or digit finds nothing.
        """
        parsed = parse(query)
        audiences = known_audiences(connection, reach)
        if parsed.node is None or not audiences or limit < 1:
            return Hits(mode=parsed.mode)
        search = Search(connection, self._tables, _scope(audiences, within.role), within)
        if parsed.mode == "query" or not ranked:
            found = search.matching(parsed.node, parsed.mode, limit)
            if found.hits or strict or parsed.mode == "query":
                return found
        return search.any(parsed.node, min(limit, MAX_ANY))

    def mentions(
        self, connection: sqlite3.Connection, reach: Reach, query: str, *, within: Within = EVERYWHERE
    ) -> Mentions:
        """Return which rows in `reach` have which terms of a question; operators and phrases count as words."""
        parsed = parse(query)
        audiences = known_audiences(connection, reach)
        if parsed.node is None or not audiences:
            return Mentions({}, {})
        return Search(connection, self._tables, _scope(audiences, within.role), within).mentions(parsed.node)


def _document(scope: str, folded: str) -> str:
    """Return what FTS5 gets for a row. Removing needs the same tokens again, so it depends on stored values only."""
    return " ".join((scope, *dict.fromkeys(terms(folded))))


def _scope(audiences: Iterable[int], role: str | None) -> str:
    readable = " OR ".join(f'"{_AUDIENCE}{number}"' for number in audiences)
    return f'({readable}) AND "{_ROLE}{role}"' if role is not None else readable
