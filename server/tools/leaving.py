"""The part of the admin toolset with which people leave: taking everything away, and being forgotten."""

from __future__ import annotations

import json
import re
from typing import Annotated

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from historian.finding import counted
from server.answers import QUOTED, Answer, answer, quoted
from server.binding import Bound
from server.toolsets import Published

MAX_LINES = 200
"""Lines of one page of an export."""
_CHANGED = re.compile(r"[「」]|(?<=\s)\s|[^\S ]")


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
    prose = f"{len(lines)} {'line' if len(lines) == 1 else 'lines'} of the export, JSON objects.{more}"
    return answer(
        ExportAnswer(lines=lines, next_cursor=page.cursor),
        "\n".join([prose, *(quoted(_escaped(line)) for line in lines)]),
    )


def _escaped(line: str) -> str:
    """Return JSON that says the same without what a quotation changes: its marks, and blanks in a row."""
    return _CHANGED.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


class CountItem(Answer):
    """How many of something."""

    what: str
    count: int


class SampleItem(Answer):
    """The beginning of one of the texts that would go. `along`: not meant by itself, but it rests on what is."""

    what: str
    text: str
    along: bool


class ForgetAnswer(Answer):
    """What would be forgotten, with a few of the texts, or was. `confirm` is what to send to forget exactly this."""

    done: bool
    counts: list[CountItem]
    confirm: str
    notes: list[str]
    samples: list[SampleItem]


def forget(  # noqa: PLR0913, PLR0917 - each way to say what is meant
    memory: Bound,
    message_ids: Annotated[list[str], Field(description="Messages", max_length=1000)] = [],  # noqa: B006
    event_id: Annotated[str, Field(description="An event, with all that say the same")] = "",
    conversation_id: Annotated[str, Field(description="All of a conversation; narrowed by the next three")] = "",
    since: Annotated[str, Field(description="ISO 8601, inclusive")] = "",
    until: Annotated[str, Field(description="ISO 8601, exclusive; a date includes its day")] = "",
    query: Annotated[str, Field(description="What has all of these words", max_length=4000)] = "",
    everything: Annotated[bool, Field(description="All that is the asker's own, or this group's")] = False,
    confirm: Annotated[str, Field(description="From the first answer, once a person agreed", max_length=64)] = "",
) -> Annotated[CallToolResult, ForgetAnswer]:
    done = memory.forget(
        message_ids=message_ids,
        event_id=event_id or None,
        conversation_id=conversation_id or None,
        since=since or None,
        until=until or None,
        query=query,
        everything=everything,
        confirm=confirm,
    )
    counts = [CountItem(what=what, count=count) for what, count in done.counts.items()]
    listed = counted(done.counts)
    prose = f"Forgotten: {listed}." if done.done else f"This would be forgotten: {listed}. Ask the person, then send it"
    more = "" if done.done else f" again with confirm {done.token!r}."
    result = ForgetAnswer(
        done=done.done,
        counts=counts,
        confirm="" if done.done else done.token,
        notes=[*done.notes],
        samples=[SampleItem(what=one.what, text=one.text, along=one.along) for one in done.samples],
    )
    shown = [f"- {one.what}{', going along' if one.along else ''}: {quoted(one.text)}" for one in done.samples]
    return answer(result, "\n".join([" ".join([prose + more, *done.notes]), *shown]))


TOOLS = [
    Published(
        export,
        name="export",
        title="Export everything",
        description="Everything remembered of the asker or of this group, to take away: messages, events with their "
        "evidence, memos, the profile with its history; page by page, as JSON lines that `shiguan import` reads. "
        f"{QUOTED}",
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        takes_long=True,
    ),
    Published(
        forget,
        name="forget",
        title="Forget for good",
        description="Forget messages, an event, a conversation, a time range, what a search finds, or everything, with "
        "all that rests on it. The first call only says what would go and gives a token; nothing goes without it. Only "
        "when a person says so: it cannot be undone.",
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
        ),
    ),
]
