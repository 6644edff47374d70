"""The shapes of what the evidence tools answer. Keys are never renamed; each shape may gain some."""

from __future__ import annotations

from typing import Any

from historian.evidence_views import EvidenceItem, EvidencePage
from server.answers import Answer


class MessageItem(Answer):
    """One message of the record. `content_length` is that of the whole content where it is cut here, else null."""

    message_id: str
    conversation_id: str
    ts: str
    role: str
    sender_id: str | None
    sender_name: str | None
    group_id: str | None
    reply_to: str | None
    content: str
    content_length: int | None
    score: float | None
    semantic_score: float | None
    lexical_score: float | None
    found_by: list[str]
    anchor: bool


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


def messages_answer(page: EvidencePage) -> MessagesAnswer:
    """Return the published list."""
    return MessagesAnswer(
        items=[message_item(item) for item in page.items],
        mode=page.mode,
        next_cursor=page.next_cursor,
        total=page.total,
        applied_limits=dict(page.applied),
        truncated=page.truncated,
        degraded=[*page.degraded],
        warnings=[*page.warnings],
    )


def message_item(item: EvidenceItem) -> MessageItem:
    """Return one published message; its time is as it was given, to the last digit, so that it can be a bound."""
    message = item.message
    return MessageItem(
        message_id=message.message_id,
        conversation_id=message.conversation_id,
        ts=message.ts.isoformat(),
        role=message.role,
        sender_id=message.sender_id,
        sender_name=message.sender_name,
        group_id=item.group_id,
        reply_to=message.reply_to,
        content=message.content,
        content_length=item.content_length,
        score=_rounded(item.score),
        semantic_score=_rounded(item.semantic_score),
        lexical_score=_rounded(item.lexical_score),
        found_by=[*item.found_by],
        anchor=item.anchor,
    )


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)
