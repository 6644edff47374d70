"""Telegram Desktop: `result.json`, of one chat or of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from historian.formats.json_stream import elements, outline
from historian.formats.outcome import NO_TEXT, NOTICES, Outcome, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import identifier, instant, mapping, sequence, text

_ONE = {"name": "name", "type": "type", "id": "id", "messages.item": "message"}
_ALL = {f"{where}.list.item.{place}": what for where in ("chats", "left_chats") for place, what in _ONE.items()} | {
    "personal_information.user_id": "me"
}
_PLACES = _ONE | _ALL
_PREFIX = "telegram:"


class Telegram:
    """Chats of people, groups, channels and bots; a bot's own chat is one with an assistant."""

    name = "telegram"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """It is a chat with messages that have the sender's id, or an export of all chats."""
        del bundle
        seen = outline(piece)
        single = seen.has("name", "type", "id") and seen.lists("messages.item", "id", "type", "date")
        return single or seen.has("about", "personal_information") or seen.lists("chats.list.item", "type", "id")

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the messages of each chat."""
        del bundle
        chat, number = _Chat(), 0
        me = ""
        for where, value in elements(piece, *_PLACES):
            match _PLACES[where]:
                case "message":
                    number += 1
                    yield _message(f"message {number}", chat, mapping(value), reading, me)
                case "me":
                    me = f"user{identifier(value)}"
                case what:
                    chat = chat.told(what, identifier(value))


@dataclass(frozen=True, slots=True)
class _Chat:
    """What stood before the messages. Name and type come before the id, so that an id ends what was said of another."""

    name: str = ""
    type: str = ""
    id: str = ""

    def told(self, what: str, value: str) -> _Chat:
        known = _Chat() if self.id and what != "id" else self
        return _Chat(**{"name": known.name, "type": known.type, "id": known.id, what: value})


def _message(place: str, chat: _Chat, said: Mapping[str, Any], reading: Reading, me: str) -> Outcome:
    if said.get("type") != "message":
        return NOTICES
    content = _plain(said.get("text"))
    if not content:
        return NO_TEXT
    ts = _instant(said)
    if ts is None or not chat.id:
        return Refusal(place, "It has no time." if chat.id else "The chat has no id.")
    sender, name = identifier(said.get("from_id")), text(said.get("from"))
    number = identifier(said.get("id"))
    is_bot = chat.type == "bot_chat" and sender in (f"user{chat.id}", chat.id)
    answered = identifier(said.get("reply_to_message_id"))
    turn = message(
        message_id=f"{_PREFIX}{chat.id}:{number}" if number else "",
        conversation_id=f"{_PREFIX}{chat.id}",
        role="assistant" if is_bot else "user",
        sender_id=reading.user if sender and sender == me else reading.sender(_PREFIX, sender, name),
        sender_name=name[:200],
        content=content,
        ts=ts,
        reply_to=f"{_PREFIX}{chat.id}:{answered}" if answered else "",
        source=Telegram.name,
        title=chat.name[:200],
        forwarded_from=text(said.get("forwarded_from"))[:200],
    )
    return Read(place, turn)


def _plain(content: object) -> str:
    """Return a text that may be given in pieces, some of them with a type."""
    if isinstance(content, str):
        return content.strip()
    return "".join(
        part if isinstance(part, str) else text(mapping(part).get("text")) for part in sequence(content)
    ).strip()


def _instant(said: Mapping[str, Any]) -> str | None:
    """Return the time with its offset, which follows where the export has the time both locally and as an epoch."""
    local, epoch = text(said.get("date")), instant(said.get("date_unixtime"))
    if epoch is None:
        return local or None
    try:
        at = datetime.fromtimestamp(int(epoch), UTC)
        offset = datetime.fromisoformat(local).replace(tzinfo=UTC) - at
        zone = timezone(timedelta(minutes=round(offset.total_seconds() / 60)))
        return at.astimezone(zone).isoformat()
    except (ValueError, OverflowError, OSError):
        return str(epoch)
