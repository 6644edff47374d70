"""The plugin for Claude Code: what it ships is what the product has, and its hooks are commands that there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from server import __version__
from server.cli import make_parser
from server.commands.install import own_command
from server.hooks.events import HOOKS, NAMES
from server.install.hooks import with_hooks
from server.install.hosts import HOSTS

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugin"


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_the_skill_of_the_plugin_is_the_skill_of_the_server() -> None:
    """One file, several doors; a plugin is copied without what stands outside it, so that this is no link."""
    shipped = files(PLUGIN / "skills" / "recall")
    assert "SKILL.md" in shipped
    assert shipped == files(ROOT / "prompts" / "skills" / "recall")


def test_the_plugin_and_its_marketplace_name_each_other_and_the_version_is_that_of_the_product() -> None:
    plugin = read(PLUGIN / ".claude-plugin" / "plugin.json")
    (offered,) = read(ROOT / ".claude-plugin" / "marketplace.json")["plugins"]
    assert offered["name"] == plugin["name"] == "shiguan"
    assert (ROOT / offered["source"]).resolve() == PLUGIN
    assert plugin["version"] == __version__


def test_the_server_of_the_plugin_is_the_one_that_hosts_are_told_of() -> None:
    (server,) = read(PLUGIN / ".mcp.json")["mcpServers"].values()
    assert server == {**HOSTS["cursor"].entry("shiguan", ["serve"])}


def test_the_hooks_of_the_plugin_are_those_that_install_writes_and_end_well_where_there_is_no_command() -> None:
    hooks = read(PLUGIN / "hooks" / "hooks.json")["hooks"]
    assert json.loads(with_hooks("{}", "shiguan", []))["hooks"] == hooks
    assert set(hooks) == set(NAMES)
    for event, (group,) in hooks.items():
        (hook,) = group["hooks"]
        assert hook["command"].endswith(" || true")
        assert hook["timeout"] > HOOKS[NAMES[event]].seconds
        words = hook["command"].removeprefix("PYTHONPATH= shiguan ").removesuffix(" || true").split()
        assert make_parser().parse_args(words).event == NAMES[event]
    assert Path(own_command()).name.startswith("shiguan")
