"""mem0 and OpenMemory: memories as JSON, each of which is a statement by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from historian.errors import InvalidInputError
from historian.formats.json_lines import objects, samples
from historian.formats.json_stream import elements, outline
from historian.formats.outcome import NO_TEXT, NOTICES, Outcome, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import identifier, instant, mapping, text

_LISTS = ("item", "results.item", "memories.item", "data.item")
_TEXTS = ("memory", "content", "text", "data")


class Mem0:
    """Memories that are still held; deleted ones are passed over."""

    name = "mem0"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """Its records have an id and a memory, with the hash or the times that mem0 gives them."""
        del bundle
        if any(_is_memory(line.keys()) for line in samples(piece)):
            return True
        seen = outline(piece)
        return any(_is_memory(seen.first.get(place, set[str]())) for place in _LISTS) or _is_memory(seen.keys)

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield each memory as a message that states it; of several users, those of others as said by them.

        A dump of one user is that of whoever imports it, by whatever name; of several, the user is who has the name of
        the user here, or is named as such.
        """
        del bundle
        own = frozenset({reading.user, *reading.me}) if _has_several(piece) else None
        for found in _records(piece):
            yield found if isinstance(found, Refusal) else _memory(*found, piece, reading, own)


def _records(piece: Piece) -> Iterator[tuple[str, Mapping[str, Any]] | Refusal]:
    if any(_is_memory(line.keys()) for line in samples(piece)):
        yield from objects(piece)
        return
    for number, (_, record) in enumerate(elements(piece, *_LISTS), start=1):
        yield f"memory {number}", mapping(record)


def _has_several(piece: Piece) -> bool:
    """Say whether memories of different users are still held, as far as the file can be read."""
    users: set[str] = set()
    try:
        for found in _records(piece):
            if not isinstance(found, Refusal) and not _is_gone(found[1]) and _user(found[1]):
                users.add(_user(found[1]))
            if len(users) > 1:
                return True
    except InvalidInputError:  # told when it is read for good
        return False
    return False


def _is_memory(keys: Any) -> bool:
    return {"id", "memory"} <= {*keys} or (
        {"id", "created_at"} <= {*keys}
        and not {"role", "conversation_id", "chat_messages"} & {*keys}
        and bool({"content", "text"} & {*keys})
        and bool({"user_id", "state", "categories", "app_id"} & {*keys})
    )


def _is_gone(record: Mapping[str, Any]) -> bool:
    return record.get("state") in ("deleted", "archived")


def _user(record: Mapping[str, Any]) -> str:
    return identifier(record.get("user_id")).strip()[:200]


def _memory(
    place: str, record: Mapping[str, Any], piece: Piece, reading: Reading, own: frozenset[str] | None
) -> Outcome:
    if _is_gone(record):
        return NOTICES
    said = next((found for name in _TEXTS if (found := text(record.get(name)).strip())), "")
    if not said:
        return NO_TEXT
    number = identifier(record.get("id"))
    run = identifier(record.get("run_id"))
    user = _user(record)
    other = user if own is not None and user not in own else ""
    turn = message(
        message_id=f"mem0:{number}" if number else "",
        conversation_id=f"mem0:{run}" if run else "mem0",
        role="user" if other else "assistant",
        sender_id=f"mem0:{other}" if other else "",
        sender_name=other,
        content=said,
        ts=instant(record.get("updated_at")) or instant(record.get("created_at")) or piece.modified,
        source=Mem0.name,
        user=user if user != reading.user else "",
    )
    return Read(place, turn, () if other else (said,), whose=other)
