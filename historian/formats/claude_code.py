"""Claude Code: a folder of JSON lines a session below `~/.claude/projects`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from historian.formats.json_lines import objects, samples
from historian.formats.outcome import NO_TEXT, NOTICES, TOOLS, Outcome, Passed, Read, Refusal, message
from historian.formats.piece import Bundle, Piece, Reading
from historian.formats.shape import blocks, identifier, mapping, text

_SIDECHAIN = Passed("turns of subagents")
_REMINDER = re.compile(r"<(system-reminder|ide_\w+)>.*?</\1>", re.DOTALL)
_COMMAND = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "Caveat: The messages below",
    "<task-notif",
)
_INTERRUPTED = "[Request interrupted by user"


class ClaudeCode:
    """Transcripts; turns of subagents, tools and the program itself are passed over."""

    name = "claude-code"

    def recognises(self, piece: Piece, bundle: Bundle) -> bool:
        """Each line has a session id, or is the summary of one."""
        del bundle
        return any(
            ("sessionId" in line and "type" in line and ("uuid" in line or "timestamp" in line))
            or (line.get("type") == "summary" and "leafUuid" in line)
            for line in samples(piece)
        )

    def read(self, piece: Piece, bundle: Bundle, reading: Reading) -> Iterator[Outcome]:
        """Yield the turns of a session."""
        del bundle
        for found in objects(piece):
            yield found if isinstance(found, Refusal) else _turn(*found, reading)


def _turn(place: str, line: Mapping[str, Any], reading: Reading) -> Outcome:
    if (noise := _noise(line)) is not None:
        return noise
    role, content = text(line.get("type")), mapping(line.get("message")).get("content")
    said = blocks(content, "text")
    if role == "user":
        said = _REMINDER.sub("", said).strip()
        if said.startswith((*_COMMAND, _INTERRUPTED)):
            return NOTICES
    if not said:
        return TOOLS if isinstance(content, list) else NO_TEXT
    turn = message(
        message_id=identifier(line.get("uuid")),
        conversation_id=identifier(line.get("sessionId")),
        role=role,
        sender_id=reading.user if role == "user" else "",
        content=said,
        ts=line.get("timestamp"),
        source=ClaudeCode.name,
        project=text(line.get("cwd"))[:300],
    )
    return Read(place, turn)


def _noise(line: Mapping[str, Any]) -> Passed | None:
    """Return what a line is that neither the user nor the assistant said to the other."""
    if line.get("type") not in ("user", "assistant"):
        return NOTICES
    if line.get("isSidechain"):
        return _SIDECHAIN
    return NOTICES if any(line.get(mark) for mark in ("isMeta", "isCompactSummary", "isApiErrorMessage")) else None
