"""Reading what ranking needs to know of messages and of those said around them."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from historian.audiences import known_audiences
from historian.message_ranking import LONG_ENOUGH, SPREAD, Turn
from historian.model import Reach

# A message that counts may stand SPREAD beside one that was found, and those SPREAD beside it count for it.
_BESIDE = f"""
    (SELECT group_concat(row) FROM (
        SELECT m.row FROM messages AS m INDEXED BY messages_by_conversation
        WHERE m.owner_key = a.owner_key AND m.conversation_id = a.conversation_id AND m.row {{side}} a.row
        AND (a.owner_key IN (SELECT value FROM json_each(?2)) OR EXISTS ({{readable}}))
        ORDER BY m.row {{order}} LIMIT {2 * SPREAD}))
"""
_READABLE = "SELECT 1 FROM message_audiences AS x WHERE x.audience_id IN ({}) AND x.row = m.row"


def rows_around(connection: sqlite3.Connection, reach: Reach, rows: Iterable[int]) -> list[list[int]]:
    """Return these rows and those around them, as far as the reach may read them, a list for each conversation."""
    readable = _readable(connection, reach)
    earlier = _BESIDE.format(side="<", order="DESC", readable=readable)
    later = _BESIDE.format(side=">", order="ASC", readable=readable)
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for owner, conversation, row, before, after in connection.execute(
        f"SELECT a.owner_key, a.conversation_id, a.row, {earlier}, {later}"
        " FROM json_each(?1) AS j CROSS JOIN messages AS a ON a.row = j.value",
        (json.dumps([*rows]), json.dumps(sorted(reach))),
    ):
        there = found[owner, conversation]
        there.add(row)
        for some in (before, after):
            if some is not None:
                there.update(map(int, str(some).split(",")))
    return [sorted(there) for there in found.values()]


def turns(connection: sqlite3.Connection, reach: Reach, rows: Iterable[int], zone: tzinfo | None) -> list[Turn]:
    """Return these messages, as far as the reach may read them.

    Their day is told where `zone` is given, in which those are that name no local time.
    """
    found = connection.execute(
        "SELECT m.row, m.owner_key, m.conversation_id, m.role, m.sender_id, m.sender_name, m.ts, m.zone_known,"
        f" length(CAST(substr(l.folded, 1, {LONG_ENOUGH}) AS BLOB)), instr(substr(l.folded, -3), '?') > 0"
        " FROM json_each(?) AS j CROSS JOIN messages AS m ON m.row = j.value"
        f" CROSS JOIN messages_lexical AS l ON l.row = m.row WHERE EXISTS ({_readable(connection, reach)})",
        (json.dumps([*rows]),),
    )
    return [_turn(columns, zone) for columns in found]


def participants(connection: sqlite3.Connection, reach: Reach) -> Sequence[tuple[str, str]]:
    """Return id and name of everyone who says anything that the reach may read; what is unknown is empty."""
    numbers = ", ".join(map(str, known_audiences(connection, reach)))
    found = connection.execute(
        f"SELECT DISTINCT sender_id, sender_name FROM participants WHERE audience_id IN ({numbers})"
    )
    return found.fetchall()


def _readable(connection: sqlite3.Connection, reach: Reach) -> str:
    return _READABLE.format(", ".join(map(str, known_audiences(connection, reach))))


def _turn(columns: Sequence[Any], zone: tzinfo | None) -> Turn:
    row, owner, conversation, role, sender_id, sender_name, ts, zone_known, size, asks = columns
    day = None
    if zone is not None:
        said_at = datetime.fromisoformat(ts)
        day = (said_at if zone_known else _told_in(zone, said_at)).date()
    return Turn(row, (owner, conversation), role, (sender_id or "", sender_name or ""), size, bool(asks), day)


def _told_in(zone: tzinfo, said_at: datetime) -> datetime:
    margin = timedelta(days=2)
    if datetime.min + margin < said_at.replace(tzinfo=None) < datetime.max - margin:
        return said_at.astimezone(UTC).astimezone(zone)
    return said_at
