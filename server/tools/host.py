"""The host toolset: for the program around a model, which puts chat turns into the record."""

from __future__ import annotations

from typing import Annotated, Any

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field, WithJsonSchema

from server.answers import answer
from server.binding import Bound
from server.prose import append_prose
from server.tools.convert import append_answer
from server.tools.results import AppendAnswer
from server.toolsets import Published

_TEXT = {"type": "string"}
_MESSAGE = {
    "type": "object",
    "properties": {
        "message_id": _TEXT,
        "conversation_id": _TEXT,
        "role": {"type": "string", "enum": ["user", "assistant", "system", "tool"]},
        "sender_id": _TEXT,
        "sender_name": _TEXT,
        "content": _TEXT,
        "ts": {"type": ["string", "number"], "description": "ISO 8601 with offset, or epoch seconds"},
        "reply_to": _TEXT,
        "meta": {"type": "object"},
    },
    "required": ["conversation_id", "role", "content", "ts"],
}
Messages = Annotated[
    list[Any],
    Field(description="Chat turns, oldest first", max_length=1000),
    WithJsonSchema({"type": "array", "items": _MESSAGE, "maxItems": 1000, "description": "Chat turns, oldest first"}),
]


def messages_append(
    memory: Bound,
    messages: Messages,
    consider: Annotated[
        bool, Field(description="Have the historian decide whether they hold anything worth remembering")
    ] = False,
) -> Annotated[CallToolResult, AppendAnswer]:
    result = memory.append(messages, consider=consider)
    return answer(append_answer(result), append_prose(result))


TOOLS = [
    Published(
        messages_append,
        name="messages_append",
        title="Append messages",
        description="Put chat turns into the record. Repeating a message_id changes nothing; one bad message never "
        "stops the others and is named in failed. With consider, what is worth remembering is stored behind it; "
        "memory_status of a job in job_ids says what was decided and why.",
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    ),
]
