"""`shiguan forget`: say what would go, ask, and forget it with every trace."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from historian.errors import InvalidInputError
from historian.finding import counted
from historian.work import scope_payload
from server.commands.common import complain, existing_settings_from, say, scope_of
from server.owner.ask import conversation


def forget(arguments: argparse.Namespace) -> int:
    """Forget what the flags name; exit code 1 where the person does not agree."""
    settings = existing_settings_from(arguments)
    request = {
        "op": "forget",
        "scope": scope_payload(scope_of(settings)),
        "timezone": settings.timezone,
        "what": _what(arguments),
    }
    with conversation(settings) as talk:
        foreseen = talk.ask(request)
        say(f"This would be forgotten: {counted(foreseen['counts'])}.")
        for what, text in foreseen["samples"]:
            say(f"  {what}: {text}")
        for what, text in foreseen.get("along", ()):  # an owner of an earlier version does not tell
            say(f"  {what}, going along: {text}")
        for note in foreseen["notes"]:
            complain(note)
        if arguments.dry_run:
            return 0
        if not arguments.yes and not _agreed():
            complain("Nothing was forgotten.")
            return 1
        done = talk.ask(request | {"confirm": foreseen["token"]})
    say(f"Forgotten: {counted(done['counts'])}.")
    for note in done["notes"]:
        if note not in foreseen["notes"]:
            complain(note)
    return 0


def _what(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "message_ids": arguments.messages or [],
        "event_id": arguments.event,
        "conversation_id": arguments.conversation,
        "since": arguments.since,
        "until": arguments.until,
        "query": arguments.search or "",
        "everything": arguments.everything,
    }


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise InvalidInputError("Nobody can be asked here; add --yes to forget this, or --dry-run only to look.")
    sys.stderr.write("It cannot be undone. Forget it? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes", "是")
