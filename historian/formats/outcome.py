"""What reading one record of an export comes to: a message, a refusal, or something that is no message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Read:
    """A message as `historian.intake` takes it, and where it stood.

    `facts` are statements that the message makes by itself: those of another memory, which need no conversation.
    `whose` names the other user of that memory whose statement it is, where it is not the user's own.
    """

    place: str
    message: dict[str, Any]
    facts: tuple[str, ...] = ()
    whose: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that cannot be read, where it stood, and why, in one sentence."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Passed:
    """A record that is no message of a person or an assistant; `what` says what it is, in the plural."""

    what: str


@dataclass(frozen=True, slots=True)
class Own:
    """A line of an export of this memory, and where it stood."""

    place: str
    line: Mapping[str, Any]


Outcome: TypeAlias = Read | Refusal | Passed | Own

NO_TEXT = Passed("records without text")
TOOLS = Passed("tool calls and results")
NOTICES = Passed("notices of the program")


def message(
    *,
    conversation_id: str,
    role: str,
    content: str,
    ts: object,
    message_id: str = "",
    sender_id: str = "",
    sender_name: str = "",
    reply_to: str = "",
    **meta: object,
) -> dict[str, Any]:
    """Return a message without the fields that are empty; `meta` likewise."""
    fields: dict[str, Any] = {
        "message_id": message_id,
        "conversation_id": conversation_id,
        "role": role,
        "sender_id": sender_id,
        "sender_name": sender_name,
        "content": content,
        "ts": ts,
        "reply_to": reply_to,
        "meta": {name: value for name, value in meta.items() if value not in (None, "")},
    }
    return {name: value for name, value in fields.items() if value not in ("", {})}
