"""`shiguan status`: what the data folder holds, for a person."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from server.commands.common import existing_settings_from, say, tell_unknown_variables
from server.owner.ask import conversation


def show_status(arguments: argparse.Namespace) -> int:
    """Print counts of the whole folder, as its owner tells them."""
    tell_unknown_variables()
    settings = existing_settings_from(arguments)
    if not arguments.json and not settings.data_dir.is_dir():
        say(f"Nothing is remembered yet; whoever uses the memory first makes the folder {settings.data_dir}.")
        return 0
    with conversation(settings) as talk:
        state = talk.ask({"op": "status"}) | {"data_dir": str(settings.data_dir)}
    if arguments.json:
        say(json.dumps(state))
    else:
        for line in status_lines(state):
            say(line)
    return 0


def status_lines(state: Mapping[str, Any]) -> Iterator[str]:
    """Yield a status as a person reads it, a line for each thing."""
    for name, value in state.items():
        told = _TOLD.get(name)
        shown = value if told is None else "; ".join(map(told, value)) or _NOTHING[name]
        yield f"{name.replace('_', ' '):20} {shown}"


def profile_line(one: Mapping[str, Any]) -> str:
    """Return what is wrong with the merges of a profile as a person reads it."""
    again = f" until {one['next_retry']}, after {one['attempts']} attempts" if one["next_retry"] else ""
    return f"{one['profile']} {one['what']}{again}: {one['reason']}"


_TOLD: Mapping[str, Callable[[Any], str]] = {
    "degraded": lambda one: f"{one['what']} (since {one['since']})",
    "offline": str,
    "profiles": profile_line,
    "settings": str,
}
_NOTHING = {"degraded": "nothing", "offline": "nothing", "profiles": "all in order", "settings": "all in effect"}
