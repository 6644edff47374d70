"""One answer of a scripted endpoint, whatever it serves."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reply:
    """One scripted answer. `body` None means the ordinary answer to the request.

    `hold` is awaited before answering, `drop` closes the connection without an answer, `cut` closes it amid the body,
    and `drip` sends the body a byte at a time until the client has enough or the event is set.
    """

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None
    drop: bool = False
    cut: bool = False
    drip: threading.Event | None = None


OK = Reply()


def failing(status: int, message: str = "scripted failure", code: str | None = None, **headers: str) -> Reply:
    """Return an error as OpenAI words it; header names with `_` for `-`."""
    body = json.dumps({"error": {"message": message, "type": "scripted", "code": code}}).encode()
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})
