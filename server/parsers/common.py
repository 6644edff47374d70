"""What the parsers of several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from server.parsers.parser import add_data_dir

Command = Callable[[argparse.Namespace], int]
"""What runs a command and returns its exit code."""

if TYPE_CHECKING:
    # argparse has no public name for what add_subparsers returns
    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]


def add_command(
    commands: Commands, name: str, run: Command, text: str, *, below: bool = False
) -> argparse.ArgumentParser:
    """Add a command that `run` runs on a data folder, and return its parser. `below`: an action of a command."""
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    add_data_dir(parser, below=below)
    return parser


TOOLSETS = "further toolsets, separated by commas: host, pinned, recall, group, admin (core and evidence: always)"
"""What `--toolsets` says; the names are held to those that there are by a test."""
BINDING = "a group of the user; one binds the requests to it, several only make them readable"
READING = "look into this group only; several make what the user said in them readable beside the rest"
INTO = "the group that it belongs to, instead of the user alone; several only allow what names them itself"


def add_identity(parser: argparse.ArgumentParser, group: str = BINDING) -> None:
    """Let a command be told on whose behalf it is given. `group` is what naming a group does."""
    parser.add_argument("--user", help="whose memory (default: $SHIGUAN_USER_ID, else the operating-system user)")
    parser.add_argument(
        "--group",
        action="append",
        dest="groups",
        metavar="GROUP",
        help=f"{group} ($SHIGUAN_GROUPS)",
    )
    parser.add_argument("--name", help="the user's name, by which statements call them ($SHIGUAN_USER_NAME)")
    parser.add_argument("--timezone", help="IANA name, for example Asia/Shanghai (default: the system's)")
