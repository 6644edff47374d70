"""The history of profiles as prose, for the text channel and the command line."""

from __future__ import annotations

from collections.abc import Sequence

from historian.profile_versions import History, Rollback
from server.answers import quoted

SHOWN = 20
"""Changes of one version that are told."""
NO_DIFF = "nothing in its text"


def history_prose(found: History) -> str:
    """List the versions with what changed after each, and why lines are gone."""
    name = f"{found.entity.kind} {found.entity.id}"
    if not found.versions:
        return f"No earlier version of the profile of {name} is kept yet."
    lines = [f"{len(found.versions)} earlier versions of the profile of {name}, newest first (quoted data):"]
    for version in found.versions:
        state = f"{version.lines} lines" if version.readable else "a broken edit, unreadable"
        lines.append(f"{version.revision}: {state}; changed since:")
        lines += changes(version.diff)
    lines += [f"Left out: {quoted(one.line)} because {quoted(one.reason)}" for one in found.drops[:SHOWN]]
    return "\n".join(lines)


def rollback_prose(done: Rollback) -> str:
    """Say what going back changed."""
    undo = f" Going back to {done.undo} undoes it." if done.undo else ""
    head = f"The profile of {done.entity.kind} {done.entity.id} is as it was in {done.revision}; changed:"
    return "\n".join([head, *changes(done.diff), *([undo.strip()] if undo else [])])


def changes(diff: Sequence[str]) -> list[str]:
    """Return the lines of a diff as quoted data."""
    shown = [f"> {line}" for line in diff[:SHOWN]] or [f"> ({NO_DIFF})"]
    return [*shown, f"> … and {len(diff) - SHOWN} more lines"] if len(diff) > SHOWN else shown
