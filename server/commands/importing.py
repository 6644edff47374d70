"""`shiguan import`: messages from a file of JSON lines; one bad line never stops the rest, and each is named."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from historian.zones import load_zone

from historian.database import Database
from historian.errors import InvalidInputError
from historian.intake import message_from
from historian.model import Message
from historian.record import Record
from server.commands.common import bare_settings_from, complain, say, scope_of
from server.folder import DATABASE_NAME, make_folder

BATCH = 500
MAX_LINE = 8_000_000
"""Bytes of one line; a longer one is refused."""
NAMED = 20
"""Bad lines named one by one; further ones are counted."""


def import_file(arguments: argparse.Namespace) -> int:
    """Import a file and say what became of its lines; repeating it changes nothing."""
    settings = bare_settings_from(arguments)
    zone = load_zone(settings.timezone)
    owner = scope_of(settings).owner
    inserted = ignored = 0
    failed: list[tuple[int, str]] = []
    with _opened(arguments.file) as lines, _record(settings.data_dir) as record:
        batch: list[Message] = []
        for number, line in enumerate(_lines(lines), start=1):
            if not line.strip():
                continue
            try:
                batch.append(message_from(_parsed(line), zone))
            except InvalidInputError as error:
                failed.append((number, str(error)))
            if len(batch) >= BATCH:
                done = record.append(owner, batch)
                inserted, ignored, batch = inserted + done.inserted, ignored + done.ignored, []
        done = record.append(owner, batch)
    say(f"{inserted + done.inserted} imported, {ignored + done.ignored} known already, {len(failed)} refused.")
    for number, reason in failed[:NAMED]:
        complain(f"line {number}: {reason}")
    if len(failed) > NAMED:
        complain(f"and {len(failed) - NAMED} more lines")
    return 0


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


@contextmanager
def _record(folder: Path) -> Generator[Record]:
    make_folder(folder)
    database = Database(folder / DATABASE_NAME)
    try:
        yield Record(database)
    finally:
        database.close()
