"""`shiguan context`: what to know before answering, as plain text, for a host's hook."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from historian.errors import InvalidInputError, ShiguanError
from server.commands.common import context_request, existing_settings_from, say
from server.owner.ask import conversation

HOOK_SECONDS = 5.0
"""A hook holds up its host's turn: so long it waits for the owner to come up, and so long for the answer."""
_PROMPTS = ("prompt", "message", "user_prompt", "text")
_CONVERSATIONS = ("session_id", "conversation_id")


def show_context(arguments: argparse.Namespace) -> int:
    """Print what to know. As a hook it prints nothing where nothing is remembered or anything fails, and returns 0."""
    if not arguments.hook:
        found = _context(arguments, arguments.message or "", arguments.conversation, patience=None)
        say(json.dumps(found, ensure_ascii=False) if arguments.json else found["text"])
        return 0
    try:
        message, named = _from_hook(arguments)
        found = _context(arguments, message, arguments.conversation or named, patience=HOOK_SECONDS)
    except ShiguanError:
        return 0  # no memory is no reason to hold up the turn
    if not found["empty"]:
        say(found["text"])
    return 0


def _context(
    arguments: argparse.Namespace, message: str, conversation_id: str | None, *, patience: float | None
) -> dict[str, Any]:
    settings = existing_settings_from(arguments)
    request = context_request(settings, _stdin() if message == "-" else message, conversation_id)
    with conversation(settings, patience) as talk:
        return talk.ask({**request, "group_name": arguments.group_name})


def _from_hook(arguments: argparse.Namespace) -> tuple[str, str | None]:
    """Return the message and the conversation: of the arguments, else as JSON on stdin, else all of stdin as text."""
    if arguments.message not in (None, "-"):
        return arguments.message, None
    text = _stdin()
    try:
        given: Any = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return text, None
    return _named(given, _PROMPTS) or "", _named(given, _CONVERSATIONS)


def _named(given: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((value for name in names if isinstance(value := given.get(name), str) and value), None)


def _stdin() -> str:
    """Return stdin as UTF-8, whatever the system's encoding is; from a terminal nothing is read."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInputError("The text on stdin is not UTF-8; send it as UTF-8.") from None
