"""What follows from forgetting some rows: the events and memos that rest on them, and how others have to be changed."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from historian.forget_groups import FORGOTTEN_EVIDENCE, GroupFates, group_fates
from historian.forget_selection import Doomed
from historian.forget_texts import only_there, without

__all__ = ["FORGOTTEN_EVIDENCE", "Consequences", "EventKey", "Rewritten", "consequences"]

EventKey = tuple[str, str]
"""Owner key and event id."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """An event that stays, as it reads without what was forgotten; `before` is its text until now.

    `foreign` are the terms that only what is forgotten had.
    """

    row: int
    text: str
    original: str
    before: str
    foreign: frozenset[str]


@dataclass(slots=True)
class Consequences:
    """Everything that goes and changes. Texts of events are by their key; `contents` are those of the messages.

    `cut_memos` are the texts of memos that stay, by their row, without what was forgotten.
    """

    doomed: Doomed
    gone: dict[EventKey, str] = field(default_factory=dict[EventKey, str])
    rewritten: list[Rewritten] = field(default_factory=list[Rewritten])
    changed: dict[EventKey, Rewritten] = field(default_factory=dict[EventKey, Rewritten])
    message_ids: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    contents: list[str] = field(default_factory=list[str])
    cut_memos: dict[int, str] = field(default_factory=dict[int, str])
    groups: GroupFates = field(default_factory=GroupFates)


def consequences(
    connection: sqlite3.Connection, doomed: Doomed, *, repeats: bool, everything_of: str | None = None
) -> Consequences:
    """Return what follows; `doomed` grows by what rests on it. With `repeats`, whatever says the same goes too.

    Of the owner `everything_of` all statements about the group go, whatever they rest on.
    """
    found = Consequences(doomed)
    _note_messages(connection, found)
    if repeats:
        _add_repeats(connection, doomed)
    _add_memo_events(connection, doomed)
    _look_at_events(connection, found)
    _look_at_memos(connection, found)
    found.groups = group_fates(connection, doomed.messages, found.message_ids, everything_of)
    statement = "SELECT owner_key, event_id, text, restated_from FROM events"
    for owner_key, event_id, text, earlier in _select(connection, statement, doomed.events):
        found.gone[owner_key, event_id] = _both(text, earlier)
    return found


def _note_messages(connection: sqlite3.Connection, found: Consequences) -> None:
    rows = found.doomed.messages
    for owner_key, message_id, content in _select(
        connection, "SELECT owner_key, message_id, content FROM messages", rows
    ):
        found.message_ids[owner_key].add(message_id)
        found.contents.append(content)
    for owner_key, alias in _select(connection, "SELECT owner_key, alias_id FROM message_aliases", rows):
        found.message_ids[owner_key].add(alias)


def _add_repeats(connection: sqlite3.Connection, doomed: Doomed) -> None:
    """Add the first statement of a repeat, and all repeats of a statement: each says what shall be forgotten."""
    keys = _select(connection, "SELECT owner_key, coalesce(same_as, event_id) FROM events", doomed.events)
    for owner_key, event_id in keys:
        rows = connection.execute(
            "SELECT row FROM events WHERE owner_key = ?1 AND (event_id = ?2 OR same_as = ?2)", (owner_key, event_id)
        )
        doomed.events.update(row for (row,) in rows)


def _add_memo_events(connection: sqlite3.Connection, doomed: Doomed) -> None:
    """Add the events of memos that go."""
    statement = "SELECT owner_key, request_id, job_id FROM memos"
    for owner_key, request_id, job_id in _select(connection, statement, doomed.memos):
        rows = connection.execute(
            "SELECT e.row FROM events AS e WHERE e.owner_key = ?1 AND e.request_id = ?2 AND e.has_new_info = 0"
            " AND e.end_seq = coalesce((SELECT r.end_seq FROM receipts AS r WHERE r.job_id = ?3), e.end_seq)",
            (owner_key, request_id, job_id),
        )
        doomed.events.update(row for (row,) in rows)


def _look_at_memos(connection: sqlite3.Connection, found: Consequences) -> None:
    """Doom the memos whose event goes, or of which nothing is left; take note of how those of cut events read."""
    doomed = found.doomed
    foreign = {changed.row: changed.foreign for changed in found.rewritten}
    rows = connection.execute(
        "SELECT e.row, m.row, m.text FROM events AS e CROSS JOIN memos AS m"
        " ON m.owner_key = e.owner_key AND m.request_id = e.request_id"
        " AND coalesce((SELECT r.end_seq FROM receipts AS r WHERE r.job_id = m.job_id), e.end_seq) = e.end_seq"
        " WHERE e.has_new_info = 0 AND e.row IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted({*doomed.events, *foreign})),),
    )
    for event, memo, text in rows:
        left = "" if event in doomed.events else without(text, foreign[event])
        if not left:
            doomed.memos.add(memo)
        elif left != text:
            found.cut_memos[memo] = left


def _look_at_events(connection: sqlite3.Connection, found: Consequences) -> None:
    """Doom the events that rest on forgotten messages only, or say nothing else; take note of how the others read."""
    doomed = found.doomed
    links: dict[int, set[int]] = defaultdict(set)
    statement = (
        "SELECT k.event_row, k.message_row FROM event_messages AS k WHERE k.event_row IN"
        " (SELECT o.event_row FROM json_each(?) AS j CROSS JOIN event_messages AS o ON o.message_row = j.value)"
    )
    for event, message in connection.execute(statement, (json.dumps(sorted(doomed.messages)),)):
        links[event].add(message)
    for event in sorted(links.keys() - doomed.events):
        kept = links[event] - doomed.messages
        read = _rewritten(connection, event, links[event] & doomed.messages, kept) if kept else None
        if read is None:
            doomed.events.add(event)
            continue
        key, changed = read
        found.rewritten.append(changed)
        found.changed[key] = changed


def _rewritten(
    connection: sqlite3.Connection, event: int, gone: Iterable[int], kept: Iterable[int]
) -> tuple[EventKey, Rewritten] | None:
    """Return how an event reads without what only forgotten messages said; None where nothing is left."""
    said = dict(_select(connection, "SELECT row, content FROM messages", [*gone, *kept]))
    foreign = only_there([said[row] for row in gone], [said[row] for row in kept])
    statement = "SELECT owner_key, event_id, text, original, restated_from FROM events"
    ((owner_key, event_id, text, original, earlier),) = _select(connection, statement, [event])
    left = without(text, foreign)
    if not left:
        return None
    original = without(original, foreign) or left
    return (owner_key, event_id), Rewritten(event, left, original, _both(text, earlier), foreign)


def _both(text: str, earlier: str | None) -> str:
    """Return a text and what it said before it was phrased better, which a profile may still say, a line each."""
    return text if earlier is None else f"{text}\n{earlier}"


def _select(connection: sqlite3.Connection, statement: str, rows: Iterable[int]) -> list[Any]:
    chosen = f"{statement} WHERE row IN (SELECT value FROM json_each(?)) ORDER BY row"
    return connection.execute(chosen, (json.dumps(sorted(rows)),)).fetchall()
