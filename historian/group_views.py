"""From stored versions, steps and log entries to what callers see of them."""

from __future__ import annotations

from historian.group_model import GroupMemory, MemoryChange
from historian.group_store import LoggedChange
from historian.group_versions import Moment, Step, Version
from historian.messages import instant_of
from historian.model import Owner


def memory_of(group: Owner, version: Version, moment: Moment) -> GroupMemory:
    """Return a version as it is at this moment."""
    return GroupMemory(
        memory_id=version.memory_id,
        version=version.version,
        group_id=group.id,
        statement=version.statement,
        status=version.status,
        tags=version.tags,
        strength=moment.strength(version),
        created_at=instant_of(version.created_ms),
        updated_at=instant_of(version.updated_ms),
        last_confirmed_at=instant_of(version.confirmed_ms),
        parent_version=version.parent_version,
        change_reason=version.change_reason,
        message_ids=version.message_ids,
        run_id=version.run_id,
        flags=version.flags,
    )


def change_of(group: Owner, step: Step) -> MemoryChange:
    """Return a step as a change."""
    earlier = None if step.before is None else step.before.statement
    return logged_change_of(
        group, LoggedChange(0, step.action, step.after, earlier, step.reason, step.message_ids, step.at_ms, step.run_id)
    )


def logged_change_of(group: Owner, logged: LoggedChange) -> MemoryChange:
    """Return an entry of the log as a change."""
    after = logged.after
    return MemoryChange(
        action=logged.action,
        memory_id=after.memory_id,
        group_id=group.id,
        version=after.version,
        old_statement=logged.old_statement,
        new_statement=None if logged.action == "delete" else after.statement,
        change_reason=logged.reason,
        message_ids=logged.message_ids,
        at=instant_of(logged.at_ms),
        strength=after.strength,
        run_id=logged.run_id,
    )
