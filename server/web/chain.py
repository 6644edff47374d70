"""An event with all that it rests on, and a message with what was said around it."""

from __future__ import annotations

from server.web.page import Asked, Page

AROUND = 10
"""Messages that are shown before and after one."""


def show_event(asked: Asked) -> Page:
    """Return an event, its messages, and the lines of profiles that rest on it. Raises NotFoundError."""
    chain = asked.memory.evidence.chain(asked.field("id"))
    return Page("event.html", {"chain": chain, "event": chain.event})


def show_message(asked: Asked) -> Page:
    """Return a whole message among its neighbours. Raises NotFoundError."""
    evidence, message_id = asked.memory.evidence, asked.field("id")
    whole = evidence.neighbors(message_id, before=0, after=0)
    around = evidence.neighbors(message_id, before=AROUND, after=AROUND)
    return Page("message.html", {"message": whole.items[0], "around": around.items})
