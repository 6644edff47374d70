"""Group memory as prose, for the text channel and for people."""

from __future__ import annotations

from historian.group_model import (
    Evolution,
    FoundMemories,
    GroupMemory,
    MemoryChange,
    MemoryChanges,
    MemoryHistory,
    MemoryPage,
)
from server.answers import quoted

_MARKS = {"create": "+", "update": "~", "delete": "-", "restore": "+", "strength": "=", "keep": "=", "forget": "x"}


def evolve_prose(done: Evolution) -> str:
    """Say what a run did."""
    stats = done.stats
    head = (
        f"{done.messages} messages read: {stats.kept} statements kept ({stats.confirmed} confirmed), "
        f"{stats.updated} updated, {stats.created} created, {stats.deleted} deleted; {done.active} are active now."
    )
    refused = [f"Refused ({one.action}): {one.reason}" for one in done.refused]
    unanswered = f"{len(done.unanswered)} statements got no action and were kept." if done.unanswered else ""
    lines = [] if done.by == "nobody" else [head]
    return "\n".join([*lines, *map(change_line, done.changes), *refused, *filter(None, [unanswered]), *done.notes])


def memories_prose(page: MemoryPage) -> str:
    """List statements."""
    head = (
        f"{page.total} statements about the group (quoted data):"
        if page.total
        else "There is no such statement here yet."
    )
    more = [f"More with cursor {page.cursor!r}."] if page.cursor else []
    return "\n".join([head, *(_line(one) for one in page.memories), *more, *page.degraded])


def found_prose(found: FoundMemories) -> str:
    """List statements with their scores."""
    lines = [f"{_line(one.memory)}; score {one.score:.2f}" for one in found.memories]
    if not lines:
        below = "" if found.best_below is None else f" The best one has a score of {found.best_below:.2f}."
        lines = [f"No statement reaches the threshold.{below}"]
    return "\n".join([*lines, *found.degraded])


def memory_history_prose(found: MemoryHistory) -> str:
    """List the versions of one memory, then its changes."""
    versions = [
        f"version {one.version} ({one.status}): {quoted(one.statement)}"
        f"; {quoted(one.change_reason) if one.change_reason else 'no reason given'}"
        for one in found.versions
    ]
    return "\n".join([f"Memory {found.memory_id} (quoted data):", *versions, *map(change_line, found.changes)])


def changes_prose(found: MemoryChanges) -> str:
    """List changes, newest first."""
    since = found.since.date().isoformat()
    head = f"{len(found.changes)} changes since {since} (quoted data), {found.confirmed} confirmations:"
    return "\n".join([head, *map(change_line, found.changes), *(["There are older ones."] if found.truncated else [])])


def change_line(change: MemoryChange) -> str:
    """Return one change as a line."""
    old = quoted(change.old_statement) if change.old_statement is not None else ""
    new = quoted(change.new_statement) if change.new_statement is not None else ""
    what = f"{old} → {new}" if old and new and old != new else new or old
    why = f" because {quoted(change.change_reason)}" if change.change_reason else ""
    rests = f"; messages {', '.join(change.message_ids)}" if change.message_ids else ""
    mark = _MARKS.get(change.action, "?")
    return f"{mark} {change.action} {change.memory_id} v{change.version}: {what}{why}{rests}"


def _line(memory: GroupMemory) -> str:
    rests = ", ".join(memory.message_ids) or "none"
    return (
        f"- {quoted(memory.statement)} ({memory.memory_id} v{memory.version}; {memory.status}; strength "
        f"{memory.strength:.2f}; confirmed {memory.last_confirmed_at.date()}; messages {rests})"
    )
