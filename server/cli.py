"""The command line. Each command imports what it needs when it runs, so that a host's hook starts in milliseconds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from historian.errors import ShiguanError
from server import __version__
from server.parsers.common import Command
from server.parsers.group import add_group
from server.parsers.hosting import add_hosting
from server.parsers.keeping import add_keeping
from server.parsers.looking import add_looking
from server.parsers.parser import Parser
from server.parsers.proving import add_proving
from server.parsers.recording import add_recording
from server.parsers.serving import add_serving


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
    parser = Parser(
        prog="shiguan", description="A memory for AI agents: what was said, what it amounts to, and what proves it."
    )
    parser.add_argument("--version", action="version", version=f"shiguan {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (add_serving, add_recording, add_looking, add_keeping, add_hosting, add_proving, add_group):
        add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
