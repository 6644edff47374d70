"""`shiguan verify`: a memory view that some agent made, checked against the record."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from historian.errors import InvalidInputError
from server.commands.common import existing_settings_from, say, scope_request
from server.owner.ask import conversation

MOST_BYTES = 4_000_000


def verify(arguments: argparse.Namespace) -> int:
    """Print the verified view; return 1 where anything of it is not proven."""
    settings = existing_settings_from(arguments)
    request = {
        "op": "verify",
        "scope": scope_request(settings),
        "timezone": settings.timezone,
        "view": _text(arguments.file),
    }
    with conversation(settings) as talk:
        answer = talk.ask(request)
    verified = answer["view"]
    say(json.dumps(verified, ensure_ascii=False, indent=2) if arguments.json else answer["prose"])
    return 1 if verified["uncertain"] or verified["removed"] else 0


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read(MOST_BYTES + 1) if file == "-" else Path(file).read_bytes()
    except OSError:
        raise InvalidInputError("The view cannot be read; name a JSON file, or - for stdin.") from None
    if len(data) > MOST_BYTES:
        raise InvalidInputError("The view is too large; split it.")
    return data.decode("utf-8-sig", "replace")
