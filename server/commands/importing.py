"""`shiguan import`: messages from a file of JSON lines; one bad line never stops the rest, and each is named."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from historian.errors import InvalidInputError
from historian.work import scope_payload
from server.bare import BareSettings
from server.commands.common import bare_settings_from, complain, say, scope_of
from server.owner.ask import Conversation, conversation

BATCH = 500
BATCH_BYTES = 4_000_000
MAX_LINE = 8_000_000
"""Bytes of one line; a longer one is refused."""
NAMED = 20
"""Bad lines named one by one; further ones are counted."""


def import_file(arguments: argparse.Namespace) -> int:
    """Import a file and say what became of its lines; repeating it changes nothing."""
    settings = bare_settings_from(arguments)
    with _opened(arguments.file) as lines, conversation(settings) as talk:
        report = Importer(talk, settings).run(lines)
    say(f"{report.inserted} imported, {report.ignored} known already, {len(report.failed)} refused.")
    for number, reason in report.failed[:NAMED]:
        complain(f"line {number}: {reason}")
    if len(report.failed) > NAMED:
        complain(f"and {len(report.failed) - NAMED} more lines")
    if report.has_masked:
        complain("Credentials in some messages were masked; the memory keeps none.")
    return 0


class Importer:
    """Sends lines to the owner in batches, and counts what became of them."""

    def __init__(self, talk: Conversation, settings: BareSettings) -> None:
        self.inserted = 0
        self.ignored = 0
        self.failed: list[tuple[int, str]] = []
        self.has_masked = False
        self._talk = talk
        self._request: dict[str, Any] = {"scope": scope_payload(scope_of(settings)), "timezone": settings.timezone}
        self._batch: list[tuple[int, object]] = []
        self._bytes = 0

    def run(self, lines: BinaryIO) -> Importer:
        """Import every line and return itself."""
        for number, line in enumerate(_lines(lines), start=1):
            if not line.strip():
                continue
            try:
                self._batch.append((number, _parsed(line)))
                self._bytes += len(line)
            except InvalidInputError as error:
                self.failed.append((number, str(error)))
            if len(self._batch) >= BATCH or self._bytes >= BATCH_BYTES:
                self._send()
        self._send()
        self.failed.sort()
        return self

    def _send(self) -> None:
        if not self._batch:
            return
        messages = [message for _, message in self._batch]
        done = self._talk.ask({"op": "append", "messages": messages, **self._request})
        self.inserted += done["inserted"]
        self.ignored += done["ignored"]
        self.has_masked |= bool(done.get("warnings"))
        self.failed += [(self._batch[index][0], reason) for index, reason in done["failed"]]
        self._batch, self._bytes = [], 0


def _parsed(line: bytes) -> object:
    if len(line) > MAX_LINE:
        raise InvalidInputError(f"It is longer than {MAX_LINE} bytes.")
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidInputError("It is not a JSON object in UTF-8 on one line.") from None


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    for number, line in enumerate(stream):
        yield line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line


@contextmanager
def _opened(name: str) -> Generator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(name).open("rb") as stream:
            yield stream
    except OSError as error:
        raise InvalidInputError(f"The file cannot be read: {error.strerror}; name a file of JSON lines.") from None
