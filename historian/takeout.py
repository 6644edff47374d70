"""What belongs to one person or group as lines to read, JSON objects each of a `kind`, and back again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from historian.errors import InvalidInputError
from historian.group_takeout import KIND as GROUP_MEMORY
from historian.group_takeout import KeptGroupMemory, kept_group_memory
from historian.ids import normalise_id
from historian.messages import StoredMessage, check
from historian.model import ROLES, Event, Message, Origin, Owner, Scope
from historian.pinned import PinnedNote
from historian.profile_text import names_another
from historian.text import require_text
from historian.views import Memo
from historian.zones import load_zone, parse_instant

FORMAT = "shiguan"
VERSION = 1
KINDS = ("about", "message", "event", "memo", "pinned", GROUP_MEMORY, "profile")
"""The kinds of lines, in the order in which they are given."""

MAX_NOTE = 4_000
"""Characters of a pinned note, whatever the setting is where it comes from."""

Line = dict[str, Any]

_EVENT_NAMES = tuple(field.name for field in fields(Event))
_OPTIONAL = (
    "group_id",
    "sender_id",
    "sender_name",
    "location",
    "perspective",
    "same_as",
    "request_type",
    "schema_version",
)
_WRONG = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
NOT_YOURS = "It belongs to another person; import it with --user for that person."
NO_GROUP = "It belongs to a group; name that group with --group."
_NO_LINE = "It is no line of an export, or a field of it is missing or wrong."
_OTHER_PROFILE = "The frontmatter of this profile names another entity than its line; put the line's own there."


@dataclass(frozen=True, slots=True)
class KeptMessage:
    """A message with the other ids by which it is known."""

    owner: Owner
    message: Message
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptMemo:
    """A memo with whose it is and which request made it."""

    owner: Owner
    author_key: str | None
    request_id: str
    memo: Memo


@dataclass(frozen=True, slots=True)
class KeptNote:
    """A pinned note with whose it is."""

    owner: Owner
    note: PinnedNote


@dataclass(frozen=True, slots=True)
class KeptProfile:
    """A profile file as it stands, and its earlier versions by the name of their revision."""

    owner: Owner
    text: str
    history: tuple[tuple[str, str], ...]


Kept = KeptMessage | Event | KeptMemo | KeptNote | KeptGroupMemory | KeptProfile


def about_line(owner: Owner, now: datetime) -> Line:
    """Return the first line, which says what the others are."""
    return {"kind": "about", "format": FORMAT, "version": VERSION, "owner": owner.key, "made_at": now.isoformat()}


def message_line(stored: StoredMessage, aliases: Sequence[str]) -> Line:
    """Return a message as a line."""
    message = stored.message
    line = {"kind": "message", "owner": stored.owner_key, **_plain(message), "ts": _written(message)}
    return line | ({"aliases": [*aliases]} if aliases else {})


def event_line(event: Event, evidence: Sequence[Mapping[str, str]]) -> Line:
    """Return an event as a line; `evidence` says where its messages stand."""
    line = {"kind": "event", **asdict(event), "owner": event.owner.key, "timestamp": event.timestamp.isoformat()}
    return {name: value for name, value in line.items() if value is not None} | {"evidence": [*evidence]}


def memo_line(kept: KeptMemo) -> Line:
    """Return a memo as a line."""
    memo = kept.memo
    return {
        "kind": "memo",
        "owner": kept.owner.key,
        "author": kept.author_key,
        "request_id": kept.request_id,
        "job_id": memo.job_id,
        "text": memo.text,
        "ts": memo.at.isoformat(),
        "timezone": memo.timezone,
    }


def note_line(kept: KeptNote) -> Line:
    """Return a pinned note as a line."""
    note = kept.note
    return {
        "kind": "pinned",
        "owner": kept.owner.key,
        "author": note.author_key,
        "note_id": note.note_id,
        "text": note.text,
        "created_at": note.created_at.isoformat(),
        "updated_at": note.updated_at.isoformat(),
    }


def profile_line(kept: KeptProfile) -> Line:
    """Return a profile as a line, its earlier versions newest first."""
    history = [{"revision": name, "text": text} for name, text in kept.history]
    return {"kind": "profile", "owner": kept.owner.key, "text": kept.text, "history": history}


def kept_from(line: object) -> Kept | None:
    """Return what a line holds; None for the first one, which holds nothing.

    Raises:
        InvalidInputError: it is no such line; the sentence says what to do.
    """
    if not isinstance(line, Mapping) or line.get("kind") not in KINDS:
        raise InvalidInputError(_NO_LINE)
    try:
        if line["kind"] == "about":
            _about(line)
            return None
        if line["kind"] == GROUP_MEMORY:
            return kept_group_memory(_owner(line), line)
        read: Mapping[str, Callable[[Mapping[str, Any]], Kept]] = {
            "message": _message,
            "event": _event,
            "memo": _memo,
            "pinned": _note,
            "profile": _profile,
        }
        return read[line["kind"]](line)
    except InvalidInputError:
        raise
    except _WRONG:
        raise InvalidInputError(_NO_LINE) from None


def require_within(scope: Scope, owner: Owner) -> None:
    """Refuse what belongs neither to the user nor to a group of the scope. Raises InvalidInputError."""
    if owner.kind == "user" and owner.id != scope.user_id:
        raise InvalidInputError(NOT_YOURS)
    if owner.kind == "group" and owner.id not in scope.readable_groups:
        raise InvalidInputError(NO_GROUP)


def _about(line: Mapping[str, Any]) -> None:
    if line.get("format") != FORMAT or int(line["version"]) > VERSION:
        raise InvalidInputError("A newer version of Shiguan wrote this export; upgrade this installation first.")


def _owner(line: Mapping[str, Any]) -> Owner:
    kind, _, identifier = _text(line["owner"]).partition(":")
    if kind not in ("user", "group"):
        raise InvalidInputError(_NO_LINE)
    return Owner("group" if kind == "group" else "user", normalise_id(identifier, "owner"))


def _message(line: Mapping[str, Any]) -> KeptMessage:
    ts, zone_known = parse_instant(_text(line["ts"]), UTC)
    role = line["role"]
    if role not in ROLES:
        raise InvalidInputError(_NO_LINE)
    message = Message(
        message_id=normalise_id(_text(line["message_id"])),
        conversation_id=normalise_id(_text(line["conversation_id"])),
        role=role,
        content=_text(line["content"]),
        ts=ts,
        sender_id=_optional(line, "sender_id"),
        sender_name=_optional(line, "sender_name"),
        reply_to=_optional(line, "reply_to"),
        meta=MappingProxyType(dict(line.get("meta") or {})),
        zone_known=zone_known,
    )
    check(message)
    return KeptMessage(_owner(line), message, tuple(map(_text, line.get("aliases", ()))))


def _event(line: Mapping[str, Any]) -> Event:
    values = {name: line[name] for name in _EVENT_NAMES if name in line}
    for name in ("text", "original", "event_id", "request_id", "user_id", "timezone"):
        _text(values[name])
    at, _ = parse_instant(_text(values["timestamp"]), load_zone(values["timezone"]))
    counted = {name: int(values[name]) for name in ("end_seq", "index")}
    if not all(0 <= count < 1 << 31 for count in counted.values()):
        raise InvalidInputError(_NO_LINE)
    values |= {name: _optional(values, name) for name in _OPTIONAL if name in values}
    fixed: dict[str, Any] = {
        "owner": _owner(line),
        "timestamp": at,
        **counted,
        "has_new_info": bool(values.get("has_new_info", True)),
        "is_absolute": bool(values.get("is_absolute", True)),
        "message_ids": tuple(map(_text, values.get("message_ids", ()))),
        "flags": tuple(map(_text, values.get("flags", ()))),
        "origin": Origin(values.get("origin", "offline")),
    }
    return Event(**values | fixed)


def _memo(line: Mapping[str, Any]) -> KeptMemo:
    at, _ = parse_instant(_text(line["ts"]), UTC)
    memo = Memo(_text(line["text"]), normalise_id(_text(line["job_id"])), at, _text(line["timezone"]))
    load_zone(memo.timezone)
    return KeptMemo(_owner(line), _optional(line, "author"), _text(line["request_id"]), memo)


def _note(line: Mapping[str, Any]) -> KeptNote:
    created, _ = parse_instant(_text(line["created_at"]), UTC)
    updated, _ = parse_instant(_text(line["updated_at"]), UTC)
    text = require_text(_text(line["text"]), "text", limit=MAX_NOTE)
    if not text:
        raise InvalidInputError(_NO_LINE)
    note = PinnedNote(normalise_id(_text(line["note_id"])), text, created, updated, _optional(line, "author"))
    return KeptNote(_owner(line), note)


def _profile(line: Mapping[str, Any]) -> KeptProfile:
    history = tuple((_text(one["revision"]), _text(one["text"])) for one in line.get("history", ()))
    kept = KeptProfile(_owner(line), _text(line["text"]), history)
    if names_another(kept.text, kept.owner):
        raise InvalidInputError(_OTHER_PROFILE)
    return kept


def _plain(message: Message) -> Line:
    names = ("message_id", "conversation_id", "role", "sender_id", "sender_name", "content", "ts", "reply_to")
    line = {name: getattr(message, name) for name in names if getattr(message, name) is not None}
    return line | ({"meta": dict(message.meta)} if message.meta else {})


def _written(message: Message) -> str:
    """Return the time with its offset; with a bare `Z` where no local time is known, as it is read."""
    if message.zone_known:
        return message.ts.isoformat()
    return message.ts.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _optional(line: Mapping[str, Any], name: str) -> str | None:
    value = line.get(name)
    return None if value is None else _text(value)


def _text(value: object) -> str:
    """Return a text that can be stored. Raises InvalidInputError."""
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value) or "\0" in value:
        raise InvalidInputError(_NO_LINE)
    return value
