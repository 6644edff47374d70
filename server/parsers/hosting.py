"""Commands that tie the memory to an agent host: its hooks and its settings."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from server.parsers.common import TOOLSETS, add_command, add_identity

if TYPE_CHECKING:
    from server.parsers.common import Commands


COMMANDS = ("hook", "install", "uninstall")


def add_hosting(commands: Commands) -> None:
    """Add these commands."""
    _add_hook(commands)
    _add_install(commands)
    _add_uninstall(commands)


def _add_hook(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.hook import run_hook

        return run_hook(arguments)

    text = "What the hooks of an agent host call, with the host's JSON on stdin; it never stops the host."
    parser = add_command(commands, "hook", run, text)
    add_identity(parser)
    parser.add_argument("event", nargs="?", help="prompt, stop or session-end (default: told by the JSON)")


HOSTS = ("claude-code", "claude-desktop", "cursor", "vscode", "codex")


def _add_install(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.install import install

        return install(arguments)

    text = "Write the memory into the settings of an agent host; a copy of what was there is kept."
    parser = add_command(commands, "install", run, text)
    add_identity(parser)
    parser.add_argument("--toolsets", metavar="NAMES", help=TOOLSETS)
    _add_host(parser)
    parser.add_argument("--hooks", action="store_true", help="claude-code: the hooks too, as the plugin has them")


def _add_uninstall(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.install import uninstall

        return uninstall(arguments)

    text = "Take the memory out of the settings of an agent host; what it holds stays."
    parser = commands.add_parser("uninstall", help=text, description=text)
    parser.set_defaults(run=run)
    _add_host(parser)


def _add_host(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", choices=HOSTS)
    parser.add_argument("--file", help="the host's settings file, where it is another one than usual")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, change nothing")
