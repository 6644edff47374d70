"""What reading the record as evidence gives back, as plain frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from historian.messages import Excerpt
from historian.model import EntityType, Event, Message, Owner


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One message of the record, ready to be quoted.

    `content_length` is the length of the whole content where it is cut, else None. `group_id` says in which group it
    was said, None in private. Scores are 0..1, None where nothing was ranked or that signal found nothing.
    """

    message: Message
    group_id: str | None
    found_by: tuple[str, ...]
    content_length: int | None = None
    score: float | None = None
    semantic_score: float | None = None
    lexical_score: float | None = None
    anchor: bool = False

    @classmethod
    def of(cls, excerpt: Excerpt, found_by: tuple[str, ...], **more: float | bool | None) -> EvidenceItem:
        """Return the item of a message that may be cut; `more` are its scores and marks."""
        message = excerpt.stored.message
        owner = Owner.of_key(excerpt.stored.owner_key)
        cut = excerpt.length if len(message.content) < excerpt.length else None
        group = owner.id if owner.kind == "group" else None
        return cls(message, group, found_by, cut, **more)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class EvidencePage:
    """Messages in the order of their list, and what is to be known about it.

    `applied` are limits and filter as they were understood. `total` is None where counting would cost. `mode` says how
    the messages were found. `truncated`: more fit than are listed here, or a content is cut.
    """

    items: tuple[EvidenceItem, ...]
    mode: str
    applied: Mapping[str, object]
    next_cursor: str | None = None
    total: int | None = None
    truncated: bool = False
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RestingLine:
    """A line of a profile that rests on an event."""

    entity_type: EntityType
    entity_id: str
    text: str


@dataclass(frozen=True, slots=True)
class EventChain:
    """An event with all that it rests on and that rests on it, as far as one request may see it.

    `missing` are ids of messages that are not in the record. `same_as` is the earlier event that says the same.
    """

    event: Event
    messages: tuple[EvidenceItem, ...]
    missing: tuple[str, ...]
    lines: tuple[RestingLine, ...]
    same_as: Event | None
