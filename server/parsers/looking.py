"""The arguments of what shows people what is remembered."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from server.parsers.common import READING, add_command, add_identity

if TYPE_CHECKING:
    from server.parsers.common import Commands


COMMANDS = ("search", "context", "status", "audit", "profile", "ui")


def _add_context(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.context import show_context

        return show_context(arguments)

    parser = add_command(commands, "context", run, "Print what to know before answering a message: for a host's hooks.")
    add_identity(parser, READING)
    parser.add_argument("message", nargs="?", help="the message, or - to read it from stdin")
    parser.add_argument("--conversation", metavar="ID", help="the conversation it is part of (default: the latest one)")
    parser.add_argument("--group-name", metavar="NAME", help="how the group is called")
    parser.add_argument(
        "--hook",
        action="store_true",
        help="take the message or a host's JSON from stdin, print nothing where there is nothing, never fail",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, as the tool answers it")


def add_looking(commands: Commands) -> None:
    """Add these commands."""
    _add_search(commands)
    _add_context(commands)
    _add_status(commands)
    _add_audit(commands)
    _add_profile(commands)
    _add_ui(commands)


def _add_search(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.search import search

        return search(arguments)

    parser = add_command(commands, "search", run, "Search the raw messages.")
    add_identity(parser, READING)
    parser.add_argument("query", help='a question; with --mode lexical words, "phrases", AND, OR, NOT')
    parser.add_argument("--since", help="only messages from this time on: ISO 8601, or a date")
    parser.add_argument("--until", help="only messages before this time; a date includes its day")
    parser.add_argument("--role", choices=("user", "assistant", "system", "tool"))
    parser.add_argument("--conversation", help="only this conversation id")
    parser.add_argument("--sender-id", help="only messages of this sender")
    parser.add_argument("--mode", choices=("hybrid", "lexical", "semantic"), default="hybrid")
    parser.add_argument("--limit", type=int, default=20, help="1 to 200 (default: 20)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, as the tools answer it")


def _add_status(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.status import show_status

        return show_status(arguments)

    parser = add_command(commands, "status", run, "Show what the data folder holds and how its queue is doing.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_audit(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.audit import audit

        return audit(arguments)

    parser = add_command(
        commands,
        "audit",
        run,
        "Show what is worth a look: duplicates, flagged, unsupported, and oldest statements.",
    )
    parser.add_argument("--limit", type=int, default=20, help="how many of each kind (default: 20)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_profile(commands: Commands) -> None:
    from server.parsers.profile import TEXT, add_actions

    def run(arguments: argparse.Namespace) -> int:
        from server.commands.profile import manage_profiles

        return manage_profiles(arguments)

    add_actions(add_command(commands, "profile", run, TEXT))


def _add_ui(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.ui import open_pages

        return open_pages(arguments)

    text = "Print a link that opens the pages of the memory in a browser, once."
    parser = add_command(commands, "ui", run, text)
    add_identity(parser)
    parser.add_argument("--open", action="store_true", help="open the link in the browser of this machine")
