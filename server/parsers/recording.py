"""The arguments of what brings texts in, takes them out, and forgets them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from server.parsers.common import INTO, add_command, add_identity

if TYPE_CHECKING:
    from server.parsers.common import Commands


COMMANDS = ("log", "import", "migrate", "export", "forget")


def add_recording(commands: Commands) -> None:
    """Add these commands."""
    _add_log(commands)
    _add_import(commands)
    _add_migrate(commands)
    _add_export(commands)
    _add_forget(commands)


def _add_log(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.log import log_turn

        return log_turn(arguments)

    parser = add_command(commands, "log", run, "Put one chat turn into the record: for a host's hooks.")
    add_identity(parser, "the group that it was said in; several only name groups of the user")
    parser.add_argument("content", help="what was said, or - to read it from stdin")
    parser.add_argument("--role", choices=("user", "assistant", "system", "tool"), default="user")
    parser.add_argument("--conversation", default="log", help="conversation id (default: log)")
    parser.add_argument("--message-id", help="makes repeating the command harmless (default: derived from the turn)")
    parser.add_argument("--sender-id")
    parser.add_argument("--sender-name")
    parser.add_argument("--ts", help="ISO 8601 (default: now)")
    parser.add_argument(
        "--consider", action="store_true", help="have the historian decide whether it is worth remembering"
    )


def _add_import(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.importing import import_files

        return import_files(arguments)

    parser = add_command(
        commands, "import", run, "Import chats and memories of other programs; repeating it changes nothing."
    )
    add_identity(parser, INTO)
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files, folders or zip archives, or - for stdin")
    parser.add_argument(
        "--format",
        default="auto",
        help="auto (default: told by the content), claude-code, codex, chatgpt, claude-ai, telegram, discord, slack,"
        " whatsapp, onebot, qq, mem0, basic-memory, server-memory, csv, json, jsonl or shiguan",
    )
    parser.add_argument(
        "--me", action="append", metavar="NAME", help="a name or id by which the export calls the user; may be repeated"
    )
    parser.add_argument("--since", metavar="TIME", help="leave out what was said before: ISO 8601, or a date")
    parser.add_argument("--dry-run", action="store_true", help="read and check everything, store nothing")
    parser.add_argument("--again", action="store_true", help="bring back what was forgotten, too")
    remember = "run the historian over it too, oldest first; interrupted, it goes on where it was"
    parser.add_argument("--remember", action="store_true", help=remember)
    parser.add_argument("--report", metavar="FILE", help="write each refused record to a file, one JSON object a line")


def _add_migrate(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.migrating import migrate

        return migrate(arguments)

    parser = add_command(
        commands, "migrate", run, "Take in the end_summaries.json of an earlier memory, each turn once."
    )
    add_identity(parser, INTO)
    parser.add_argument("file", help="a JSON list of texts, or of objects with summary, timestamp and location")
    parser.add_argument("--place", metavar="NAME", help="only records of this place, as the file names it")
    parser.add_argument("--dry-run", action="store_true", help="read and check everything, store nothing")
    parser.add_argument("--again", action="store_true", help="bring back what was forgotten, too")


def _add_export(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.exporting import export

        return export(arguments)

    parser = add_command(
        commands, "export", run, "Write everything of a user or group, to read or to import elsewhere."
    )
    add_identity(parser, "write what belongs to this group, instead of what is the user's own")
    parser.add_argument("target", nargs="?", metavar="FOLDER", help="the folder to write to (default: stdout)")
    parser.add_argument(
        "--format", choices=("jsonl", "markdown"), default="jsonl", help="jsonl can be imported again (default)"
    )


def _add_forget(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.forgetting import forget

        return forget(arguments)

    text = "Forget messages or events, whatever rests on them, and every trace of them on the disk."
    parser = add_command(commands, "forget", run, text)
    add_identity(parser, "forget in this group, instead of what is the user's own")
    parser.add_argument("--message", action="append", dest="messages", metavar="ID", help="a message; may be repeated")
    parser.add_argument("--event", metavar="ID", help="an event, with all events that say the same")
    parser.add_argument("--conversation", metavar="ID", help="a conversation, or the part of it that the others narrow")
    parser.add_argument("--since", metavar="TIME", help="what was said from this time on: ISO 8601, or a date")
    parser.add_argument("--until", metavar="TIME", help="what was said before this time; a date includes its day")
    parser.add_argument("--search", metavar="QUERY", help="what has all of these words")
    parser.add_argument("--everything", action="store_true", help="all that is this user's own, or this group's")
    parser.add_argument("--dry-run", action="store_true", help="say what would be forgotten, forget nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
