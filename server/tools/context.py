"""The tool of the core set that is called before a message is answered."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from server.answers import QUOTED, answer
from server.binding import Bound
from server.tools.context_results import ContextAnswer, context_answer
from server.tools.core import READ
from server.toolsets import Published


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
