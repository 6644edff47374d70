"""JSON documents that need not fit into memory: the values at some places of them, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, BinaryIO

from historian.errors import InvalidInputError
from historian.formats.piece import Piece

_BROKEN = "It is not whole JSON from here on; what stands before it was read."
MOST_LEVELS = 256
"""What is nested deeper is read as null: a place is as long as it is deep, and the parser writes each one out."""
_BOM = b"\xef\xbb\xbf"
_OPENING = frozenset({"start_map", "start_array"})
_CLOSING = frozenset({"end_map", "end_array"})


def elements(piece: Piece, *places: str) -> Iterator[tuple[str, Any]]:
    """Yield each value that stands at one of `places`, with its place, in the order of the document.

    A place names keys from the top, `item` standing for each element of a list: `chats.list.item.messages.item`.

    Raises:
        InvalidInputError: the document breaks off or is no JSON; what was yielded stands.
    """
    import ijson

    wanted = frozenset(places)
    with piece.open() as stream:
        if len(places) == 1:
            yield from ((places[0], value) for value in _guarded(ijson.items(_parsed(_plain(stream)), places[0])))
            return
        events = _guarded(_parsed(_plain(stream)))
        for place, event, value in events:
            if place not in wanted:
                continue
            if event in ("start_map", "start_array"):
                yield place, _built(events, event)
            elif event not in ("end_map", "end_array", "map_key"):
                yield place, value


@dataclass(slots=True)
class Outline:
    """The beginning of a JSON document: its kind, the keys of the top object, and those of the first list elements.

    `first` has the keys of the first object in each list by the place of the list; that of a top list is `item`.
    """

    kind: str = ""
    keys: set[str] = field(default_factory=set[str])
    first: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def has(self, *keys: str) -> bool:
        """Say whether the top is an object with these keys."""
        return self.kind == "map" and self.keys.issuperset(keys)

    def lists(self, place: str, *keys: str) -> bool:
        """Say whether there is a list at this place whose first object has these keys."""
        return self.first.get(place, set[str]()).issuperset(keys) and place in self.first


def outline(piece: Piece) -> Outline:
    """Return what the head of a file shows of its structure; an empty outline where it is no JSON."""
    import ijson

    seen = Outline()
    head = piece.head.removeprefix(_BOM)
    if head.lstrip()[:1] not in (b"{", b"["):
        return seen
    done: set[str] = set()
    try:
        for place, event, value in _parsed(BytesIO(head)):
            if not seen.kind:
                seen.kind = event.removeprefix("start_")
            if event == "end_map":
                done.add(place)
            elif event == "map_key" and place == "":
                seen.keys.add(value)
            elif event == "map_key" and place.endswith("item") and place not in done:
                seen.first.setdefault(place, set()).add(value)
    except (ijson.JSONError, ValueError):
        return seen
    return seen


def _parsed(stream: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the place, the kind and the value of each event of a document."""
    import ijson

    events: Iterator[tuple[str, str, Any]] = ijson.parse(_shallow(ijson.basic_parse(stream, use_float=True)))
    return events


def _shallow(events: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    depth = 0
    for event in events:
        kind = event[0]
        if kind in _OPENING:
            depth += 1
            if depth == MOST_LEVELS + 1:
                yield "null", None
        if depth <= MOST_LEVELS:
            yield event
        if kind in _CLOSING:
            depth -= 1


def _plain(stream: BinaryIO) -> Any:
    """Return a stream without a byte order mark, which JSON does not allow and programs write."""
    return _Unmarked(stream)


class _Unmarked:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._begun = False

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        if not self._begun and size != 0:
            self._begun = True
            if data.startswith(_BOM):
                return data[3:] or self._stream.read(size)
        return data


def _guarded(events: Iterator[Any]) -> Iterator[Any]:
    import ijson

    try:
        yield from events
    except (ijson.JSONError, ValueError, RecursionError, OverflowError):
        raise InvalidInputError(_BROKEN) from None


def _built(events: Iterator[Any], begun: str) -> Any:
    """Return the object or list whose beginning was the last event."""
    from ijson.common import ObjectBuilder

    builder: Any = ObjectBuilder()
    builder.event(begun, None)
    depth = 1
    for _, event, value in events:
        builder.event(event, value)
        depth += event.startswith("start_") - event.startswith("end_")
        if depth == 0:
            break
    return builder.value
