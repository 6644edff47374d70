"""The hooks, one function each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from historian.zones import load_zone
from server.bare import BareSettings
from server.commands.common import context_request
from server.hooks.bookmarks import Bookmarks
from server.hooks.payload import Payload
from server.owner.ask import ask_running

MOST_AT_STOP = 64_000_000
MOST_AT_END = 4_000_000
"""Bytes of a transcript that are read at most; behind a bookmark there are far less."""


class Hook(NamedTuple):
    """What runs when something happens in the host, and after how many seconds it is left alone."""

    run: Callable[[BareSettings, Payload], str]
    seconds: float


def prompt_submitted(settings: BareSettings, payload: Payload) -> str:
    """Return what to know before answering, as the host takes it; "" where there is nothing or nobody to ask."""
    asked = payload.text("prompt").strip()
    if not asked:
        return ""
    answer = ask_running(settings, context_request(settings, asked[:4_000], payload.session or None))
    text = str(answer.get("text", "")).strip() if answer is not None and not answer.get("empty") else ""
    if not text:
        return ""
    said = {"hookEventName": "UserPromptSubmit", "additionalContext": text}
    return json.dumps({"hookSpecificOutput": said, "suppressOutput": True})


def stopped(settings: BareSettings, payload: Payload) -> str:
    """Queue the turn that ended, and a memo of it unless the agent closed it itself."""
    _take_in(settings, payload, MOST_AT_STOP, answer=payload.text("last_assistant_message"))
    return ""


def session_ended(settings: BareSettings, payload: Payload) -> str:
    """Queue what no stop has brought: turns that were interrupted."""
    _take_in(settings, payload, MOST_AT_END, answer=None)
    Bookmarks(settings.data_dir).sweep()
    return ""


def _take_in(settings: BareSettings, payload: Payload, most: int, *, answer: str | None) -> None:
    transcript, session = payload.transcript, payload.session
    if transcript is None or not session or not _is_regular(transcript):
        return
    from server.hooks.transcript import read_tail
    from server.hooks.turns import TurnWriter

    bookmarks = Bookmarks(settings.data_dir)
    tail = read_tail(transcript, bookmarks.get(transcript), most, settings.user, load_zone(settings.timezone))
    if tail.messages:
        writer = TurnWriter(settings, session)
        writer.write(tail.messages, consider=not tail.is_closed, answer=None if tail.is_closed else answer)
    if settings.data_dir.is_dir():
        bookmarks.put(transcript, tail.end)


def _is_regular(path: Path) -> bool:
    """Say whether a path is a file: a pipe would never end."""
    try:
        return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises for some names
    except ValueError:
        return False


HOOKS = {
    "prompt": Hook(prompt_submitted, 3.0),
    "stop": Hook(stopped, 8.0),
    "session-end": Hook(session_ended, 1.4),
}
NAMES = {"UserPromptSubmit": "prompt", "Stop": "stop", "SessionEnd": "session-end"}
"""As the host calls them."""
