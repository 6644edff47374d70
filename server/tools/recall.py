"""The recall toolset: ask a question and get a memory view with verified evidence, or have one verified."""

from __future__ import annotations

import threading
from functools import partial
from typing import Annotated, Any, Literal

import anyio.from_thread
from mcp_types import CallToolResult
from pydantic import Field, WithJsonSchema

from server.answers import QUOTED, answer
from server.binding import Bound, current_progress, current_seats
from server.recall_prose import view_prose
from server.tools.core import READ
from server.tools.recall_results import ViewAnswer, view_answer
from server.toolsets import Published

_TEXT = {"type": "string"}
_RANGE = {"type": "object", "properties": {"since": _TEXT, "until": _TEXT}}
_POINTS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"text": _TEXT, "evidence": {"type": "array", "items": _TEXT}},
        "required": ["text", "evidence"],
    },
}
_QUOTES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"message_id": _TEXT, "ts": _TEXT, "role": _TEXT, "content": _TEXT},
        "required": ["message_id"],
    },
}
_VIEW = {
    "type": "object",
    "properties": {
        "memory_view": {
            "type": "object",
            "properties": {"preferences": _POINTS, "profile": _POINTS, "constraints": _POINTS, "other": _POINTS},
        },
        "evidence": _QUOTES,
    },
    "description": "Points with the ids of the messages that prove them; evidence are quotations, … marks a cut",
}
TimeRange = Annotated[dict[str, Any], Field(), WithJsonSchema(_RANGE)]
View = Annotated[dict[str, Any], Field(), WithJsonSchema(_VIEW)]


async def recall(
    memory: Bound,
    question: Annotated[str, Field(description="What is to be remembered, as a question, in any language")],
    time_range: TimeRange = {},  # noqa: B006 - the SDK copies defaults; a plain object keeps the schema without null
    role_pref: Literal["", "user", "assistant", "system", "tool"] = "",
) -> Annotated[CallToolResult, ViewAnswer]:
    report, abandoned = current_progress(), threading.Event()

    def progress(done: int, most: int, what: str) -> None:
        if not abandoned.is_set():
            anyio.from_thread.run(report, done, most, what)

    work = partial(
        memory.recollection.recall,
        question,
        time_range=time_range,
        role=role_pref,
        progress=progress,
        is_cancelled=abandoned.is_set,
    )
    try:
        view = await current_seats().recalling.run(memory.asker, work, abandon_on_cancel=True)
    finally:
        abandoned.set()
    return answer(view_answer(view), view_prose(view))


def verify_view(memory: Bound, view: View) -> Annotated[CallToolResult, ViewAnswer]:
    verified = memory.recollection.verify(view)
    return answer(view_answer(verified), view_prose(verified))


TOOLS = [
    Published(
        recall,
        name="recall",
        title="Recall with evidence",
        description="Ask what was said or what is known from earlier; a chat model searches the raw messages and every "
        "point comes with messages that were checked against the record. What is not proven is under uncertain, "
        "with the reason; stopped says that a budget ended the search early. State only points, with evidence. "
        f"{QUOTED}",
        annotations=READ,
    ),
    Published(
        verify_view,
        name="verify_view",
        title="Verify a memory view",
        description="Check a memory view that you or another agent made before you rely on it: every id is read again, "
        "every quotation compared with the record, every point with its evidence and with what was said to the "
        f"contrary. Write points in the words of their evidence. {QUOTED}",
        annotations=READ,
        takes_long=True,
    ),
]
