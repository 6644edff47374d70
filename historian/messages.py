"""Messages as rows of the database: what is stored of a message, how it is read back, and where it stands in time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, cast

from historian.errors import InvalidInputError
from historian.model import Message, Role

SEQUENCE_BITS = 20
"""A row is `(ts_ms << SEQUENCE_BITS) | seq`."""

FIELDS = (
    "message_id",
    "conversation_id",
    "role",
    "content",
    "ts",
    "sender_id",
    "sender_name",
    "reply_to",
    "meta",
    "zone_known",
)
"""Columns of a message besides row and owner, in the order of `values` and `stored`."""

COLUMNS = ", ".join(f"m.{name}" for name in ("row", "owner_key", *FIELDS))
"""What to select from `messages AS m` for `stored`."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_MS = (1 << 63 - SEQUENCE_BITS) - 1


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message of the record with its row, by which all messages are ordered in time, and whose it is."""

    row: int
    owner_key: str
    message: Message


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message whose content may be cut; `length` is that of the whole content, in characters."""

    stored: StoredMessage
    length: int


def excerpt_columns(most: int) -> str:
    """Return `COLUMNS` with the content cut at `most` characters."""
    return COLUMNS.replace("m.content", f"substr(m.content, 1, {most:d})")


def epoch_ms(instant: datetime) -> int:
    """Return the instant in whole milliseconds since 1970, rounded down.

    Raises:
        InvalidInputError: it has no time zone, or lies outside the years 1692 to 2247.
    """
    if instant.tzinfo is None or instant.utcoffset() is None:
        raise InvalidInputError("The time has no offset; send it as 2026-02-20T09:30:00+08:00.")
    milliseconds = (instant - _EPOCH) // timedelta(milliseconds=1)
    if abs(milliseconds) > _LATEST_MS:
        raise InvalidInputError("The time lies outside the years 1692 to 2247; check its unit and send the true one.")
    return milliseconds


def instant_of(milliseconds: int) -> datetime:
    """Return the instant of whole milliseconds since 1970, in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def first_row(milliseconds: int) -> int:
    """Return the lowest row that a message of this millisecond can have; far times stop at the ends of all rows."""
    return max(-_LATEST_MS, min(_LATEST_MS, milliseconds)) << SEQUENCE_BITS


def row_ms(row: int) -> int:
    """Return the millisecond of a row."""
    return row >> SEQUENCE_BITS


def is_stand_in(message: Message) -> bool:
    """Say whether the memory recorded this message itself, from what an agent gave at the end of a turn."""
    return message.meta.get("via") == "end"


def check(message: Message) -> None:
    """Accept a message that can be stored.

    Raises:
        InvalidInputError: its time is unusable, an id is empty, a text is broken Unicode, or meta is not JSON.
    """
    epoch_ms(message.ts)
    if not message.message_id or not message.conversation_id:
        raise InvalidInputError("The message_id or conversation_id is empty; send both.")
    try:
        for value in values(message):
            str(value).encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError("The message holds half a Unicode surrogate; send valid UTF-8 text.") from error
    except (TypeError, ValueError) as error:
        raise InvalidInputError("The meta of the message is not JSON; send texts, numbers, lists and maps.") from error


def values(message: Message) -> tuple[object, ...]:
    """Return the column values of a message, in the order of `FIELDS`."""
    return (
        message.message_id,
        message.conversation_id,
        message.role,
        message.content,
        message.ts.isoformat(),
        message.sender_id,
        message.sender_name,
        message.reply_to,
        json.dumps(dict(message.meta), ensure_ascii=False) if message.meta else None,
        int(message.zone_known),
    )


def stored(columns: Sequence[Any]) -> StoredMessage:
    """Return the message of one selected row of `COLUMNS`."""
    row, owner_key, *fields = columns
    message_id, conversation_id, role, content, ts, sender_id, sender_name, reply_to, meta, zone_known = fields
    message = Message(
        message_id=message_id,
        conversation_id=conversation_id,
        role=cast(Role, role),
        content=content,
        ts=datetime.fromisoformat(ts),
        sender_id=sender_id,
        sender_name=sender_name,
        reply_to=reply_to,
        meta=MappingProxyType(json.loads(meta) if meta else {}),
        zone_known=bool(zone_known),
    )
    return StoredMessage(row, owner_key, message)
