"""Looks through everything that is remembered for what should not be: duplicates, flagged, unsupported, and the oldest.

Reads only. It is for the operator of a data folder, who may see all of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from historian.database import Database
from historian.events import EVENT_FIELDS, EVENT_WORDS, EventStore, StoredEvent, stored_event
from historian.likeness import near_statement
from historian.profiles import ProfileStore
from historian.sameness import statement_key

LOOKED_AT = 500
"""Newest events for each of which near duplicates are looked for."""
_STATEMENTS = "has_new_info = 1 AND same_as IS NULL"
_UNSUPPORTED = f"""
    {_STATEMENTS} AND NOT EXISTS (SELECT 1 FROM event_messages m WHERE m.event_row = events.row)
"""
_FLAGGED = f"{_STATEMENTS} AND (is_absolute = 0 OR flags NOT IN ('[]', '[\"evidence:none\"]'))"


@dataclass(frozen=True, slots=True)
class Suspect:
    """One statement worth a look, whose it is, where it stands, and why it is worth it. `at` is ISO 8601, or empty."""

    owner: str
    where: str
    text: str
    why: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found: how many of each kind there are in all, and the first ones of each."""

    statements: int
    repeats: int
    memos: int
    counts: dict[str, int]
    flags: dict[str, int]
    duplicates: tuple[Suspect, ...]
    flagged: tuple[Suspect, ...]
    unsupported: tuple[Suspect, ...]
    oldest: tuple[Suspect, ...]


@dataclass(frozen=True, slots=True)
class Auditor:
    """Audits one data folder. Blocks; thread-safe."""

    database: Database
    events: EventStore
    profiles: ProfileStore

    def run(self, limit: int) -> Audit:
        """Return the audit with at most `limit` of each kind.

        Raises:
            StoreError: the database cannot be read.
        """
        duplicates = [*self._equal(), *self._near(), *self._repeated_lines()]
        baseless = [*self._lines_without_events()]
        flags = self._flags()
        return Audit(
            statements=self._count(_STATEMENTS),
            repeats=self._count("same_as IS NOT NULL"),
            memos=self._count("has_new_info = 0"),
            counts={
                "duplicates": len(duplicates),
                "flagged": self._count(_FLAGGED),
                "unsupported": self._count(_UNSUPPORTED) + len(baseless),
            },
            flags=dict(flags.most_common()),
            duplicates=tuple(duplicates[:limit]),
            flagged=tuple(_suspect(one, ", ".join(one.event.flags) or "not absolute") for one in self._flagged(limit)),
            unsupported=tuple([*baseless, *self._unsupported(limit)][:limit]),
            oldest=tuple(
                _suspect(one, "among the oldest") for one in self._select(_STATEMENTS, "epoch_ms, row", limit)
            ),
        )

    def _select(self, where: str, order: str, limit: int) -> list[StoredEvent]:
        with self.database.read() as connection:
            rows = connection.execute(
                f"SELECT row, {EVENT_FIELDS} FROM events WHERE {where} ORDER BY {order} LIMIT ?", (limit,)
            ).fetchall()
        return [stored_event(row) for row in rows]

    def _count(self, where: str) -> int:
        with self.database.read() as connection:
            return int(connection.execute(f"SELECT count(*) FROM events WHERE {where}").fetchone()[0])

    def _flags(self) -> Counter[str]:
        with self.database.read() as connection:
            rows = connection.execute(f"SELECT flags FROM events WHERE {_STATEMENTS} AND flags != '[]'").fetchall()
        return Counter(flag.rpartition(":")[0] or flag for (flags,) in rows for flag in json.loads(flags))

    def _equal(self) -> Iterator[Suspect]:
        """Statements of one owner with one canonical form: written before they were linked, or at the same moment."""
        where = (
            f"{_STATEMENTS} AND mark != '' AND EXISTS (SELECT 1 FROM events e WHERE e.owner_key = events.owner_key"
            " AND e.mark = events.mark AND e.row < events.row AND e.has_new_info = 1 AND e.same_as IS NULL)"
        )
        for one in self._select(where, "row", LOOKED_AT):
            yield _suspect(one, "says the same as an earlier one")

    def _near(self) -> Iterator[Suspect]:
        for one in self._select(_STATEMENTS, "row DESC", LOOKED_AT):
            earlier = self._like(one)
            if earlier is not None:
                yield _suspect(one, f"says nearly the same as {earlier.event.event_id}: {earlier.event.text}")

    def _like(self, one: StoredEvent) -> StoredEvent | None:
        reach = frozenset({one.event.owner.key})
        with self.database.read() as connection:
            hits = EVENT_WORDS.search(connection, reach, one.event.text, limit=8, ranked=True).hits
        found = self.events.within(reach).rows(hit.row for hit in hits if hit.row < one.row)
        mark = statement_key(one.event.text)
        return next(
            (
                other
                for other in found
                if other.event.same_as is None
                and other.event.has_new_info
                and statement_key(other.event.text) != mark
                and near_statement(other.event.text, one.event.text)
            ),
            None,
        )

    def _repeated_lines(self) -> Iterator[Suspect]:
        for entity in self.profiles.list():
            profile, _ = self.profiles.read_or_recover(entity)
            lines = profile.lines if profile is not None else ()
            for at, line in enumerate(lines):
                if any(o.shown_in == line.shown_in and near_statement(o.text, line.text) for o in lines[:at]):
                    yield Suspect(entity.key, "profile", line.text, "a line above says nearly the same")

    def _flagged(self, limit: int) -> list[StoredEvent]:
        return self._select(_FLAGGED, "row DESC", limit)

    def _unsupported(self, limit: int) -> Iterator[Suspect]:
        for one in self._select(_UNSUPPORTED, "row DESC", limit):
            yield _suspect(one, "no message of the record stands behind it")

    def _lines_without_events(self) -> Iterator[Suspect]:
        for entity in self.profiles.list():
            profile, _ = self.profiles.read_or_recover(entity)
            for line in profile.lines if profile is not None else ():
                if not line.hand_written and not self._exist(line.events):
                    yield Suspect(entity.key, "profile", line.text, "none of its events is there")

    def _exist(self, event_ids: Iterable[str]) -> bool:
        with self.database.read() as connection:
            found = connection.execute(
                "SELECT 1 FROM events WHERE event_id IN (SELECT value FROM json_each(?)) LIMIT 1",
                (json.dumps([*event_ids]),),
            ).fetchone()
        return found is not None


def _suspect(stored: StoredEvent, why: str) -> Suspect:
    event = stored.event
    return Suspect(event.owner.key, event.event_id, event.text, why, event.timestamp.isoformat(timespec="seconds"))
