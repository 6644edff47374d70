"""What is known of the guest's groups: statements that evolve, each with the chain of its versions."""

from __future__ import annotations

from server.web.page import Asked, Page

PAGE_SIZE = 50


def show_groups(asked: Asked) -> Page:
    """Return the statements of one group, by default the first that has any, also those that are not held any more.

    Raises:
        NotFoundError: the group is not the guest's.
    """
    groups = asked.memory.look.groups
    summaries = groups.summaries()
    preferred = sorted(summaries, key=lambda one: not (one.active or one.deprecated))
    named = asked.field("of") or next((one.group_id for one in preferred), "")
    page = groups.list(named, status="all", limit=PAGE_SIZE, cursor=asked.field("cursor")) if named else None
    return Page("groups.html", {"summaries": summaries, "group": named, "page": page})


def show_statement(asked: Asked) -> Page:
    """Return a statement of a group with its versions and what became of it. Raises NotFoundError."""
    return Page("statement.html", {"history": asked.memory.look.groups.history(asked.field("id"))})
