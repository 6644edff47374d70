"""Reading what ranking needs to know of messages and of those said around them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from historian.audiences import known_audiences
from historian.fold import CJK
from historian.message_ranking import GAP_MS, SPREAD, Turn
from historian.messages import SEQUENCE_BITS
from historian.model import Reach

_LOOKED_AT = 200
"""Characters at the beginning of a message that its words are counted in."""
_WORD = re.compile(rf"[{CJK}]|(?:(?![{CJK}])[^\W_])+")
_CJK = re.compile(f"[{CJK}]")
_CJK_WORD = 0.6
"""Words that a CJK character counts for."""
_ASKS = re.compile(r"\?\W*\Z")

# A message that counts may stand SPREAD beside one that was found, and those SPREAD beside it count for it.
_BESIDE = """
    SELECT b.row FROM json_each(?1) AS j CROSS JOIN messages AS a ON a.row = j.value
    CROSS JOIN messages AS b ON b.row IN (
        SELECT m.row FROM messages AS m INDEXED BY messages_by_conversation
        WHERE m.owner_key = a.owner_key AND m.conversation_id = a.conversation_id AND m.row {side} a.row
        AND m.row {limit} ORDER BY m.row {order} LIMIT {count})
"""
_AROUND = " UNION ".join(
    (
        "SELECT value AS row FROM json_each(?1)",
        _BESIDE.format(
            side="<", limit=f"> a.row - {GAP_MS * 2 * SPREAD << SEQUENCE_BITS}", order="DESC", count=2 * SPREAD
        ),
        _BESIDE.format(
            side=">", limit=f"< a.row + {GAP_MS * 2 * SPREAD << SEQUENCE_BITS}", order="ASC", count=2 * SPREAD
        ),
    )
)


def turns_around(connection: sqlite3.Connection, reach: Reach, rows: Iterable[int], zone: tzinfo) -> list[Turn]:
    """Return these messages and those around them in their conversations, as far as the reach may read them.

    `zone` is that of messages whose source names no local time.
    """
    numbers = ", ".join(map(str, known_audiences(connection, reach)))
    found = connection.execute(
        "SELECT m.row, m.owner_key, m.conversation_id, m.role, m.sender_id, m.sender_name, m.ts, m.zone_known,"
        f" length(l.folded), substr(l.folded, 1, {_LOOKED_AT}), substr(l.folded, -8)"
        f" FROM ({_AROUND}) AS n CROSS JOIN messages AS m ON m.row = n.row"
        " CROSS JOIN messages_lexical AS l ON l.row = m.row WHERE EXISTS"
        f" (SELECT 1 FROM message_audiences AS x WHERE x.audience_id IN ({numbers}) AND x.row = m.row)",
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


def words_in(folded: str) -> float:
    """Return how many words a text has, a CJK character counting as a part of one."""
    return sum(_CJK_WORD if _CJK.match(word) else 1.0 for word in _WORD.findall(folded))


def _turn(columns: Sequence[object], zone: tzinfo) -> Turn:
    row, owner, conversation, role, sender_id, sender_name, ts, zone_known, length, start, end = columns
    said_at = datetime.fromisoformat(str(ts))
    return Turn(
        row=int(str(row)),
        conversation=(str(owner), str(conversation)),
        role=str(role),
        author=(str(sender_id or ""), str(sender_name or "")),
        day=_local(said_at, zone, known=bool(zone_known)).date(),
        length=int(str(length)),
        words=words_in(str(start)),
        asks=_ASKS.search(str(end)) is not None,
    )


def _local(said_at: datetime, zone: tzinfo, *, known: bool) -> datetime:
    if known:
        return said_at
    edge = timedelta(days=2)
    near_the_end = not datetime.min + edge < said_at.replace(tzinfo=None) < datetime.max - edge
    return said_at if near_the_end else said_at.astimezone(UTC).astimezone(zone)
