"""The evidence toolset: the raw messages, by time, by words, by meaning, and around one of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp_types import CallToolResult
from pydantic import Field, WithJsonSchema

from historian.evidence_views import EvidencePage
from historian.model import ROLES
from server.answers import QUOTED, answer
from server.binding import Bound
from server.evidence_prose import messages_prose
from server.tools.core import READ
from server.tools.evidence_results import MessagesAnswer, messages_answer
from server.toolsets import Published

_TEXT = {"type": "string"}
_FILTER = {
    "type": "object",
    "properties": {
        "role": {"type": "string", "enum": [*ROLES]},
        "time_range": {"type": "object", "properties": {"since": _TEXT, "until": _TEXT}},
        "conversation_id": _TEXT,
        "sender_id": _TEXT,
    },
}
Filter = Annotated[dict[str, Any], Field(), WithJsonSchema(_FILTER)]
Limit = Annotated[int, Field(ge=1, le=200)]
Beside = Annotated[int, Field(ge=0, le=200)]
Cursor = Annotated[str, Field(description="next_cursor of the same call")]
Vector = Annotated[list[Any], Field(max_length=8192), WithJsonSchema({"type": "array", "items": {"type": "number"}})]


def messages_list(
    memory: Bound,
    since: Annotated[str, Field(description="ISO 8601, inclusive; naive times are in the session's zone")] = "",
    until: Annotated[str, Field(description="ISO 8601, exclusive; a date includes its day")] = "",
    role: Literal["", "user", "assistant", "system", "tool"] = "",
    conversation_id: str = "",
    page_size: Limit = 50,
    cursor: Cursor = "",
) -> Annotated[CallToolResult, MessagesAnswer]:
    filters = {
        "time_range": {"since": since, "until": until},
        "role": role,
        "conversation_id": conversation_id,
    }
    return _answer(memory.evidence.list(filters, page_size=page_size, cursor=cursor))


def lexical_search(
    memory: Bound,
    query_text: Annotated[str, Field(description='Words, "phrases", AND / OR / NOT in upper case, parentheses')],
    filter: Filter = {},  # noqa: A002, B006 - the name is the design's; the SDK copies defaults
    page_size: Limit = 50,
    cursor: Cursor = "",
) -> Annotated[CallToolResult, MessagesAnswer]:
    return _answer(memory.evidence.by_words(query_text, filter, page_size=page_size, cursor=cursor))


def semantic_search(
    memory: Bound,
    query_text: Annotated[str, Field(description="A question or statement, in any language")] = "",
    query_embedding: Vector = [],  # noqa: B006
    embedding_model: Annotated[str, Field(description="Of query_embedding")] = "",
    filter: Filter = {},  # noqa: A002, B006
    top_k: Limit = 20,
    min_score: Annotated[float, Field(ge=0, le=1, description="Least semantic_score")] = 0.0,
) -> Annotated[CallToolResult, MessagesAnswer]:
    page = memory.evidence.by_meaning(
        query_text,
        filter,
        vector=query_embedding,
        embedding_model=embedding_model,
        top_k=top_k,
        min_score=min_score or None,
    )
    return _answer(page)


def neighbors(
    memory: Bound,
    message_id: Annotated[str, Field(description="An id from another evidence tool or from message_ids")],
    before: Beside = 20,
    after: Beside = 0,
) -> Annotated[CallToolResult, MessagesAnswer]:
    return _answer(memory.evidence.neighbors(message_id, before=before, after=after))


def _answer(page: EvidencePage) -> CallToolResult:
    return answer(messages_answer(page), messages_prose(page))


TOOLS = [
    Published(
        messages_list,
        name="messages_list",
        title="List messages",
        description=f"The raw messages of a time range, newest first. {QUOTED}",
        annotations=READ,
    ),
    Published(
        lexical_search,
        name="lexical_search",
        title="Search messages by words",
        description="Find raw messages that hold words or phrases, best first; Chinese, Japanese and Korean of any "
        "length match inside a sentence. If no message has all words, any of them count (see mode). filter time_range "
        f"is since (inclusive) until (exclusive; a date includes its day). {QUOTED}",
        annotations=READ,
    ),
    Published(
        semantic_search,
        name="semantic_search",
        title="Search messages by meaning",
        description="Find raw messages by meaning and words, best first: for questions, and where the wording is not "
        f"known. {QUOTED}",
        annotations=READ,
        one_of=("query_text", "query_embedding"),
    ),
    Published(
        neighbors,
        name="neighbors",
        title="Read around a message",
        description="What was said before and after a message in its conversation, oldest first, the message itself "
        f"marked. Read it before quoting. {QUOTED}",
        annotations=READ,
    ),
]
