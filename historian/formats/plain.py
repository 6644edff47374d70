"""Messages as `messages_append` takes them: JSON lines, a JSON list, or a table with a heading."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from historian.formats.json_lines import samples, values
from historian.formats.json_stream import elements, outline
from historian.formats.outcome import NO_TEXT, Outcome, Read, Refusal
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.stable_ids import StableIds
from historian.formats.text_lines import first_lines, open_text

_PREFIX = "csv:"
_SENDERS = ("发送者", "发送人", "发言人", "发件人", "说话人", "作者", "昵称", "姓名", "名字", "成员", "用户", "用户名")
_COLUMNS = {
    "message_id": ("message_id", "id", "uuid", "消息id"),
    "conversation_id": ("conversation_id", "conversation", "channel", "chat", "thread", "session", "会话", "群"),
    "role": ("role", "type", "角色"),
    "sender_id": ("sender_id", "author_id", "authorid", "user_id", "发送者id"),
    "sender_name": ("sender_name", "sender", "author", "from", "name", "user", "username", *_SENDERS),
    "content": ("content", "text", "message", "body", "内容", "消息"),
    "ts": ("ts", "timestamp", "time", "datetime", "date", "created_at", "sent_at", "时间", "日期"),
    "reply_to": ("reply_to", "in_reply_to", "回复"),
}
_ROLES = {
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "用户": "user",
    "助手": "assistant",
}


_SLASHED = re.compile(r"(\d{4})[/.年](\d{1,2})[/.月](\d{1,2})日?(?:[ T]+(\d{1,2})(:\d{2}(?::\d{2})?))?\Z")


class PlainLines:
    """One message a line, as JSON."""

    name = "jsonl"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """It has lines with content, or is an empty file."""
        del bundle
        return any({"content", "conversation_id"} <= line.keys() for line in samples(piece)) or not piece.head.strip()

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield each line as it is; what is missing in it, the memory says."""
        del bundle, reading
        for found in values(piece):
            yield found if isinstance(found, Refusal) else Read(found[0], found[1])


class PlainList:
    """One JSON list of messages."""

    name = "json"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """It is a list of objects with content."""
        del bundle
        return outline(piece).lists("item", "content", "conversation_id")

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield each element as it is."""
        del bundle, reading
        for number, (_, value) in enumerate(elements(piece, "item"), start=1):
            yield Read(f"message {number}", value)


class Table:
    """A table with commas, semicolons or tabs, whose heading names at least content and time."""

    name = "csv"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """The heading names content and time, in one of several words."""
        del bundle
        if not piece.name.lower().endswith((".csv", ".tsv")) and piece.name != "-":
            return False
        first = first_lines(piece, 1)
        return bool(first) and {"content", "ts"} <= _places(next(csv.reader(first, _Dialect(first[0])), [])).keys()

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield a message for each row."""
        del bundle
        ids = StableIds("csv")
        with open_text(piece, newline="") as stream:
            first = stream.readline(1 << 16)
            places = _places(next(csv.reader([first], _Dialect(first)), []))
            rows = csv.reader(stream, _Dialect(first))
            while True:
                try:
                    row = next(rows, None)
                except csv.Error:
                    yield Refusal(f"line {rows.line_num + 1}", "It is no row of a table, or a cell of it is too long.")
                    continue
                if row is None:
                    return
                if any(row):
                    yield _row(
                        f"line {rows.line_num + 1}",
                        {n: row[at] for n, at in places.items() if at < len(row)},
                        piece,
                        reading,
                        ids,
                    )


class _Dialect(csv.excel):
    """Excel's table, with the delimiter that stands most often in the heading."""

    def __init__(self, heading: str) -> None:
        self.delimiter = max(",;\t", key=heading.count)
        super().__init__()


def _places(heading: Sequence[str]) -> Mapping[str, int]:
    """Return in which column each field stands."""
    known = {
        name.strip().lower().lstrip("\ufeff").replace(" ", "_"): at for at, name in reversed([*enumerate(heading)])
    }
    found = {field: next((known[name] for name in names if name in known), None) for field, names in _COLUMNS.items()}
    return {field: at for field, at in found.items() if at is not None}


def _row(place: str, cells: Mapping[str, str], piece: Piece, reading: Reading, ids: StableIds) -> Outcome:
    said = cells.get("content", "").strip()
    if not said:
        return NO_TEXT
    named = cells.get("role", "").strip().lower()
    role = _ROLES.get(named, named if named in ("user", "assistant", "system", "tool") else "user")
    turn: dict[str, Any] = {name: value.strip() for name, value in cells.items() if value.strip()}
    turn |= {"role": role, "content": said, "meta": {"source": Table.name}}
    if "ts" in turn:
        turn["ts"] = _iso(turn["ts"])
    turn.setdefault("conversation_id", f"{_PREFIX}{piece.title}"[:512])
    sender, name = turn.get("sender_id", ""), turn.get("sender_name", "")
    if {sender, name} & reading.me:
        turn["sender_id"] = reading.user
    elif name and not sender and not named:  # a chat between people: without an id each line would be the user's own
        turn["sender_id"] = reading.sender(_PREFIX, name)
    turn.setdefault("message_id", ids.next(turn["conversation_id"], sender or name, turn.get("ts", ""), said))
    return Read(place, turn)


def _iso(ts: str) -> str:
    """Return a time with slashes or Chinese marks, which spreadsheets write, as ISO 8601; others as they are."""
    found = _SLASHED.match(ts)
    if found is None:
        return ts
    year, month, day, hour, rest = found.groups()
    return f"{year}-{month:0>2}-{day:0>2}" + (f"T{hour:0>2}{rest}" if hour else "")
