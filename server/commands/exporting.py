"""`shiguan export`: everything of one user or group, to take away."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

from historian.errors import InvalidInputError
from historian.work import scope_payload
from server.commands.common import complain, existing_settings_from, scope_of
from server.owner.ask import Conversation, conversation
from server.paths import whole_path

PAGE = 500
FILE = "shiguan-export.jsonl"
COUNTED = {
    "message": "messages",
    "event": "events",
    "memo of a turn": "memos",
    "memo": "short-term memos",
    "pinned": "pinned notes",
    "group_memory": "group statements",
    "profile": "profiles",
}
"""What is told of an export: its kinds of lines."""


class Sink(Protocol):
    """Takes the lines of an export."""

    def write(self, lines: Sequence[dict[str, Any]]) -> None:
        """Write some lines. Raises OSError, and InvalidInputError where the folder holds what is somebody else's."""
        ...


def export(arguments: argparse.Namespace) -> int:
    """Write everything in scope as lines to a folder or to stdout, or as Markdown to a folder."""
    if arguments.format == "markdown" and arguments.target is None:
        raise InvalidInputError("An export as Markdown needs the name of a folder to write to.")
    settings = existing_settings_from(arguments)
    counts: dict[str, int] = {}
    with conversation(settings) as talk:
        request = {"op": "export", "scope": scope_payload(scope_of(settings)), "limit": PAGE}
        try:
            with _sink(arguments) as sink:
                for lines in _pages(talk, request):
                    sink.write(lines)
                    for line in lines:
                        counts[_counted_as(line)] = counts.get(_counted_as(line), 0) + 1
        except BrokenPipeError:
            raise
        except OSError as error:
            raise InvalidInputError(f"The export cannot be written: {error.strerror}; name another folder.") from None
    told = ", ".join(f"{counts.get(kind, 0)} {name}" for kind, name in COUNTED.items())
    complain(f"Exported {told}.")
    return 0


def _counted_as(line: Mapping[str, Any]) -> str:
    """Return what a person calls a line: a memo is kept as an event that is no fact."""
    return "memo of a turn" if line["kind"] == "event" and not line["has_new_info"] else str(line["kind"])


def _pages(talk: Conversation, request: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    cursor = ""
    while True:
        page = talk.ask(request | {"cursor": cursor})
        yield page["lines"]
        cursor = page["cursor"]
        if not cursor:
            return


@contextmanager
def _sink(arguments: argparse.Namespace) -> Generator[Sink]:
    if arguments.target is None:
        sys.stdout.flush()
        with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as stream:
            yield _Lines(stream)
        return
    folder = whole_path(arguments.target)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if arguments.format == "markdown":
        from server.export_folder import ExportFolder
        from server.exports import MarkdownExport

        with ExportFolder(folder) as gathered:
            yield MarkdownExport(gathered)
        return
    with _file(folder) as lines:
        yield lines


@contextmanager
def _file(folder: Path) -> Generator[Sink]:
    """Lend a file that takes its place in the folder once all lines are written."""
    from server.export_folder import require_own

    temporary = folder / f".{FILE}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "w", encoding="utf-8") as stream:
            yield _Lines(stream, lambda owner: require_own(folder / FILE, owner))
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(folder / FILE)
    finally:
        temporary.unlink(missing_ok=True)


class _Lines:
    def __init__(self, stream: TextIO, claim: Callable[[str], None] | None = None) -> None:
        self._stream = stream
        self._claim = claim

    def write(self, lines: Sequence[dict[str, Any]]) -> None:
        for line in lines:
            if self._claim and line["kind"] == "about":
                self._claim(line["owner"])
        self._stream.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
