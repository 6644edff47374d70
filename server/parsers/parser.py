"""Parses the words and options of a command in whatever order they come."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

DATA_DIR = "the data folder (default: $SHIGUAN_DATA_DIR, else the user-data folder)"


class Parser(argparse.ArgumentParser):
    """Takes `retry --json JOB` like `retry JOB --json`: argparse alone looks for words that may be left out only once.

    A parser with actions below it leaves the order to them, and so does whoever writes `--`. What a parser does not
    know it refuses with its own usage. An option has one name: what is short for it today may not be tomorrow.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options["allow_abbrev"] = False
        super().__init__(*arguments, **options)
        self._has_actions = False
        self._is_mixing = False

    def add_subparsers(self, *arguments: Any, **options: Any) -> Any:
        """Add actions, each with a parser of its own."""
        self._has_actions = True
        return super().add_subparsers(*arguments, **options)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:  # type: ignore[override]
        """Parse, and end with the usage of this parser where it does not know all of it."""
        if self._is_mixing:
            return super().parse_known_args(args, namespace)
        parsed, rest = self._parsed(args, namespace)
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return parsed, rest

    def _parsed(self, args: Sequence[str] | None, namespace: Any) -> tuple[Any, list[str]]:
        if self._has_actions or "--" in (args or ()):
            return super().parse_known_args(args, namespace)
        self._is_mixing = True  # up to Python 3.12 it calls the method above
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_mixing = False


def add_data_dir(parser: argparse.ArgumentParser, *, below: bool = False) -> None:
    """Let a data folder be named. `below`: the parser above it takes the name too, and it is kept if not given here."""
    parser.add_argument("--data-dir", default=argparse.SUPPRESS if below else None, help=DATA_DIR)
