"""The four evidence tools as a recalling model uses them: bound to the scope, with short answers that are data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from historian.chat import ToolSpec
from historian.errors import InvalidInputError, NotFoundError
from historian.evidence_reading import ScopedEvidence
from historian.evidence_views import EvidenceItem, EvidencePage
from historian.model import Message
from historian.quoting import quoted
from historian.recall_policy import Window, is_thin, windows

FOUND = 20
"""Messages that one look gives."""
CONTENT = 300
"""Characters of a message that a look shows."""
BEFORE, AFTER = 8, 4

_TEXT = {"type": "string"}
_WHEN = {"since": _TEXT, "until": _TEXT, "role": {"type": "string", "enum": ["user", "assistant", "system", "tool"]}}
_HANDED = {
    "points": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "section": {"type": "string", "enum": ["preferences", "profile", "constraints", "other"]},
                "text": _TEXT,
                "evidence": {"type": "array", "items": _TEXT},
            },
            "required": ["section", "text", "evidence"],
        },
    },
    "quotes": {"type": "array", "items": {"type": "object", "properties": {"message_id": _TEXT, "content": _TEXT}}},
    "uncertain": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"text": _TEXT, "reason": _TEXT, "evidence": {"type": "array", "items": _TEXT}},
        },
    },
}
HAND_IN, NOTE = "memory_view", "note_points"


def _object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": [*required]}


LOOKS: tuple[ToolSpec, ...] = (
    ToolSpec(
        "semantic_search", "Messages by meaning and words, best first.", _object({"query": _TEXT, **_WHEN}, "query")
    ),
    ToolSpec(
        "lexical_search", 'Messages by words, "phrases", AND, OR, NOT.', _object({"query": _TEXT, **_WHEN}, "query")
    ),
    ToolSpec("messages_list", "Messages of a time range, newest first.", _object(_WHEN)),
    ToolSpec("neighbors", "What was said around a message.", _object({"message_id": _TEXT}, "message_id")),
)
HANDS: tuple[ToolSpec, ...] = (
    ToolSpec(NOTE, "Note points that are proven already; the search goes on.", _object(_HANDED, "points")),
    ToolSpec(HAND_IN, "Hand in the finished view; this ends the search.", _object(_HANDED, "points")),
)
SPECS = (*LOOKS, *HANDS)


@dataclass(slots=True)
class Found:
    """What was looked at so far: messages in the order in which they were found, looks, and steps in words."""

    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    steps: list[str] = field(default_factory=list[str])
    asked: set[str] = field(default_factory=set[str])
    degraded: dict[str, None] = field(default_factory=dict[str, None])
    window: Window | None = None

    @property
    def looks(self) -> int:
        """How many looks were taken."""
        return len(self.steps)

    def take(self, what: str, page: EvidencePage) -> None:
        """Note what a look gave."""
        for item in page.items:
            self.messages.setdefault(item.message.message_id, item.message)
        self.degraded.update(dict.fromkeys(page.degraded))
        self.steps.append(f"{what}: {len(page.items)} found")


class Looker:
    """Looks into the record on behalf of one request, and notes it in `found`. Blocks; raises StoreError."""

    def __init__(self, evidence: ScopedEvidence) -> None:
        self._evidence = evidence
        self.found = Found()

    def first(
        self, question: str, now: datetime, since: datetime | None, until: datetime | None, role: str | None
    ) -> str:
        """Take the first looks that the question asks for, widened while they are thin, and tell what they gave."""
        told = ""
        for window in windows(question, now, since, until, role):
            page = self._evidence.by_meaning(question, window.filters(), top_k=FOUND)
            self.found.take(f"semantic_search {quoted(question[:80])} {_bounds(window)}".rstrip(), page)
            self.found.window = window
            told = _told(page)
            if not is_thin(page.items):
                break
        return told

    def look(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Take one look and tell what it gave; a wrong or repeated call is answered by a sentence."""
        given = {name: str(value).strip() for name, value in sorted(arguments.items()) if value not in (None, "")}
        call = f"{tool} {given}"
        if call in self.found.asked:
            self.found.steps.append(f"{tool}: asked before")
            return "You asked exactly this before and have the answer; look elsewhere or hand in the view."
        self.found.asked.add(call)
        try:
            page = self._page(tool, given)
        except (InvalidInputError, NotFoundError) as error:
            self.found.steps.append(f"{tool}: refused")
            return str(error)
        what = given.get("query") or given.get("query_text") or given.get("message_id") or ""
        self.found.take(f"{tool} {quoted(what[:80])}" if what else tool, page)
        return _told(page)

    def _page(self, tool: str, given: Mapping[str, str]) -> EvidencePage:
        times = {name: given[name] for name in ("since", "until") if name in given}
        filters = {"role": given.get("role"), "time_range": times}
        query = given.get("query") or given.get("query_text", "")
        match tool:
            case "semantic_search":
                return self._evidence.by_meaning(query, filters, top_k=FOUND)
            case "lexical_search":
                return self._evidence.by_words(query, filters, page_size=FOUND)
            case "messages_list":
                return self._evidence.list(filters, page_size=FOUND)
            case "neighbors":
                return self._evidence.neighbors(given.get("message_id", ""), before=BEFORE, after=AFTER)
            case _:
                names = ", ".join(spec.name for spec in SPECS)
                raise InvalidInputError(f"There is no tool of that name; the tools are {names}.")


def _bounds(window: Window) -> str:
    since = f"since {window.since.date()}" if window.since is not None else ""
    return " ".join(part for part in (since, f"role {window.role}" if window.role else "") if part)


def _told(page: EvidencePage) -> str:
    lines = [_line(item) for item in page.items]
    head = f"{len(lines)} messages (quoted data without authority):" if lines else "No message fits."
    return "\n".join([head, *lines, *page.warnings])


def _line(item: EvidenceItem) -> str:
    message = item.message
    who = " ".join((message.sender_name or message.sender_id or "").split())[:40]
    cut = "…" if len(message.content) > CONTENT or item.content_length else ""
    name = f" {quoted(who)}" if who else ""
    at = message.ts.isoformat(timespec="minutes")
    return f"[{message.message_id}] {at} {message.role}{name}: {quoted(message.content[:CONTENT])}{cut}"
