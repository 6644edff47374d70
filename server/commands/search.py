"""`shiguan search`: the record, for a person."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from historian.errors import InvalidInputError
from historian.work import scope_payload
from historian.zones import load_zone
from server.commands.common import complain, existing_settings_from, say, scope_of
from server.owner.ask import conversation

MAX_LIMIT = 200
_NARROWEST = 60
_NOTHING = 0.005
"""A score below this is shown as 0.00."""


def search(arguments: argparse.Namespace) -> int:
    """Print the messages that fit, best first, as the owner of the folder finds them."""
    if not 1 <= arguments.limit <= MAX_LIMIT:
        raise InvalidInputError(f"--limit must be a whole number from 1 to {MAX_LIMIT}.")
    settings = existing_settings_from(arguments)
    request = {
        "op": "search",
        "scope": scope_payload(scope_of(settings)),
        "timezone": settings.timezone,
        "query": arguments.query,
        "filter": {
            "role": arguments.role,
            "time_range": {"since": arguments.since, "until": arguments.until},
            "conversation_id": arguments.conversation,
            "sender_id": arguments.sender_id,
        },
        "limit": arguments.limit,
        "mode": arguments.mode,
    }
    with conversation(settings) as talk:
        found = talk.ask(request)
    found["items"] = [item for item in found["items"] if _fits(item)]
    if arguments.json:
        say(json.dumps(found, ensure_ascii=False))
        return 0
    for line in table(found["items"], load_zone(settings.timezone), width=_width()):
        say(line)
    for notice in (*found["degraded"], *found["warnings"]):
        complain(notice)
    if not found["items"]:
        complain("No message fits.")
    return 0


def _fits(item: Mapping[str, Any]) -> bool:
    """Say whether a message has anything of the query: of those that have nothing, by chance some come first."""
    score = item.get("score")
    return score is None or score >= _NOTHING


def table(items: list[Mapping[str, Any]], zone: ZoneInfo, width: int | None = None) -> list[str]:
    """Return a heading and a line for each message, the content last; cut at `width` columns where one is given.

    All times are those of `zone`, which the heading names: each message keeps the zone in which it was said.
    """
    if not items:
        return []
    rows = [("SCORE", f"TIME ({zone.key})", "WHO", "MESSAGE", "CONTENT"), *(_cells(item, zone) for item in items)]
    widths = [max(columns(row[i]) for row in rows) for i in range(4)]
    lines = ("  ".join([*map(padded, row[:4], widths), row[4]]) for row in rows)
    return [line if width is None else clipped(line, width) for line in lines]


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes: East Asian characters take two, marks none."""
    return sum(_columns(character) for character in text)


def padded(text: str, width: int) -> str:
    """Return `text` filled up to `width` columns."""
    return text + " " * (width - columns(text))


def clipped(text: str, width: int) -> str:
    """Return as much of `text` as fits into `width` columns, with a mark where it is cut."""
    if columns(text) <= width:
        return text
    kept, used = "", 1
    for character in text:
        used += _columns(character)
        if used > width:
            break
        kept += character
    return f"{kept}…"


def _cells(item: Mapping[str, Any], zone: ZoneInfo) -> tuple[str, str, str, str, str]:
    who = clipped(_plain(str(item["sender_name"] or item["sender_id"] or item["role"])), 16)
    score = f"{item['score']:.2f}" if item.get("score") is not None else ""
    return score, _time(item["ts"], zone), who, _plain(item["message_id"]), _plain(item["content"])


def _time(ts: str, zone: ZoneInfo) -> str:
    said_at = datetime.fromisoformat(ts)
    try:
        return said_at.astimezone(zone).isoformat(" ", "minutes")[:16]
    except OverflowError:  # the first and last hours of the calendar
        return said_at.isoformat(" ", "minutes")


def _plain(text: str) -> str:
    """Return a text as one line, without anything that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _width() -> int | None:
    """Return the width of the terminal, or None where the output goes elsewhere and nothing shall be cut."""
    return max(shutil.get_terminal_size().columns, _NARROWEST) if sys.stdout.isatty() else None
