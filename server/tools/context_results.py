"""The shapes of what to know before answering. Keys are never renamed; each shape may gain some."""

from __future__ import annotations

from historian.context_views import ContextView
from server.answers import Answer


class ContextSource(Answer):
    """Where one item comes from."""

    kind: str
    id: str


class ContextEntry(Answer):
    """One thing to know."""

    text: str
    source: ContextSource
    time: str | None


class ContextPart(Answer):
    """Things of one kind, most useful first. `left_out` counts those for which the budget had no room."""

    name: str
    items: list[ContextEntry]
    left_out: int


class ContextAnswer(Answer):
    """What to know before answering. `text` is all of it, fenced; `tokens` is the estimate for it."""

    text: str
    sections: list[ContextPart]
    sources: list[ContextSource]
    tokens: int
    degraded: list[str]


def context_answer(view: ContextView) -> ContextAnswer:
    """Return the published context."""
    sections = [
        ContextPart(
            name=section.name,
            items=[
                ContextEntry(
                    text=item.text,
                    source=ContextSource(kind=item.source, id=item.source_id),
                    time=item.at.isoformat(timespec="seconds") if item.at else None,
                )
                for item in section.items
            ],
            left_out=section.left_out,
        )
        for section in view.sections
    ]
    sources = dict.fromkeys((item.source, item.source_id) for section in view.sections for item in section.items)
    return ContextAnswer(
        text=view.text,
        sections=sections,
        sources=[ContextSource(kind=kind, id=identifier) for kind, identifier in sources],
        tokens=view.tokens,
        degraded=[*view.degraded],
    )
