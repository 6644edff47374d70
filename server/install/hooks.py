"""The hooks of Claude Code in a user's own settings, for those who do without the plugin."""

from __future__ import annotations

import shlex
from typing import Any

from historian.errors import InvalidInputError
from server.hooks.events import NAMES
from server.install.jsonc import value_at, with_member, without_member

SECONDS = {"prompt": 5, "stop": 10, "session-end": 2}


def with_hooks(text: str, command: str, flags: list[str]) -> str:
    """Return the settings with one hook for each event, in the place of earlier ones of this memory."""
    for event, name in NAMES.items():
        called = shlex.join([command.replace("\\", "/"), "hook", name, *flags])
        hook = {"type": "command", "command": f"PYTHONPATH= {called} || true", "timeout": SECONDS[name]}
        groups = [*_others(text, event), {"hooks": [hook]}]
        if value_at(text, ("hooks", event)) != groups:
            text = with_member(text, ("hooks", event), groups)
    return text


def without_hooks(text: str) -> str:
    """Return the settings without the hooks of this memory."""
    for event in NAMES:
        found, others = value_at(text, ("hooks", event)), _others(text, event)
        if found is None or found == others:
            continue
        path = ("hooks", event)
        text = with_member(text, path, others) if others else without_member(text, path)
    return without_member(text, ("hooks",)) if value_at(text, ("hooks",)) == {} else text


def _others(text: str, event: str) -> list[Any]:
    """Return the groups of hooks of other programs. Raises InvalidInputError: there stands something else."""
    found = value_at(text, ("hooks", event))
    if not isinstance(found, list | None):
        raise InvalidInputError(f"hooks.{event} is not a list; mend the file by hand.")
    return [group for group in found or () if not _is_ours(group)]


def _is_ours(group: Any) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list) or len(hooks) != 1 or not isinstance(hooks[0], dict):
        return False
    command = str(hooks[0].get("command", ""))
    return "shiguan" in command and any(f"hook {name}" in command for name in NAMES.values())
