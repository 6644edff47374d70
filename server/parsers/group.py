"""The arguments of `shiguan group` and `shiguan evolve`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from server.parsers.common import add_command, add_identity

if TYPE_CHECKING:
    from server.parsers.common import Commands


COMMANDS = ("group", "evolve")


def add_group(commands: Commands) -> None:
    """Add these commands."""
    _add_group(commands)
    _add_evolve(commands)


def _add_group(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.group import show_group

        return show_group(arguments)

    text = "Show what is known of a group: the statements, how each came about, and what changed."
    actions = commands.add_parser("group", help=text, description=text).add_subparsers(
        required=True, metavar="ACTION", dest="action"
    )
    for name, about in (
        ("list", "The statements about the group, last changed first, each with its strength."),
        ("history", "Every version of one statement, with reasons and messages."),
        ("changes", "What changed in the last days, newest first."),
        ("diff", "The same as differences, oldest first; of one statement from version to version."),
    ):
        parser = add_command(actions, name, run, about, below=True)
        add_identity(parser, "the group; exactly one")
        if name in ("history", "diff"):
            parser.add_argument("memory_id", nargs="?" if name == "diff" else None, help="from `group list`")
        if name in ("changes", "diff"):
            parser.add_argument("--days", type=float, default=7.0, help="how far to look back (default: 7)")
        if name == "list":
            parser.add_argument("--status", choices=("active", "deprecated", "all"), default="active")
            parser.add_argument("--limit", type=int, default=20, help="1 to 200 (default: 20)")
        parser.add_argument("--json", action="store_true", help="print one JSON object, as the tools answer it")


def _add_evolve(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.group import evolve

        return evolve(arguments)

    text = "Let the chat model revise what is known of a group by what was said since the last time."
    parser = add_command(commands, "evolve", run, text)
    add_identity(parser, "the group; exactly one")
    parser.add_argument("--since", metavar="TIME", help="read again what was said from this time on (default: the new)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, as the tool answers it")
