"""The command line. Each command imports what it needs when it runs, so that a host's hook starts in milliseconds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from historian.errors import ShiguanError, told
from server import __version__
from server.parsers import group, hosting, keeping, looking, proving, recording, serving
from server.parsers.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from server.parsers.common import Command, Commands


FAMILIES: Sequence[tuple[Sequence[str], Callable[[Commands], None]]] = (
    (serving.COMMANDS, serving.add_serving),
    (recording.COMMANDS, recording.add_recording),
    (looking.COMMANDS, looking.add_looking),
    (keeping.COMMANDS, keeping.add_keeping),
    (hosting.COMMANDS, hosting.add_hosting),
    (proving.COMMANDS, proving.add_proving),
    (group.COMMANDS, group.add_group),
)
"""The names of commands that belong together, and what adds them, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `shiguan` and return its exit code: 0 done, 1 refused with a sentence on stderr, 2 wrong usage."""
    words = sys.argv[1:] if arguments is None else arguments
    parsed = make_parser(words[0] if words else "").parse_args(words)
    run: Command = parsed.run
    try:
        return run(parsed)
    except ShiguanError as error:
        _complain(error, parsed)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def _complain(error: ShiguanError, parsed: argparse.Namespace) -> None:
    """Say what is wrong on stderr, with the path: what an owner says of its data folder comes without one."""
    if error.path is None and str(error).startswith("The data folder c"):
        from server.bare import data_folder

        error.path = str(data_folder(getattr(parsed, "data_dir", None), os.environ))
    sys.stderr.write(f"shiguan: {told(error)}\n")


def make_parser(command: str = "") -> argparse.ArgumentParser:
    """Return the parser of `command` and its family, else of all commands: a hook waits for each that is made."""
    parser = Parser(
        prog="shiguan", description="A memory for AI agents: what was said, what it amounts to, and what proves it."
    )
    parser.add_argument("--version", action="version", version=f"shiguan {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    asked = [add for names, add in FAMILIES if command in names]
    for add in asked or [add for _, add in FAMILIES]:
        add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
