"""The tool of the core set that is called before a message is answered."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from historian.context_views import ContextView
from server.answers import QUOTED, Answer, answer
from server.binding import Bound
from server.tools.core import READ
from server.toolsets import Published


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


def build_context(
    memory: Bound,
    message: Annotated[str, Field(description="The message that you are about to answer", max_length=100_000)] = "",
) -> Annotated[CallToolResult, ContextAnswer]:
    view = memory.context(message)
    return answer(context_answer(view), view.text)


TOOLS = [
    Published(
        build_context,
        name="build_context",
        title="What to know now",
        description="Call before answering a message: what is known of the user and group, events that bear on it, "
        f"pinned notes and what you did lately, within a token budget. {QUOTED}",
        annotations=READ,
    ),
]
