"""The arguments of what checks: memory views against the record, and skills against their rules."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from server.parsers.common import add_command, add_identity

if TYPE_CHECKING:
    from server.parsers.common import Commands


COMMANDS = ("verify", "skill")


def add_proving(commands: Commands) -> None:
    """Add these commands."""
    _add_verify(commands)
    _add_skill(commands)


def _add_verify(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.verify import verify

        return verify(arguments)

    text = "Check a memory view against the record; exit code 1 when something in it is not proven."
    parser = add_command(commands, "verify", run, text)
    add_identity(parser, "a group whose messages may prove it too; of one group, they alone")
    parser.add_argument("file", help="the view as JSON, or - to read it from stdin")
    parser.add_argument("--json", action="store_true", help="print one JSON object, as the tool answers it")


def _add_skill(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.skill import check

        return check(arguments)

    text = "Check the folder of an Agent Skill; exit code 1 when something is wrong with it."
    actions = commands.add_parser("skill", help=text, description=text).add_subparsers(required=True, metavar="ACTION")
    parser = actions.add_parser("check", help=text, description=text)
    parser.set_defaults(run=run)
    parser.add_argument("folder", metavar="DIR", help="the folder that holds SKILL.md")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
