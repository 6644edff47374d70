"""The command line. Each command imports what it needs when it runs, so that a host's hook starts in milliseconds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from historian.errors import ShiguanError

Command = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `shiguan` and return its exit code: 0 done, 1 refused with a sentence on stderr, 2 wrong usage."""
    parsed = make_parser().parse_args(arguments)
    run: Command = parsed.run
    try:
        return run(parsed)
    except ShiguanError as error:
        sys.stderr.write(f"shiguan: {error}\n")
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="shiguan", description="A memory for AI agents: what was said, what it amounts to, and what proves it."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_serve(commands)
    _add_log(commands)
    _add_import(commands)
    _add_export(commands)
    _add_forget(commands)
    _add_search(commands)
    _add_status(commands)
    _add_reindex(commands)
    _add_queue(commands)
    _add_rewrite(commands)
    _add_audit(commands)
    _add_profile(commands)
    _add_owner(commands)
    _add_doctor(commands)
    _add_backup(commands)
    _add_token(commands)
    return parser


if TYPE_CHECKING:
    # argparse has no public name for what add_subparsers returns
    _Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]


def _command(commands: _Commands, name: str, run: Command, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    parser.add_argument("--data-dir", help="the data folder (default: $SHIGUAN_DATA_DIR, else the user-data folder)")
    return parser


def _with_identity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", help="whose memory (default: $SHIGUAN_USER_ID, else the operating-system user)")
    parser.add_argument(
        "--group",
        action="append",
        dest="groups",
        metavar="GROUP",
        help="a group of the user; one binds the request to it, several only make them readable ($SHIGUAN_GROUPS)",
    )
    parser.add_argument("--name", help="the user's name, by which statements call them ($SHIGUAN_USER_NAME)")
    parser.add_argument("--timezone", help="IANA name, for example Asia/Shanghai (default: the system's)")


def _add_serve(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        if arguments.http:
            from server.commands.serving_http import serve_over_http

            return serve_over_http(arguments)
        if arguments.standalone:
            from server.commands.serve import serve

            return serve(arguments)
        from server.commands.attaching import serve_attached

        return serve_attached(arguments)

    parser = _command(commands, "serve", run, "Serve the memory to one MCP client over stdin and stdout, or to many.")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--standalone", action="store_true", help="keep everything in this one process")
    how.add_argument("--http", action="store_true", help="serve many clients over streamable HTTP at /mcp")
    parser.add_argument("--host", help="with --http: the address to listen on (server.host, default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="with --http: the port, 0 for any (server.port, default: 8765)")
    _with_identity(parser)
    parser.add_argument(
        "--trust-host",
        action="store_true",
        default=None,
        help="the host says in the _meta of each call whose it is, instead of --user and --group ($SHIGUAN_TRUST_HOST)",
    )
    parser.add_argument(
        "--toolsets", help="further toolsets, separated by commas (default: only those that are always published)"
    )


def _add_log(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.log import log_turn

        return log_turn(arguments)

    parser = _command(commands, "log", run, "Put one chat turn into the record: for a host's hooks.")
    _with_identity(parser)
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


def _add_import(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.importing import import_files

        return import_files(arguments)

    parser = _command(
        commands, "import", run, "Import chats and memories of other programs; repeating it changes nothing."
    )
    _with_identity(parser)
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
    parser.add_argument("--report", metavar="FILE", help="write each refused record to a file, one JSON object a line")


def _add_export(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.exporting import export

        return export(arguments)

    parser = _command(commands, "export", run, "Write everything of a user or group, to read or to import elsewhere.")
    _with_identity(parser)
    parser.add_argument("target", nargs="?", metavar="FOLDER", help="the folder to write to (default: stdout)")
    parser.add_argument(
        "--format", choices=("jsonl", "markdown"), default="jsonl", help="jsonl can be imported again (default)"
    )


def _add_forget(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.forgetting import forget

        return forget(arguments)

    text = "Forget messages or events, whatever rests on them, and every trace of them on the disk."
    parser = _command(commands, "forget", run, text)
    _with_identity(parser)
    parser.add_argument("--message", action="append", dest="messages", metavar="ID", help="a message; may be repeated")
    parser.add_argument("--event", metavar="ID", help="an event, with all events that say the same")
    parser.add_argument("--conversation", metavar="ID", help="a conversation, or the part of it that the others narrow")
    parser.add_argument("--since", metavar="TIME", help="what was said from this time on: ISO 8601, or a date")
    parser.add_argument("--until", metavar="TIME", help="what was said before this time")
    parser.add_argument("--search", metavar="QUERY", help="what has all of these words")
    parser.add_argument("--everything", action="store_true", help="all that is this user's own, or this group's")
    parser.add_argument("--dry-run", action="store_true", help="say what would be forgotten, forget nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _add_search(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.search import search

        return search(arguments)

    parser = _command(commands, "search", run, "Search the raw messages.")
    _with_identity(parser)
    parser.add_argument("query", help='a question; with --mode lexical words, "phrases", AND, OR, NOT')
    parser.add_argument("--since", help="only messages from this time on: ISO 8601, or a date")
    parser.add_argument("--until", help="only messages before this time")
    parser.add_argument("--role", choices=("user", "assistant", "system", "tool"))
    parser.add_argument("--conversation", help="only this conversation id")
    parser.add_argument("--sender-id", help="only messages of this sender")
    parser.add_argument("--mode", choices=("hybrid", "lexical", "semantic"), default="hybrid")
    parser.add_argument("--limit", type=int, default=20, help="1 to 200 (default: 20)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, as the tools answer it")


def _add_status(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.status import show_status

        return show_status(arguments)

    parser = _command(commands, "status", run, "Show what the data folder holds and how its queue is doing.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_reindex(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.reindex import reindex

        return reindex(arguments)

    _command(commands, "reindex", run, "Make every vector anew, also after a change of embedding model.")


def _add_rewrite(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.rewrite import rewrite_events

        return rewrite_events(arguments)

    parser = _command(commands, "rewrite", run, "Have the chat model phrase again the events that rules wrote.")
    parser.add_argument("--all", action="store_true", help="also those that a model phrased already")


def _add_audit(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.audit import audit

        return audit(arguments)

    parser = _command(
        commands,
        "audit",
        run,
        "Show what is worth a look: duplicates, flagged, unsupported, and oldest statements.",
    )
    parser.add_argument("--limit", type=int, default=20, help="how many of each kind (default: 20)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_queue(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.queue import manage_queue

        return manage_queue(arguments)

    parser = _command(commands, "queue", run, "List jobs, and retry or discard those that failed.")
    parser.add_argument("action", choices=("list", "retry", "discard"))
    parser.add_argument("job_id", nargs="?", help="one failed job (default: all failed jobs)")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def _add_profile(commands: _Commands) -> None:
    from server.profile_cli import TEXT, add_actions

    def run(arguments: argparse.Namespace) -> int:
        from server.commands.profile import manage_profiles

        return manage_profiles(arguments)

    add_actions(_command(commands, "profile", run, TEXT))


def _add_owner(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.owner import manage_owner

        return manage_owner(arguments)

    parser = _command(commands, "owner", run, "See or stop the process behind all clients of the data folder.")
    parser.add_argument("action", choices=("run", "status", "stop"))
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_doctor(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.doctor import doctor

        return doctor(arguments)

    parser = _command(commands, "doctor", run, "Examine the data folder; exit code 1 when an error is left.")
    parser.add_argument("--fix", action="store_true", help="mend what is derived from the texts; never delete a text")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_backup(commands: _Commands) -> None:
    def run_backup(arguments: argparse.Namespace) -> int:
        from server.commands.backup import back_up

        return back_up(arguments)

    def run_restore(arguments: argparse.Namespace) -> int:
        from server.commands.backup import restore

        return restore(arguments)

    parser = _command(commands, "backup", run_backup, "Write everything into one file, while the memory works.")
    parser.add_argument("file", help="the .tar.gz to write; one that is there is replaced")
    parser = _command(commands, "restore", run_restore, "Make a data folder out of a backup.")
    parser.add_argument("file", help="a file that `shiguan backup` wrote")


def _add_token(commands: _Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.token import manage_tokens

        return manage_tokens(arguments)

    text = "Create, list and revoke the tokens of clients that come over HTTP."
    actions = commands.add_parser("token", help=text, description=text).add_subparsers(
        required=True, metavar="ACTION", dest="action"
    )
    parser = _command(actions, "create", run, "Print a new token, which nothing can tell again.")
    parser.add_argument("--user", help="whom the token speaks for; only one that may act-as can do without")
    parser.add_argument("--group", action="append", dest="groups", metavar="GROUP", help="a group the user may read")
    scopes = "read, write, admin or act-as (default: read and write)"
    parser.add_argument("--scope", action="append", dest="scopes", metavar="SCOPE", help=scopes)
    parser.add_argument("--expires", default="365d", help="90d, 12h, a date, or never (default: 365d)")
    parser.add_argument("--name", help="the user's name, by which statements call them")
    parser.add_argument("--timezone", help="the user's IANA time zone (default: the server's)")
    parser = _command(actions, "list", run, "Show all tokens but for what is secret.")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser = _command(actions, "revoke", run, "End a token; a running server refuses it at once.")
    parser.add_argument("token_id", help="the id that `shiguan token list` shows")


if __name__ == "__main__":
    sys.exit(main())
