"""The arguments of what serves the memory: to hosts, and who may come over HTTP."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from historian.errors import InvalidInputError
from server.parsers.common import TOOLSETS, add_command, add_identity
from server.parsers.parser import add_data_dir

if TYPE_CHECKING:
    from server.parsers.common import Commands


COMMANDS = ("serve", "owner", "token")


def add_serving(commands: Commands) -> None:
    """Add these commands."""
    _add_serve(commands)
    _add_owner(commands)
    _add_token(commands)


def _add_serve(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        if arguments.http:
            from server.commands.serving_http import serve_over_http

            return serve_over_http(arguments)
        if arguments.host is not None or arguments.port is not None:
            raise InvalidInputError("--host and --port are for serving over HTTP; add --http, or leave them out.")
        if arguments.standalone:
            from server.commands.serve import serve

            return serve(arguments)
        from server.commands.attaching import serve_attached

        return serve_attached(arguments)

    parser = add_command(
        commands, "serve", run, "Serve the memory to one MCP client over stdin and stdout, or to many."
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--standalone", action="store_true", help="keep everything in this one process")
    how.add_argument("--http", action="store_true", help="serve many clients over streamable HTTP at /mcp")
    parser.add_argument("--host", help="with --http: the address to listen on (server.host, default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="with --http: the port, 0 for any (server.port, default: 8765)")
    add_identity(parser)
    parser.add_argument(
        "--trust-host",
        action="store_true",
        default=None,
        help="the host says in the _meta of each call whose it is, instead of --user and --group ($SHIGUAN_TRUST_HOST)",
    )
    parser.add_argument("--toolsets", metavar="NAMES", help=f"{TOOLSETS} ($SHIGUAN_TOOLSETS)")


def _add_owner(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.owner import manage_owner

        return manage_owner(arguments)

    parser = add_command(commands, "owner", run, "See or stop the process behind all clients of the data folder.")
    parser.add_argument("action", choices=("run", "status", "stop"))
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_token(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from server.commands.token import manage_tokens

        return manage_tokens(arguments)

    text = "Create, list and revoke the tokens of clients that come over HTTP."
    tokens = commands.add_parser("token", help=text, description=text)
    add_data_dir(tokens)
    actions = tokens.add_subparsers(required=True, metavar="ACTION", dest="action")
    parser = add_command(actions, "create", run, "Print a new token, which nothing can tell again.", below=True)
    parser.add_argument("--user", help="whom the token speaks for; only one that may act-as can do without")
    parser.add_argument("--group", action="append", dest="groups", metavar="GROUP", help="a group the user may read")
    scopes = "read, write, admin or act-as (default: read and write)"
    parser.add_argument("--scope", action="append", dest="scopes", metavar="SCOPE", help=scopes)
    parser.add_argument("--expires", default="365d", help="90d, 12h, 30m, a date, or never (default: 365d)")
    parser.add_argument("--name", help="the user's name, by which statements call them")
    parser.add_argument("--timezone", help="the user's IANA time zone (default: the server's)")
    parser = add_command(actions, "list", run, "Show all tokens but for what is secret.", below=True)
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser = add_command(actions, "revoke", run, "End a token; a running server refuses it at once.", below=True)
    parser.add_argument("token_id", help="the id that `shiguan token list` shows")
