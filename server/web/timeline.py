"""The first page: messages and events as one stream, newest first, or what answers a question."""

from __future__ import annotations

from historian.timeline import Kind
from server.web.page import Asked, Page

PAGE_SIZE = 50
EVENTS_FOUND = 20
MESSAGES_FOUND = 30
SHOWN = 600
"""Characters of a message in a list; the whole one has a page of its own."""


def show_timeline(asked: Asked) -> Page:
    """Return the stream, or the answers where something is looked for."""
    query = asked.field("q")
    kind = _kind(asked.field("kind"))
    return _found(asked, query, kind) if query else _stream(asked, kind)


def _kind(named: str) -> Kind:
    return "messages" if named == "messages" else "events" if named == "events" else "all"


def _stream(asked: Asked, kind: Kind) -> Page:
    page = asked.memory.look.timeline(kind, size=PAGE_SIZE, cursor=asked.field("cursor"))
    values = {
        "kind": kind,
        "query": "",
        "items": page.items,
        "next_cursor": page.next_cursor,
        "is_begin": not asked.field("cursor"),
    }
    return Page("timeline.html", values)


def _found(asked: Asked, query: str, kind: Kind) -> Page:
    look, notes = asked.memory.look, dict[str, None]()
    events = look.events_about(query, EVENTS_FOUND) if kind != "messages" else None
    messages = asked.memory.evidence.by_meaning(query, {}, top_k=MESSAGES_FOUND) if kind != "events" else None
    if events is not None:
        notes |= dict.fromkeys((*events.degraded, *events.warnings))
    if messages is not None:
        notes |= dict.fromkeys((*messages.degraded, *messages.warnings))
    values = {
        "kind": kind,
        "query": query,
        "events": [one.event for one in events.events] if events is not None else [],
        "messages": messages.items if messages is not None else (),
        "notes": [*notes],
    }
    return Page("found.html", values)
