"""Taking what is forgotten out of merges that are held for a person, so that the rest of each stays held."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from historian.forget_cascade import Consequences
from historian.merge_plan import Addition, Change, Plan, decode_plan
from historian.merge_problems import CLAUSES
from historian.model import Owner
from historian.profile import PRIVATE, Profile

LET_GO, REWRITTEN = "held merges", "held merges rewritten"

Quotes = Callable[[str], bool]
"""Says whether a text quotes what is forgotten."""


class Quoting(Protocol):
    """Gives what knows of a profile, in one place, which texts say what is forgotten and nothing of what is `kept`."""

    def __call__(self, entity: Owner, place: str, kept: Sequence[str]) -> Quotes:
        """Return it; the place is "private" or `group:<id>`."""
        ...


@dataclass(frozen=True, slots=True)
class _Statement:
    """One that waits for a review; `stays` where neither it nor the statement that it repeats is touched."""

    row: int
    event_id: str
    text: str
    stays: bool


class ReviewCleaner:
    """Goes through the held merges inside one transaction, before the rows of events change."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        found: Consequences,
        profiles: Mapping[Owner, Profile | None],
        quoting: Quoting,
    ) -> None:
        """`profiles` are those of entities with held merges, cleaned already; an entity without one is removed."""
        self._connection = connection
        self._found = found
        self._profiles = profiles
        self._quoting = quoting

    def run(self) -> Counter[str]:
        """Cut what is forgotten out of every held merge; return how many were let go, and how many rewritten.

        A piece that quotes it goes, and its statements are merged anew, which may be held again. A merge of which
        nothing is left to decide on is let go. The text of a whole profile that older versions kept is emptied.
        """
        execute = self._connection.execute
        execute("UPDATE merge_reviews SET proposed = '' WHERE proposed != ''")
        counts: Counter[str] = Counter()
        for number, kind, identifier, reasons, plan in execute(
            "SELECT id, entity_type, entity_id, reasons, plan FROM merge_reviews ORDER BY id"
        ).fetchall():
            entity = Owner("group" if kind == "group" else "user", identifier)
            done = self._clean(number, entity, tuple(json.loads(reasons)), decode_plan(plan))
            counts.update([done] if done else [])
        return counts

    def _clean(self, number: int, entity: Owner, reasons: tuple[str, ...], plan: Plan) -> str | None:
        if entity not in self._profiles:
            return self._let_go(number)
        statements = self._statements(number)
        staying = [one for one in statements if one.stays]
        quotes, names = self._quoted(entity, plan.place, [one.text for one in staying])
        left = _cut(plan, frozenset(one.event_id for one in staying), quotes)
        told = tuple(reason for reason in reasons if not names(reason))
        lost = _events(plan) - _events(left)
        waiting = [one for one in staying if one.event_id not in lost]
        if not (left.changes or left.additions) or not told or not waiting:
            return self._let_go(number)
        if (left, told, waiting) == (plan, reasons, statements):
            return None
        self._release([one.row for one in statements if one not in waiting])
        self._connection.execute(
            "UPDATE merge_reviews SET plan = ?, reasons = ? WHERE id = ?",
            (left.encode(), json.dumps(told, ensure_ascii=False), number),
        )
        return REWRITTEN

    def _quoted(self, entity: Owner, place: str, said: Sequence[str]) -> tuple[Quotes, Quotes]:
        """Return what tells it of pieces of a plan, and of the reasons for holding it, which have words of ours."""
        profile = self._profiles[entity]
        lines = [line.text for line in profile.lines if line.shown_in == place] if profile is not None else []
        kept = [*lines, *said]
        return self._quoting(entity, place, kept), self._quoting(entity, place, [*kept, *CLAUSES])

    def _statements(self, review: int) -> list[_Statement]:
        rows = self._connection.execute(
            "SELECT w.row, w.owner_key, w.event_id, e.same_as, coalesce(s.text, e.text) FROM merge_waiting w"
            " JOIN events e ON e.owner_key = w.owner_key AND e.event_id = w.event_id"
            " LEFT JOIN events s ON s.owner_key = e.owner_key AND s.event_id = e.same_as"
            " WHERE w.review = ? ORDER BY w.row",
            (review,),
        ).fetchall()
        touched = self._found.gone.keys() | self._found.changed.keys()
        return [
            _Statement(row, event, text, touched.isdisjoint({(owner, event), (owner, same_as)}))
            for row, owner, event, same_as, text in rows
        ]

    def _let_go(self, review: int) -> str:
        self._connection.execute("UPDATE merge_waiting SET review = NULL WHERE review = ?", (review,))
        self._connection.execute("DELETE FROM merge_reviews WHERE id = ?", (review,))
        return LET_GO

    def _release(self, rows: Sequence[int]) -> None:
        self._connection.executemany("UPDATE merge_waiting SET review = NULL WHERE row = ?", [(row,) for row in rows])


def home_key(entity: Owner, place: str) -> str:
    """Return the key of the owner whose events are shown in a place of this profile."""
    return entity.key if place == PRIVATE else place


def _cut(plan: Plan, staying: frozenset[str], quotes: Quotes) -> Plan:
    """Return a plan without the pieces that quote what is forgotten, or rest on nothing that stays."""
    changes: list[Change] = []
    for change in plan.changes:
        events = tuple(event for event in change.events if event in staying)
        says = any(map(quotes, (change.line, change.text, change.covered_by, change.reason)))
        if not says and (events or not change.events):
            changes.append(replace(change, events=events))
    additions: list[Addition] = []
    for addition in plan.additions:
        events = tuple(event for event in addition.events if event in staying)
        if events and not quotes(addition.text):
            additions.append(replace(addition, events=events))
    return replace(
        plan,
        changes=tuple(changes),
        additions=tuple(additions),
        passing=tuple(event for event in plan.passing if event in staying),
        tags=tuple(tag for tag in plan.tags if not quotes(tag)),
    )


def _events(plan: Plan) -> frozenset[str]:
    """Return the events that a plan places somewhere."""
    pieces: list[Change | Addition] = [*plan.changes, *plan.additions]
    return frozenset(plan.passing).union(*(piece.events for piece in pieces))
