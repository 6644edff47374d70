"""WhatsApp: a chat as text, in the date and time of whichever country the telephone was set to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePosixPath

from historian.formats.chat_times import DATE, TIME, Order, order_of, stamp
from historian.formats.outcome import NO_TEXT, NOTICES, Outcome, Passed, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.stable_ids import StableIds
from historian.formats.text_lines import Spoken, first_lines, lines, spoken

_PREFIX = "whatsapp:"
_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\ufeff"
_SPACES = str.maketrans({"\u202f": " ", "\u00a0": " "})
_BRACKETED = re.compile(rf"[{_MARKS}]*\[{DATE},? {TIME}\] (?P<rest>.*)\Z", re.IGNORECASE)
_DASHED = re.compile(rf"[{_MARKS}]*{DATE},? {TIME}(?: - |, (?=[^:]+ : ))(?P<rest>.*)\Z", re.IGNORECASE)
_LONGEST_HEADING = 60
_NAME = re.compile(r"(?P<name>[^:\n]{1,100}?) ?: (?P<said>.*)\Z|(?P<empty>[^:\n]{1,100}):\Z", re.DOTALL)
_ATTACHED = re.compile(r"<[^<>]{3,80}>\Z|\S+\.\w{2,5} \([^()]{3,40}\)\Z")
_ATTACHMENTS = Passed("attachments")
_DELETED = frozenset(
    {
        "This message was deleted",
        "You deleted this message",
        "此消息已被删除",
        "你删除了这条消息",
        "您已删除此消息",
        "Diese Nachricht wurde gelöscht",
        "Du hast diese Nachricht gelöscht",
    }
)
_EDITED = re.compile(rf" ?[{_MARKS}]?<[^<>]*(?:edited|bearbeitet|已编辑|editad[oa]|modifié)[^<>]*>\Z")
_TITLE = re.compile(
    r"(?:WhatsApp Chat (?:with|-)|WhatsApp-Chat mit|Chat de WhatsApp con|Discussion WhatsApp avec|与|跟)\s*(.+?)"
    r"(?:的?\s*WhatsApp\s*(?:聊天|对话)(?:记录)?)?\Z"
)


class WhatsApp:
    """Chats; attachments and notices are passed over, messages of several lines are kept whole."""

    name = "whatsapp"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """One of the first lines has a date, a time, and behind them who says what."""
        del bundle
        if not piece.name.lower().endswith((".txt", ".text")) and piece.name != "-":
            return False
        headings = [found for line in first_lines(piece, 30) if (found := _heading(line)) is not None]
        return any(stamp(found) is not None for found in headings)

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the messages of a chat. The file is gone through once before, for the order of its dates."""
        del bundle
        chat = _Chat(piece, reading)
        for part in spoken(piece, _heading, "rest"):
            if isinstance(part, Spoken):
                yield chat.message(part)


class _Chat:
    def __init__(self, piece: Piece, reading: Reading) -> None:
        found = _TITLE.match(PurePosixPath(piece.title).stem)
        self._title = (found[1] if found else PurePosixPath(piece.title).stem)[:200]
        self._order: Order = _order(piece)
        self._ids = StableIds("whatsapp")
        self._reading = reading

    def message(self, part: Spoken) -> Outcome:
        place = f"line {part.number}"
        named = _NAME.match(part.body)
        if named is None:
            return NOTICES
        if named["empty"]:
            return NO_TEXT
        said = _EDITED.sub("", named["said"])
        if said.startswith("\u200e") or _ATTACHED.match(said.strip(_MARKS)):
            return _ATTACHMENTS
        said = said.strip(_MARKS + " \n\t")
        if not said or said.rstrip(".。") in _DELETED:
            return NO_TEXT if not said else NOTICES
        seen = stamp(part.heading)
        at = seen.at(self._order) if seen is not None else None
        if at is None:
            return Refusal(place, "There is no such day.")
        name = named["name"].strip(_MARKS + "~ ")
        conversation, ts = f"{_PREFIX}{self._title}", at.isoformat()
        turn = message(
            message_id=self._ids.next(conversation, name, ts, said),
            conversation_id=conversation,
            role="user",
            sender_id=self._reading.sender(_PREFIX, name),
            sender_name=name,
            content=said,
            ts=ts,
            source=WhatsApp.name,
        )
        return Read(place, turn)


def _heading(line: str) -> re.Match[str] | None:
    """Return the heading of a line; nearly all lines that have none are told by their first characters."""
    start = line[:_LONGEST_HEADING]
    bare = start.lstrip(_MARKS)
    if not bare[:2].lstrip("[")[:1].isdigit():
        return None
    plain = start.translate(_SPACES) + line[_LONGEST_HEADING:]
    return (_BRACKETED if bare.startswith("[") else _DASHED).match(plain)


def _order(piece: Piece) -> Order:
    """Return the order of the dates in this file."""
    headings = (found for line in lines(piece) if (found := _heading(line)) is not None)
    first = next(headings, None)
    if first is None:
        return "dmy"
    stamps = (seen for one in chain((first,), headings) if (seen := stamp(one)) is not None)
    return order_of(stamps, first["mark"])
