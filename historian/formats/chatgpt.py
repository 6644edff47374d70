"""ChatGPT: `conversations.json` of a data export, where each conversation is a tree of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from historian.formats.json_stream import elements, outline
from historian.formats.outcome import NO_TEXT, NOTICES, TOOLS, Outcome, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import identifier, instant, mapping, sequence, text

_SPOKEN = frozenset({"text", "multimodal_text", "code"})


class ChatGpt:
    """The conversations with all their branches: an answer that was made anew was said too."""

    name = "chatgpt"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """It is a list of conversations that have a mapping."""
        del bundle
        return outline(piece).lists("item", "mapping")

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the messages of each conversation, parents before children."""
        del bundle
        for number, (_, conversation) in enumerate(elements(piece, "item"), start=1):
            place = f"conversation {number}"
            if isinstance(conversation, dict) and isinstance(conversation.get("mapping"), dict):
                yield from _Tree(place, conversation, reading).messages()
            else:
                yield Refusal(place, "It is no conversation with a mapping of messages.")


@dataclass(frozen=True, slots=True)
class _At:
    """A node to be looked at: its id, the message before it, and the time that is known by then."""

    node: str
    before: str
    ts: object


class _Tree:
    def __init__(self, place: str, conversation: Mapping[str, Any], reading: Reading) -> None:
        self._place = place
        self._nodes: Mapping[str, Any] = conversation["mapping"]
        self._id = identifier(conversation.get("conversation_id")) or identifier(conversation.get("id"))
        self._title = text(conversation.get("title"))[:200]
        self._created = instant(conversation.get("create_time")) or instant(conversation.get("update_time"))
        self._present = self._path_to(identifier(conversation.get("current_node")))
        self._user = reading.user

    def messages(self) -> Iterator[Outcome]:
        if not self._id:
            yield Refusal(self._place, "It has no id.")
            return
        seen: set[str] = set()
        waiting = [_At(node, "", self._created) for node in reversed(self._roots())]
        while waiting:
            at = waiting.pop()
            if at.node in seen or at.node not in self._nodes:
                continue
            seen.add(at.node)
            node = mapping(self._nodes[at.node])
            spoken = mapping(node.get("message"))
            ts = instant(spoken.get("create_time")) or at.ts
            outcome = self._message(at, spoken, ts) if spoken else NOTICES
            yield outcome
            before = at.node if isinstance(outcome, Read) else at.before
            children = [identifier(child) for child in sequence(node.get("children"))]
            waiting += [_At(child, before, ts) for child in reversed(children)]
        if unreached := len(self._nodes) - len(seen):
            yield Refusal(self._place, f"{unreached} of its messages hang on no other one.")

    def _roots(self) -> list[str]:
        return [
            name for name, node in self._nodes.items() if identifier(mapping(node).get("parent")) not in self._nodes
        ]

    def _path_to(self, node: str) -> frozenset[str]:
        path: set[str] = set()
        while node in self._nodes and node not in path:
            path.add(node)
            node = identifier(mapping(self._nodes[node]).get("parent"))
        return frozenset(path)

    def _message(self, at: _At, spoken: Mapping[str, Any], ts: object) -> Outcome:
        role = mapping(spoken.get("author")).get("role")
        about = mapping(spoken.get("metadata"))
        content = mapping(spoken.get("content"))
        if role == "tool" or spoken.get("recipient") not in (None, "all"):
            return TOOLS
        if role not in ("user", "assistant") or about.get("is_visually_hidden_from_conversation"):
            return NOTICES
        if text(content.get("content_type")) not in _SPOKEN:
            return NOTICES
        said = _said(content)
        if not said:
            return NO_TEXT
        turn = message(
            message_id=identifier(spoken.get("id")) or at.node,
            conversation_id=self._id,
            role=role,
            sender_id=self._user if role == "user" else "",
            content=said,
            ts=ts,
            reply_to=at.before,
            source=ChatGpt.name,
            title=self._title,
            branch="" if not self._present or at.node in self._present else "other",
        )
        return Read(f"{self._place}, message {at.node}", turn)


def _said(content: Mapping[str, Any]) -> str:
    """Return the texts of all parts; of a spoken part that is its transcription."""
    parts = [*sequence(content.get("parts")), content.get("text")]
    texts = [part if isinstance(part, str) else text(mapping(part).get("text")) for part in parts]
    return "\n\n".join(one.strip() for one in texts if one.strip())
