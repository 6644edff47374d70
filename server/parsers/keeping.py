"""The arguments of what keeps a data folder well."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from server.parsers.common import add_command

if TYPE_CHECKING:
    from server.parsers.common import Commands


COMMANDS = ("reindex", "rewrite", "queue", "doctor", "backup", "restore")


def add_keeping(commands: Commands) -> None:
    """Add these commands."""
    _add_reindex(commands)
    _add_rewrite(commands)
    _add_queue(commands)
    _add_doctor(commands)
    _add_backup(commands)


def _add_reindex(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.reindex import reindex

        return reindex(arguments)

    add_command(commands, "reindex", run, "Make every vector anew, also after a change of embedding model.")


def _add_rewrite(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.rewrite import rewrite_events

        return rewrite_events(arguments)

    parser = add_command(commands, "rewrite", run, "Have the chat model phrase again the events that rules wrote.")
    parser.add_argument("--all", action="store_true", help="also those that a model phrased already")


def _add_queue(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.queue import manage_queue

        return manage_queue(arguments)

    parser = add_command(commands, "queue", run, "List jobs, and retry or discard those that failed.")
    parser.add_argument("action", choices=("list", "retry", "discard"))
    parser.add_argument("job_id", nargs="?", help="one failed job (default: all failed jobs)")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def _add_doctor(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.doctor import doctor

        return doctor(arguments)

    parser = add_command(commands, "doctor", run, "Examine the data folder; exit code 1 when an error is left.")
    parser.add_argument("--fix", action="store_true", help="mend what is derived from the texts; never delete a text")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_backup(commands: Commands) -> None:
    def run_backup(arguments: argparse.Namespace) -> int:
        from server.commands.backup import back_up

        return back_up(arguments)

    def run_restore(arguments: argparse.Namespace) -> int:
        from server.commands.backup import restore

        return restore(arguments)

    parser = add_command(commands, "backup", run_backup, "Write everything into one file, while the memory works.")
    parser.add_argument("file", help="the .tar.gz to write")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    parser = add_command(commands, "restore", run_restore, "Make a data folder out of a backup.")
    parser.add_argument("file", help="a file that `shiguan backup` wrote")
