"""The part of the admin toolset with which people leave: taking everything away."""

from __future__ import annotations

import json
from typing import Annotated

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from server.answers import QUOTED, Answer, answer, quoted
from server.binding import Bound
from server.toolsets import Published

MAX_LINES = 200
"""Lines of one page of an export."""


class ExportAnswer(Answer):
    """One page of an export: JSON objects, each of a `kind`. `next_cursor` is empty after the last page."""

    lines: list[str]
    next_cursor: str


def export(
    memory: Bound,
    cursor: Annotated[str, Field(description="next_cursor of the page before", max_length=64)] = "",
    page_size: Annotated[int, Field(description="Lines of a page", ge=1, le=MAX_LINES)] = 50,
) -> Annotated[CallToolResult, ExportAnswer]:
    page = memory.export(cursor, page_size)
    lines = [json.dumps(line, ensure_ascii=False) for line in page.lines]
    more = f" Go on with cursor {page.cursor!r}." if page.cursor else " That is all."
    prose = f"{len(lines)} lines of the export, JSON objects:{more}"
    return answer(ExportAnswer(lines=lines, next_cursor=page.cursor), "\n".join([prose, *map(quoted, lines)]))


TOOLS = [
    Published(
        export,
        name="export",
        title="Export everything",
        description="Everything remembered of the asker or of this group, to take away: messages, events with their "
        "evidence, memos, the profile with its history; page by page, as JSON lines that `shiguan import` reads. "
        f"{QUOTED}",
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
]
