"""A transcript as Claude Code writes it down, line by line, and what its hooks get on stdin."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Transcript:
    """One session; every line has a time after the one before it."""

    def __init__(self, path: Path, session: str = "session-1") -> None:
        self.path = path
        self.session = session
        self._count = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def user(self, text: str, **more: Any) -> str:
        """Let the user say something, and return the id of the line."""
        return self._add("user", {"role": "user", "content": text}, more)

    def assistant(self, text: str, **more: Any) -> str:
        """Let the assistant say something, and return the id of the line."""
        return self._add("assistant", {"role": "assistant", "content": [{"type": "text", "text": text}]}, more)

    def tool(self, name: str, result: str = "ok") -> None:
        """Let the assistant call a tool and get its result."""
        use = {"type": "tool_use", "id": f"t{self._count}", "name": name, "input": {}}
        self._add("assistant", {"role": "assistant", "content": [use]}, {})
        answer = {"type": "tool_result", "tool_use_id": use["id"], "content": result}
        self._add("user", {"role": "user", "content": [answer]}, {})

    def raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        with self.path.open("ab") as file:
            file.write(data)

    def payload(self, event: str, **more: Any) -> dict[str, Any]:
        """Return what a hook gets on stdin."""
        about = {"session_id": self.session, "transcript_path": str(self.path), "cwd": str(self.path.parent)}
        return about | {"hook_event_name": event, "permission_mode": "default"} | more

    def _add(self, kind: str, message: Mapping[str, Any], more: Mapping[str, Any]) -> str:
        self._count += 1
        line_id = f"{self.session}-line-{self._count}"
        line = {
            "type": kind,
            "uuid": line_id,
            "sessionId": self.session,
            "timestamp": f"2026-02-21T06:{self._count // 60:02d}:{self._count % 60:02d}.000Z",
            "cwd": "/home/mira/project",
            "isSidechain": False,
            "message": message,
        }
        self.raw(json.dumps(line | dict(more), ensure_ascii=False).encode() + b"\n")
        return line_id
