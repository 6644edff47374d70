"""mem0 and OpenMemory: memories as JSON, each of which is a statement by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
        """Yield each memory as a message that states it."""
        del bundle
        if any(_is_memory(line.keys()) for line in samples(piece)):
            for found in objects(piece):
                yield found if isinstance(found, Refusal) else _memory(*found, piece, reading)
            return
        for number, (_, record) in enumerate(elements(piece, *_LISTS), start=1):
            yield _memory(f"memory {number}", mapping(record), piece, reading)


def _is_memory(keys: Any) -> bool:
    return {"id", "memory"} <= {*keys} or (
        {"id", "created_at"} <= {*keys}
        and not {"role", "conversation_id", "chat_messages"} & {*keys}
        and bool({"content", "text"} & {*keys})
        and bool({"user_id", "state", "categories", "app_id"} & {*keys})
    )


def _memory(place: str, record: Mapping[str, Any], piece: Piece, reading: Reading) -> Outcome:
    if record.get("state") in ("deleted", "archived"):
        return NOTICES
    said = next((found for name in _TEXTS if (found := text(record.get(name)).strip())), "")
    if not said:
        return NO_TEXT
    number = identifier(record.get("id"))
    run = identifier(record.get("run_id"))
    turn = message(
        message_id=f"mem0:{number}" if number else "",
        conversation_id=f"mem0:{run}" if run else "mem0",
        role="assistant",
        content=said,
        ts=instant(record.get("updated_at")) or instant(record.get("created_at")) or piece.modified,
        source=Mem0.name,
        user=identifier(record.get("user_id"))[:200] if identifier(record.get("user_id")) != reading.user else "",
    )
    return Read(place, turn, (said,))
