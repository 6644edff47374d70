"""Commands that tie the memory to an agent host: its hooks."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from server.parsers.common import add_command, add_identity

if TYPE_CHECKING:
    from server.parsers.common import Commands


def add_hosting(commands: Commands) -> None:
    """Add `hook`."""
    _add_hook(commands)


def _add_hook(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.hook import run_hook

        return run_hook(arguments)

    text = "What the hooks of an agent host call, with the host's JSON on stdin; it never stops the host."
    parser = add_command(commands, "hook", run, text)
    add_identity(parser)
    parser.add_argument("event", nargs="?", help="prompt, stop or session-end (default: told by the JSON)")
