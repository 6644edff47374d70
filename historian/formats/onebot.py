"""OneBot 11, as NapCat, LLOneBot and go-cqhttp report it: events one a line, or in the answer of a history call."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from historian.formats.json_lines import objects, samples
from historian.formats.json_stream import elements, outline
from historian.formats.outcome import NO_TEXT, NOTICES, Outcome, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import identifier, mapping, sequence, text

_CODE = re.compile(r"\[CQ:(\w+)((?:,[^\[\],]*)*)\]")
_LISTS = ("item", "data.messages.item", "messages.item")
_KEYS = ("message_type", "user_id", "message")


class OneBot:
    """Messages of QQ; what the account itself sent is an assistant's, unless that account is the user."""

    name = "onebot"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """Its records have the type of the message and the number of the sender."""
        del bundle
        if any(_is_event(line) for line in samples(piece)):
            return True
        seen = outline(piece)
        return any(seen.lists(place, *_KEYS) for place in _LISTS)

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the messages; other events are passed over."""
        del bundle
        if any(_is_event(line) for line in samples(piece)):
            for found in objects(piece):
                yield found if isinstance(found, Refusal) else _message(*found, reading)
            return
        for number, (_, said) in enumerate(elements(piece, *_LISTS), start=1):
            yield _message(f"message {number}", mapping(said), reading)


def _is_event(line: Mapping[str, Any]) -> bool:
    kinds = ("message", "message_sent", "notice", "request", "meta_event")
    return ("self_id" in line and line.get("post_type") in kinds) or all(key in line for key in _KEYS)


def _message(place: str, said: Mapping[str, Any], reading: Reading) -> Outcome:
    if said.get("post_type", "message") not in ("message", "message_sent"):
        return NOTICES
    sender = mapping(said.get("sender"))
    user, account = (
        identifier(said.get("user_id")) or identifier(sender.get("user_id")),
        identifier(said.get("self_id")),
    )
    where = _conversation(said, user, account)
    if not where:
        return Refusal(place, "It says neither group nor person.")
    segments = _segments(said.get("message"))
    content = "".join(_plain(kind, data) for kind, data in segments).strip()
    if not content:
        return NO_TEXT
    number = identifier(said.get("message_id"))
    answered = next((identifier(data.get("id")) for kind, data in segments if kind == "reply"), "")
    name = text(sender.get("card")).strip() or text(sender.get("nickname")).strip()
    is_own = bool(user) and user == account and not {user, name} & reading.me
    turn = message(
        message_id=f"{where}:{number}" if number else "",
        conversation_id=where,
        role="assistant" if is_own else "user",
        sender_id=reading.sender("", user, name),
        sender_name=name[:200],
        content=content,
        ts=said.get("time"),
        reply_to=f"{where}:{answered}" if answered else "",
        source=OneBot.name,
        title=text(said.get("group_name"))[:200],
    )
    return Read(place, turn)


def _conversation(said: Mapping[str, Any], user: str, account: str) -> str:
    """Return the conversation: the group, or the other person, also for what the account itself sent."""
    if said.get("message_type") == "group":
        group = identifier(said.get("group_id"))
        return f"qq:group:{group}" if group else ""
    other = identifier(said.get("target_id")) if user == account else user
    return f"qq:private:{other or user}" if other or user else ""


def _segments(said: object) -> list[tuple[str, Mapping[str, Any]]]:
    """Return kind and data of each segment, of both forms in which a message comes."""
    if not isinstance(said, str):
        return [(text(mapping(part).get("type")), mapping(mapping(part).get("data"))) for part in sequence(said)]
    found: list[tuple[str, Mapping[str, Any]]] = []
    end = 0
    for code in _CODE.finditer(said):
        found.append(("text", {"text": html.unescape(said[end : code.start()])}))
        pairs = (one.partition("=") for one in code[2].split(",") if one)
        found.append((code[1], {name: html.unescape(value) for name, _, value in pairs}))
        end = code.end()
    return [*found, ("text", {"text": html.unescape(said[end:])})]


def _plain(kind: str, data: Mapping[str, Any]) -> str:
    match kind:
        case "text":
            return text(data.get("text"))
        case "at":
            return f"@{text(data.get('name')).removeprefix('@') or identifier(data.get('qq'))} "
        case _:
            return ""
