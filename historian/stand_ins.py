"""When a message that the memory recorded itself and one that the host recorded are the same turn."""

from __future__ import annotations

import sqlite3
import unicodedata
from dataclasses import dataclass
from datetime import timedelta

from historian.fold import fold
from historian.messages import first_row
from historian.text import unframe

CLIP = 800
"""Characters at which a stand-in was cut that does not say it; its text then only begins the real one."""
WINDOW = timedelta(hours=24)
"""How far apart a stand-in and its real message may be."""

_WINDOW_MS = WINDOW // timedelta(milliseconds=1)
_SEAM = 8


@dataclass(frozen=True, slots=True)
class Turn:
    """What is compared of a message; `conversation_id` None fits every conversation of the owner.

    A content of `cut` characters may be the beginning of a longer one.
    """

    owner_key: str
    role: str
    content: str
    conversation_id: str | None
    ms: int
    cut: int = CLIP


def same_text(one: str, other: str, cut: int = CLIP) -> bool:
    """Say whether two contents are the same turn: Unicode form, white space, frames and a cut make no difference."""
    shorter, longer = sorted((unframe(one), unframe(other)), key=len)
    if len(shorter) >= cut and len(longer) > len(shorter):
        return _plain(longer).startswith(_plain(shorter))
    return _plain(shorter) == _plain(longer)


def find_stand_in(connection: sqlite3.Connection, turn: Turn) -> int | None:
    """Return the row of the stand-in that `turn` is the real message of: the nearest in time."""
    candidates = connection.execute(
        "SELECT m.row, m.content, coalesce(json_extract(m.meta, '$.cut'), ?)"
        " FROM messages AS m INDEXED BY messages_standing_in"
        " WHERE m.stand_in = 1 AND m.owner_key = ? AND m.row >= ? AND m.row < ? AND m.role = ?"
        " AND (m.conversation_id = ? OR json_extract(m.meta, '$.conversation') = 'unknown')"
        " ORDER BY abs((m.row >> 20) - ?), m.row",
        (CLIP, turn.owner_key, *_rows(turn), turn.role, turn.conversation_id, turn.ms),
    )
    return next((row for row, content, cut in candidates if same_text(content, turn.content, cut)), None)


def find_turn(connection: sqlite3.Connection, turn: Turn, *, real_only: bool) -> tuple[int, str] | None:
    """Return row and message id of the message that says the same as `turn`: a real one first, then the nearest."""
    source = (
        "message_audiences AS a CROSS JOIN messages AS m ON m.row = a.row"
        " WHERE a.audience_id = (SELECT id FROM audiences WHERE key = ?)"
        if turn.conversation_id is None
        else "messages AS m INDEXED BY messages_by_conversation WHERE m.owner_key = ? AND m.conversation_id = ?"
    )
    conversation = () if turn.conversation_id is None else (turn.conversation_id,)
    start = fold(unframe(turn.content))
    if len(turn.content) >= turn.cut:
        start = start[:-_SEAM]
    candidates = connection.execute(
        f"SELECT m.row, m.message_id, m.content FROM {source} AND m.row >= ? AND m.row < ? AND m.role = ?"
        " AND m.stand_in <= ? AND EXISTS (SELECT 1 FROM messages_lexical AS l WHERE l.row = m.row"
        " AND (substr(l.folded, 1, ?) = ? OR (l.folded LIKE '<message%' AND instr(l.folded, ?))))"
        " ORDER BY m.stand_in, abs((m.row >> 20) - ?), m.row",
        (turn.owner_key, *conversation, *_rows(turn), turn.role, int(not real_only), len(start), start, start, turn.ms),
    )
    same = ((row, known) for row, known, content in candidates if same_text(content, turn.content, turn.cut))
    return next(same, None)


def _rows(turn: Turn) -> tuple[int, int]:
    return first_row(turn.ms - _WINDOW_MS), first_row(turn.ms + _WINDOW_MS + 1)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
