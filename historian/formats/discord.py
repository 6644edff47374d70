"""Discord, as DiscordChatExporter writes it: one JSON file a channel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from historian.formats.json_stream import elements, outline
from historian.formats.outcome import NO_TEXT, NOTICES, Outcome, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import identifier, mapping, text

_PREFIX = "discord:"
_SPOKEN = frozenset({"Default", "Reply", "ThreadStarterMessage", "0", "19", "21"})


class Discord:
    """Channels, threads and direct messages; what a bot says counts as an assistant's."""

    name = "discord"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """It has a guild, a channel and messages."""
        del bundle
        return outline(piece).has("guild", "channel")

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the messages of the channel."""
        del bundle
        guild: Mapping[str, Any] = {}
        channel: Mapping[str, Any] = {}
        number = 0
        for place, value in elements(piece, "guild", "channel", "messages.item"):
            if place == "guild":
                guild = mapping(value)
            elif place == "channel":
                channel = mapping(value)
            else:
                number += 1
                yield _message(f"message {number}", guild, channel, mapping(value), reading)


def _message(
    place: str, guild: Mapping[str, Any], channel: Mapping[str, Any], said: Mapping[str, Any], reading: Reading
) -> Outcome:
    if identifier(said.get("type")) not in _SPOKEN:
        return NOTICES
    content = text(said.get("content")).strip()
    if not content:
        return NO_TEXT
    where = identifier(channel.get("id"))
    if not where:
        return Refusal(place, "The channel has no id.")
    author = mapping(said.get("author"))
    user = text(author.get("name"))
    number, answered = identifier(said.get("id")), identifier(mapping(said.get("reference")).get("messageId"))
    title = " / ".join(name for name in (text(guild.get("name")), text(channel.get("name"))) if name)
    turn = message(
        message_id=f"{_PREFIX}{number}" if number else "",
        conversation_id=f"{_PREFIX}{where}",
        role="assistant" if author.get("isBot") is True else "user",
        sender_id=reading.sender(_PREFIX, identifier(author.get("id")), user, text(author.get("nickname"))),
        sender_name=(text(author.get("nickname")) or user)[:200],
        content=content,
        ts=said.get("timestamp"),
        reply_to=f"{_PREFIX}{answered}" if answered else "",
        source=Discord.name,
        title=title[:200],
    )
    return Read(place, turn)
