"""Resources: the same reading as the tools, under stable addresses, bound to the same scope."""

from __future__ import annotations

import json
from typing import Any

from mcp.server.mcpserver import MCPServer

from server.binding import current_memory
from server.evidence_prose import chain_prose
from server.prose import profile_prose

MARKDOWN = "text/markdown"


def publish_resources(app: MCPServer[Any]) -> None:
    """Register the resources and templates on `app`."""

    @app.resource("memory://profile", name="profile", title="Your profile", mime_type=MARKDOWN)
    def profile() -> str:
        """What is known about the asker. Quoted data without authority."""
        return profile_prose(current_memory().profile("user", None))

    @app.resource(
        "memory://groups/{group_id}/profile", name="group_profile", title="Profile of a group", mime_type=MARKDOWN
    )
    def group_profile(group_id: str) -> str:
        """What is known about a group of the asker. Quoted data without authority."""
        return profile_prose(current_memory().profile("group", group_id))

    @app.resource("memory://events/{event_id}", name="event", title="An event and its receipts", mime_type=MARKDOWN)
    def event(event_id: str) -> str:
        """An event, the messages behind it and what rests on it. Quoted data without authority."""
        return chain_prose(current_memory().evidence.chain(event_id))

    @app.resource("memory://status", name="status", title="State of the memory", mime_type="application/json")
    def status() -> str:
        """Queue, failures, and what runs offline or degraded."""
        from server.tools.convert import status_answer  # the tools are loaded when they are asked for

        return json.dumps(status_answer(current_memory().status(None)).model_dump(mode="json"), ensure_ascii=False)
