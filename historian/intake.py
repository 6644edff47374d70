"""From what hosts and files send to messages of the record: checked one by one, so that none stops the others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, tzinfo

from historian.errors import InvalidInputError
from historian.ids import normalise_id
from historian.messages import check
from historian.model import ROLES, Message
from historian.text import drop_unusable
from historian.zones import parse_instant

MAX_CONTENT = 1_000_000
"""Characters of one message; longer ones are refused, never cut."""
KNOWN = frozenset(
    {"message_id", "conversation_id", "role", "sender_id", "sender_name", "content", "ts", "reply_to", "meta"}
)


def message_from(raw: object, zone: tzinfo) -> Message:
    """Return the message that one JSON object describes; `zone` is that of times without an offset.

    A missing message_id is derived from the content, so that sending the same turn twice is recognised.

    Raises:
        InvalidInputError: it is no object, or a field is missing or wrong; the sentence names the field.
    """
    if not isinstance(raw, Mapping):
        raise InvalidInputError("It is not an object with conversation_id, role, content and ts.")
    unknown = sorted(str(key) for key in raw if key not in KNOWN)
    if unknown:
        raise InvalidInputError(f"It has the unknown field {unknown[0][:40]}; put extra data into meta.")
    role = raw.get("role")
    if role not in ROLES:
        raise InvalidInputError(f"role must be one of {', '.join(ROLES)}.")
    ts, zone_known = parse_instant(_instant(raw), zone)
    conversation = normalise_id(_text(raw, "conversation_id"), "conversation_id")
    content = _content(raw)
    sender = _optional_id(raw, "sender_id")
    given = _optional_id(raw, "message_id")
    message = Message(
        message_id=given or _derived_id(conversation, str(role), sender, ts.astimezone(UTC).isoformat(), content),
        conversation_id=conversation,
        role=role,
        content=content,
        ts=ts,
        sender_id=sender,
        sender_name=drop_unusable(_text(raw, "sender_name")).strip() or None if raw.get("sender_name") else None,
        reply_to=_optional_id(raw, "reply_to"),
        meta=_meta(raw),
        zone_known=zone_known,
    )
    check(message)
    return message


def _text(raw: Mapping[object, object], name: str) -> str:
    value = raw.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInputError(f"{name} is missing or not a text.")
    return str(value)


def _optional_id(raw: Mapping[object, object], name: str) -> str | None:
    return normalise_id(_text(raw, name), name) if raw.get(name) not in (None, "") else None


def _content(raw: Mapping[object, object]) -> str:
    content = raw.get("content")
    if not isinstance(content, str) or not content.strip():
        raise InvalidInputError("content is missing or blank.")
    if len(content) > MAX_CONTENT:
        raise InvalidInputError(f"content has {len(content)} characters; at most {MAX_CONTENT} are accepted.")
    if "\x00" in content:
        raise InvalidInputError("content holds the unusable character U+0000; remove it.")
    if any("\ud800" <= character <= "\udfff" for character in content):
        raise InvalidInputError("content holds half a surrogate pair; send valid Unicode.")
    return content


def _instant(raw: Mapping[object, object]) -> str | int | float:
    value = raw.get("ts")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidInputError("ts is missing; send ISO 8601 with an offset, or epoch seconds.")
    return value


def _meta(raw: Mapping[object, object]) -> Mapping[str, object]:
    meta = raw.get("meta")
    if meta is None:
        return {}
    if not isinstance(meta, Mapping):
        raise InvalidInputError("meta must be an object.")
    try:
        text = json.dumps(dict(meta), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InvalidInputError("meta is not JSON; send texts, finite numbers, lists and objects.") from None
    if len(text) > 10_000:
        raise InvalidInputError("meta is larger than 10000 characters.")
    clean: Mapping[str, object] = json.loads(text)
    return {key: value for key, value in clean.items() if key != "via"}


def _derived_id(*parts: str | None) -> str:
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
    return f"auto:{digest}"
