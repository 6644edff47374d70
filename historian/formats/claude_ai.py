"""Claude.ai: `conversations.json` of a data export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from historian.formats.json_stream import elements, outline
from historian.formats.outcome import NO_TEXT, TOOLS, Outcome, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import blocks, identifier, mapping, sequence, text

_ROLES = {"human": "user", "assistant": "assistant"}
_NOBODY = "00000000-0000-4000-8000-000000000000"


class ClaudeAi:
    """The conversations; thoughts and tools are passed over."""

    name = "claude-ai"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """It is a list of conversations that have chat messages."""
        del bundle
        seen = outline(piece)
        return seen.lists("item", "chat_messages") or seen.has("uuid", "chat_messages")

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the messages of each conversation."""
        del bundle
        for number, (_, conversation) in enumerate(elements(piece, _place_of(piece)), start=1):
            place = f"conversation {number}"
            if not isinstance(conversation, dict) or not identifier(conversation.get("uuid")):
                yield Refusal(place, "It is no conversation with a uuid.")
                continue
            for at, spoken in enumerate(sequence(conversation.get("chat_messages")), start=1):
                yield _message(f"{place}, message {at}", conversation, mapping(spoken), reading)


def _place_of(piece: Piece) -> str:
    return "item" if outline(piece).kind == "array" else ""


def _message(place: str, conversation: Mapping[str, Any], spoken: Mapping[str, Any], reading: Reading) -> Outcome:
    role = _ROLES.get(text(spoken.get("sender")))
    if role is None:
        return Refusal(place, "Its sender is neither human nor assistant.")
    content = spoken.get("content")
    said = blocks(content, "text") or (text(spoken.get("text")).strip() if not content else "")
    if not said:
        return TOOLS if content else NO_TEXT
    before = identifier(spoken.get("parent_message_uuid"))
    turn = message(
        message_id=identifier(spoken.get("uuid")),
        conversation_id=identifier(conversation.get("uuid")),
        role=role,
        sender_id=reading.user if role == "user" else "",
        content=said,
        ts=spoken.get("created_at") or conversation.get("created_at"),
        reply_to="" if before == _NOBODY else before,
        source=ClaudeAi.name,
        title=text(conversation.get("name"))[:200],
        files=[name for name in map(_file_name, sequence(spoken.get("attachments"))) if name] or None,
    )
    return Read(place, turn)


def _file_name(attachment: object) -> str:
    return text(mapping(attachment).get("file_name"))[:200]
