"""Codex: rollouts of JSON lines below `~/.codex/sessions`, in the present and the first form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from historian.formats.json_lines import objects, samples
from historian.formats.outcome import NO_TEXT, NOTICES, TOOLS, Outcome, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import blocks, identifier, instant, mapping, text

_FRAMES = re.compile(
    r"<(environment_context|user_instructions|INSTRUCTIONS|turn_aborted|user_shell_command|skill|subagent_notification)\b"
    r"[^<>]*>.*?</\1>",
    re.DOTALL,
)
_AGENTS = "# AGENTS.md instructions"
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_WRAPPED = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})


class Codex:
    """Rollouts; tools, reasoning and what the program adds to prompts are passed over."""

    name = "codex"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """Each line wraps a payload; in the first form the first line is a session, and another one a record of it."""
        del bundle
        lines = samples(piece)
        wrapped = any(text(line.get("type")) in _WRAPPED and "payload" in line for line in lines)
        bare = any(line.get("record_type") == "state" for line in lines) or (
            len(lines) > 1 and {"id", "timestamp"} <= lines[0].keys() and {"type", "role"} <= lines[1].keys()
        )
        return wrapped or (bare and "instructions" in lines[0])

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the turns of a rollout."""
        del bundle
        rollout = _Rollout(piece, reading)
        for found in objects(piece):
            yield found if isinstance(found, Refusal) else rollout.outcome(*found)


class _Rollout:
    """What the lines so far told of the session."""

    def __init__(self, piece: Piece, reading: Reading) -> None:
        named = _SESSION.search(piece.name)
        self._session = named[0] if named else ""
        self._user = reading.user
        self._project = ""
        self._begun: object = None

    def outcome(self, place: str, line: Mapping[str, Any]) -> Outcome:
        kind = line.get("type")
        if kind == "session_meta" or ("timestamp" in line and "id" in line and kind is None):
            self._note(mapping(line.get("payload")) if kind else line)
            return NOTICES
        if kind == "response_item":
            return self._item(place, mapping(line.get("payload")), line)
        return NOTICES if "payload" in line else self._item(place, line, line)

    def _note(self, about: Mapping[str, Any]) -> None:
        self._session = self._session or identifier(about.get("id"))
        self._project = self._project or text(about.get("cwd"))
        self._begun = self._begun or instant(about.get("timestamp"))

    def _item(self, place: str, item: Mapping[str, Any], line: Mapping[str, Any]) -> Outcome:
        kind, role = text(item.get("type")), text(item.get("role"))
        if kind != "message" or role not in ("user", "assistant"):
            return TOOLS if "call" in kind else NOTICES
        given = blocks(item.get("content"), "input_text", "output_text", "text")
        said = _bare(given) if role == "user" else given
        if not said:
            return NOTICES if given else NO_TEXT
        if not self._session:
            return Refusal(place, "It belongs to no session: neither the file's name nor its first line says which.")
        turn = message(
            message_id=f"codex:{self._session}:{place.removeprefix('line ')}",
            conversation_id=self._session,
            role=role,
            sender_id=self._user if role == "user" else "",
            content=said,
            ts=instant(line.get("timestamp")) or self._begun,
            source=Codex.name,
            project=self._project[:300],
        )
        return Read(place, turn)


def _bare(given: str) -> str:
    """Return a prompt without what the program put in front of it."""
    return "" if given.startswith(_AGENTS) else _FRAMES.sub("", given).strip()
