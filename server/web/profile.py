"""A profile beside its history, and going back in it."""

from __future__ import annotations

from collections.abc import Callable

from historian.errors import InvalidInputError, NotFoundError
from historian.model import EntityType, Owner
from historian.profile_versions import History
from server.web.page import Asked, Done, Page

NO_PROFILE = "There is no such profile; take one from the list."


class ProfilePages:
    """Shows profiles; `render` makes Markdown to HTML."""

    def __init__(self, render: Callable[[str], str]) -> None:
        self._render = render

    def show(self, asked: Asked) -> Page:
        """Return a profile with its history, by default that of the guest. Raises NotFoundError."""
        entities = asked.memory.look.entities()
        entity = _named(asked) if asked.field("of") else entities[0]
        view = asked.memory.look.profile(entity.kind, entity.id)
        values = {
            "entity": entity,
            "entities": entities,
            "view": view,
            "html": self._render(view.text),
            "history": _history(asked, entity),
        }
        return Page("profile.html", values)

    def roll_back(self, asked: Asked) -> Done:
        """Make a kept version the present one. Raises as `ScopedMemory.rollback_profile`."""
        entity = _named(asked)
        done = asked.memory.rollback_profile(entity.kind, entity.id, asked.field("revision"))
        return Done("profile", {"of": entity.key, "done": "rolled_back" if done.undo else "unchanged"})


def _history(asked: Asked, entity: Owner) -> History | None:
    """Return the history, or None where this guest may see the profile but not its past."""
    try:
        return asked.memory.profile_history(entity.kind, entity.id)
    except (InvalidInputError, NotFoundError):
        return None


def _named(asked: Asked) -> Owner:
    kind, colon, identifier = asked.field("of").partition(":")
    if not colon or kind not in ("user", "group") or not identifier.strip():
        raise NotFoundError(NO_PROFILE)
    named: EntityType = "group" if kind == "group" else "user"
    return Owner(named, identifier)
