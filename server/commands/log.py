"""`shiguan log`: one turn into the queue, with the standard library only, so that a hook costs its host little."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime

from historian.clock import SystemClock
from historian.errors import InvalidInputError
from historian.guard import Guard
from historian.intake import message_from
from historian.queue import Queue
from historian.work import APPEND, scope_payload
from historian.zones import load_zone
from server.bare import credentials_mode
from server.commands.common import bare_settings_from, complain, config_in_force, say, scope_of
from server.folder import QUEUES_NAME, make_folder

CONSIDERED_LATER = (
    "Whether it states something to remember is decided in the background, now or when the memory is next used. "
    "Afterwards `shiguan profile show` lists what is remembered."
)


def log_turn(arguments: argparse.Namespace) -> int:
    """Queue one message; a server records it at once, or when it next runs."""
    settings = bare_settings_from(arguments)
    zone = load_zone(settings.timezone)
    content = _from_stdin() if arguments.content == "-" else arguments.content
    if not content.strip():
        raise InvalidInputError("There is nothing to record; give the content, or - and text on stdin.")
    scope = scope_of(settings)
    message = {
        "message_id": arguments.message_id,
        "conversation_id": arguments.conversation,
        "role": arguments.role,
        "sender_id": arguments.sender_id or (scope.user_id if arguments.role == "user" else None),
        "sender_name": arguments.sender_name,
        "content": content.strip(),
        "ts": arguments.ts or datetime.now(UTC).astimezone(zone).isoformat(),
    }
    guard = Guard(credentials_mode(settings.data_dir, os.environ, config_in_force))
    message = guard.value(message, "The message")
    message["message_id"] = message_from(message, zone).message_id
    make_folder(settings.data_dir)
    queue = Queue(settings.data_dir / QUEUES_NAME, clock=SystemClock())
    try:
        payload: dict[str, object] = {
            "scope": scope_payload(scope),
            "message": message,
            "timezone": settings.timezone,
        }
        if arguments.consider:
            payload |= {"consider": True, "name": settings.name}
        queue.enqueue(APPEND, scope.owner.key, payload)
    finally:
        queue.close()
    for note in guard.notes:
        complain(note)
    say(f"Queued message {message['message_id']}.")
    if arguments.consider:
        say(CONSIDERED_LATER)
    return 0


def _from_stdin() -> str:
    """Return stdin as UTF-8, whatever the system's encoding is."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInputError("The text on stdin is not UTF-8; send it as UTF-8.") from None
