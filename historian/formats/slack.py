"""Slack: a folder or zip with `users.json`, and for each channel a folder with one JSON file a day."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from historian.errors import InvalidInputError
from historian.formats.json_stream import elements, outline
from historian.formats.outcome import NO_TEXT, NOTICES, Outcome, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import identifier, mapping, text
from historian.zones import load_zone

_PREFIX = "slack:"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json\Z")
_SPOKEN = frozenset({"", "bot_message", "me_message", "thread_broadcast", "file_share", "file_comment"})
_LINK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_MAX_TABLE = 64 * 2**20
_CHANNELS = ("channels", "groups", "dms", "mpims")
_TABLES = frozenset({"users.json", *(f"{name}.json" for name in _CHANNELS)})


class Slack:
    """Channels, groups and direct messages, with the names and the time zones of `users.json`."""

    name = "slack"

    def __init__(self) -> None:
        self._known: tuple[Bundle, str, _Workspace] | None = None

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """It is called after a day, and its messages have Slack's times; or it is a table above such days."""
        if PurePosixPath(piece.name).name in _TABLES:
            folder = PurePosixPath(piece.name).parent
            return any(_DAY.search(name) and PurePosixPath(name).parents[1:2] == (folder,) for name in bundle.named())
        if not _DAY.search(piece.name):
            return False
        seen = outline(piece)
        return seen.lists("item", "ts", "type") or (
            seen.kind == "array" and _root(piece) + "users.json" in bundle.named()
        )

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the messages of a day in one channel; the tables are read with those."""
        if PurePosixPath(piece.name).name in _TABLES:
            return
        workspace = self._workspace(bundle, _root(piece))
        folder = PurePosixPath(piece.name).parent.name or piece.title
        for number, (_, said) in enumerate(elements(piece, "item"), start=1):
            yield _message(f"message {number}", workspace, folder, mapping(said), reading)

    def _workspace(self, bundle: Bundle, root: str) -> _Workspace:
        """Return the tables of the export, read once for all its days."""
        if self._known is None or self._known[0] is not bundle or self._known[1] != root:
            self._known = (bundle, root, _read_workspace(bundle, root))
        return self._known[2]


@dataclass(frozen=True, slots=True)
class _Workspace:
    names: dict[str, str] = field(default_factory=dict[str, str])
    zones: dict[str, str] = field(default_factory=dict[str, str])
    channels: dict[str, str] = field(default_factory=dict[str, str])


def _root(piece: Piece) -> str:
    """Return what stands before the folders of the channels in the names of the files."""
    parts = PurePosixPath(piece.name).parts[:-2]
    return "".join(f"{part}/" for part in parts)


def _read_workspace(bundle: Bundle, root: str) -> _Workspace:
    found = _Workspace()
    files = bundle.named()
    for user in _table(files.get(f"{root}users.json")):
        about, number = mapping(user.get("profile")), identifier(user.get("id"))
        names = (about.get("display_name"), user.get("real_name"), about.get("real_name"), user.get("name"))
        found.names[number] = next((name for name in map(text, names) if name), number)
        found.zones[number] = text(user.get("tz"))
    for table in _CHANNELS:
        for channel in _table(files.get(f"{root}{table}.json")):
            number = identifier(channel.get("id"))
            found.channels[text(channel.get("name")) or number] = number
    return found


def _table(piece: Piece | None) -> list[Mapping[str, Any]]:
    """Return the rows of a table; one that is damaged or missing only costs the names."""
    if piece is None or piece.size > _MAX_TABLE:
        return []
    try:
        with piece.open() as stream:
            rows: object = json.loads(stream.read(_MAX_TABLE))
    except (ValueError, RecursionError, InvalidInputError):
        return []
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _message(place: str, workspace: _Workspace, folder: str, said: Mapping[str, Any], reading: Reading) -> Outcome:
    if said.get("type") != "message" or text(said.get("subtype")) not in _SPOKEN:
        return NOTICES
    content = _plain(text(said.get("text")), workspace)
    if not content:
        return NO_TEXT
    ts, user = text(said.get("ts")), identifier(said.get("user"))
    channel = workspace.channels.get(folder, folder)
    at = _instant(ts, workspace.zones.get(user, ""))
    if at is None:
        return Refusal(place, "Its ts is no time.")
    about = mapping(said.get("user_profile"))
    name = workspace.names.get(user) or text(about.get("display_name")) or text(about.get("real_name"))
    name = name or text(said.get("username")) or text(mapping(said.get("bot_profile")).get("name"))
    thread = text(said.get("thread_ts"))
    is_bot = said.get("subtype") == "bot_message" or (bool(said.get("bot_id")) and not user)
    turn = message(
        message_id=f"{_PREFIX}{channel}:{ts}",
        conversation_id=f"{_PREFIX}{channel}",
        role="assistant" if is_bot else "user",
        sender_id=reading.sender(_PREFIX, user or identifier(said.get("bot_id")), name),
        sender_name=name[:200],
        content=content,
        ts=at,
        reply_to=f"{_PREFIX}{channel}:{thread}" if thread and thread != ts else "",
        source=Slack.name,
        title=folder[:200],
    )
    return Read(place, turn)


def _instant(ts: str, zone: str) -> str | None:
    """Return the time where its sender lives, if that is known, else in UTC, saying no local time."""
    try:
        at = datetime.fromtimestamp(float(ts), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    try:
        return at.astimezone(load_zone(zone)).isoformat() if zone else at.isoformat().replace("+00:00", "Z")
    except InvalidInputError:
        return at.isoformat().replace("+00:00", "Z")


def _plain(marked: str, workspace: _Workspace) -> str:
    """Return a text with the people, channels and links it names written out."""

    def written(link: re.Match[str]) -> str:
        kind, target, label = link[1], link[2], link[3]
        if kind == "@":
            return f"@{workspace.names.get(target) or label or target}"
        if kind == "#":
            return f"#{label or target}"
        if kind == "!":
            return f"@{label or target.partition('^')[0]}".replace("@@", "@")
        return f"{label} ({target})" if label and label != target and label not in target else target

    return html.unescape(_LINK.sub(written, marked)).strip()
