"""The shapes of what the evidence tools answer. Keys are never renamed; each shape may gain some."""

from __future__ import annotations

from typing import Any

from historian.evidence_views import EvidenceItem, EvidencePage
from server.answers import Answer


class MessageItem(Answer):
    """One message of the record. What is optional is left out where it says nothing: fifty items are many tokens.

    `content_length` is the length of the whole content where it is cut here. `anchor` marks the message whose
    neighbours were asked for.
    """

    message_id: str
    conversation_id: str
    ts: str
    role: str
    sender_id: str | None
    sender_name: str | None
    content: str
    found_by: list[str]
    group_id: str | None = None
    reply_to: str | None = None
    content_length: int | None = None
    score: float | None = None
    semantic_score: float | None = None
    lexical_score: float | None = None
    anchor: bool = False


class MessagesAnswer(Answer):
    """Messages in the order of their list. `truncated`: more fit than stand here, or a content is cut."""

    items: list[MessageItem]
    mode: str
    next_cursor: str | None
    total: int | None
    applied_limits: dict[str, Any]
    truncated: bool
    degraded: list[str]
    warnings: list[str]


def messages_answer(page: EvidencePage) -> dict[str, Any]:
    """Return the published list, a `MessagesAnswer` as JSON values; made by hand, as a model would double the cost."""
    return {
        "items": [message_item(item) for item in page.items],
        "mode": page.mode,
        "next_cursor": page.next_cursor,
        "total": page.total,
        "applied_limits": dict(page.applied),
        "truncated": page.truncated,
        "degraded": [*page.degraded],
        "warnings": [*page.warnings],
    }


def message_item(item: EvidenceItem) -> dict[str, Any]:
    """Return one `MessageItem`; its time is as it was given, to the last digit, so that it can be a bound."""
    message = item.message
    made: dict[str, Any] = {
        "message_id": message.message_id,
        "conversation_id": message.conversation_id,
        "ts": message.ts.isoformat(),
        "role": message.role,
        "sender_id": message.sender_id,
        "sender_name": message.sender_name,
        "content": message.content,
        "found_by": [*item.found_by],
    }
    scores = (item.score, item.semantic_score, item.lexical_score)
    for name, score in zip(("score", "semantic_score", "lexical_score"), scores, strict=True):
        if score is not None:
            made[name] = round(score, 4)
    for name, known in (
        ("group_id", item.group_id),
        ("reply_to", message.reply_to),
        ("content_length", item.content_length),
    ):
        if known is not None:
            made[name] = known
    if item.anchor:
        made["anchor"] = True
    return made
