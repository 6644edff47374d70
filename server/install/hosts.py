"""The agent hosts that can be told of the memory: where their settings lie, and what stands there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from server.install.places import Places

NAME = "shiguan"
"""How hosts call the server."""

Entry = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Host:
    """One host. `table` holds its servers, by name; `extra` stands in each entry beside command, args and env."""

    title: str
    file: Callable[[Places], Path]
    form: Literal["json", "toml"]
    table: str
    extra: Entry
    after: str

    @property
    def path(self) -> tuple[str, str]:
        """The keys that lead to the entry."""
        return (self.table, NAME)

    def entry(self, command: str, arguments: Sequence[str]) -> dict[str, object]:
        """Return what tells the host how to start the server; PYTHONPATH must not lead it to a project's code."""
        return {**self.extra, "command": command, "args": [*arguments], "env": {"PYTHONPATH": ""}}


def _claude_code(places: Places) -> Path:
    return places.named("CLAUDE_CONFIG_DIR", places.home) / ".claude.json"


def _claude_desktop(places: Places) -> Path:
    return places.applications / "Claude" / "claude_desktop_config.json"


def _cursor(places: Places) -> Path:
    return places.home / ".cursor" / "mcp.json"


def _vscode(places: Places) -> Path:
    return places.applications / "Code" / "User" / "mcp.json"


def _codex(places: Places) -> Path:
    return places.named("CODEX_HOME", places.home / ".codex") / "config.toml"


STDIO: Entry = {"type": "stdio"}
HOSTS: Mapping[str, Host] = {
    "claude-code": Host("Claude Code", _claude_code, "json", "mcpServers", STDIO, "Start a new session."),
    "claude-desktop": Host("Claude Desktop", _claude_desktop, "json", "mcpServers", {}, "Quit it and start it again."),
    "cursor": Host("Cursor", _cursor, "json", "mcpServers", {}, "Switch the server on in its settings, under MCP."),
    "vscode": Host("VS Code", _vscode, "json", "servers", STDIO, "Run the command MCP: List Servers and start it."),
    "codex": Host("Codex", _codex, "toml", "mcp_servers", {}, "Start a new session."),
}


def hooks_file(places: Places) -> Path:
    """Return where Claude Code keeps the hooks of a user."""
    return places.named("CLAUDE_CONFIG_DIR", places.home / ".claude") / "settings.json"
