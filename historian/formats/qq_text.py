"""QQ: message records exported as text, of one chat or of many in one file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from historian.formats.outcome import NO_TEXT, NOTICES, Outcome, Passed, Read, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.stable_ids import StableIds
from historian.formats.text_lines import Spoken, first_lines, spoken

_HEADING = re.compile(
    r"(?P<ts>\d{4}-\d{2}-\d{2} +\d{1,2}:\d{2}:\d{2}) (?:【[^】]{1,20}】)?(?P<name>.{0,120}?)"
    r"(?:\((?P<number>\d{5,12})\)|<(?P<mail>[^<>\s]{3,100})>)?\s*\Z"
)
_PARTNER = re.compile(r"消息对象[:：]\s*(?P<partner>.+?)\s*\Z")
_RULER = re.compile(r"={10,}\Z")
_PREFIX = "qq:"
_SYSTEM = frozenset({"10000", "1000000"})
_ATTACHED = re.compile(r"(?:\[(?:图片|表情|语音|视频|文件)\]\s*)+\Z")
_ATTACHMENTS = Passed("attachments")


class QqText:
    """Records of friends and groups; images without words are passed over."""

    name = "qq"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """It begins as QQ begins it, or has headings of its kind alone on their lines."""
        del bundle
        if not piece.name.lower().endswith(".txt") and piece.name != "-":
            return False
        first = first_lines(piece)
        if any(line.startswith("消息记录") or _PARTNER.match(line) for line in first[:20]):
            return True
        return any((found := _HEADING.match(line)) and (found["number"] or found["mail"]) for line in first)

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the messages of each chat in the file."""
        del bundle
        chat = PurePosixPath(piece.title).stem
        ids = StableIds("qq")
        for part in spoken(piece, _HEADING.match):
            if isinstance(part, str):
                chat = _partner(part) or chat
                continue
            body, following = _split(part.body)
            yield _message(part, body, chat[:200], reading, ids)
            chat = following or chat


def _partner(line: str) -> str | None:
    found = _PARTNER.match(line)
    return found["partner"] if found else None


def _split(body: str) -> tuple[str, str | None]:
    """Return a message without the heading of the next chat that may follow it, and that chat."""
    rows = body.split("\n")
    for at, row in enumerate(rows):
        if _RULER.match(row):
            partner = next((found for line in rows[at:] if (found := _partner(line))), None)
            if partner is not None:
                return "\n".join(rows[:at]).strip(), partner
    return body, None


def _message(part: Spoken, said: str, chat: str, reading: Reading, ids: StableIds) -> Outcome:
    heading = part.heading
    number = heading["number"] or heading["mail"] or ""
    name = heading["name"].strip()
    if number in _SYSTEM or name == "系统消息":
        return NOTICES
    if not said:
        return NO_TEXT
    if _ATTACHED.match(said):
        return _ATTACHMENTS
    sender = reading.sender("" if number.isdigit() else _PREFIX, number, name)
    conversation = f"{_PREFIX}{chat}"
    ts = _iso(heading["ts"])
    turn = message(
        message_id=ids.next(conversation, number or name, ts, said),
        conversation_id=conversation,
        role="user",
        sender_id=sender,
        sender_name=name,
        content=said,
        ts=ts,
        source=QqText.name,
        title=chat,
    )
    return Read(f"line {part.number}", turn)


def _iso(ts: str) -> str:
    day, _, time = ts.partition(" ")
    return f"{day}T{time.strip().zfill(8)}"
