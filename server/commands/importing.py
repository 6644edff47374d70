"""`shiguan import`: years of chats from other programs; one bad record never stops the rest, and each is named."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from historian.errors import InvalidInputError
from historian.work import scope_payload
from historian.zones import load_zone, parse_instant
from server.bare import BareSettings, credentials_mode
from server.commands.common import bare_settings_from, complain, config_in_force, say, scope_of
from server.owner.ask import conversation

if TYPE_CHECKING:
    from historian.formats.piece import Bundle
    from server.imports.exchanges import Exchanges
    from server.imports.importer import Note, Plan, Show
    from server.imports.reports import Report


def import_files(arguments: argparse.Namespace) -> int:
    """Import files and say what became of their records; repeating it changes nothing."""
    from server.imports.progress import Progress
    from server.imports.reports import Report
    from server.imports.sources import opened

    settings = bare_settings_from(arguments)
    exchanges = _exchanges(settings) if arguments.remember else None
    plan = _plan(arguments, settings, exchanges.add if exchanges else None)
    with opened(arguments.paths) as bundles, _report_file(arguments.report) as file:
        report = Report(file=file)
        total = sum(piece.size for bundle in bundles for piece in bundle.pieces)
        progress = Progress(sys.stderr, total)
        try:
            _import(bundles, plan, report, settings, progress.show, dry=arguments.dry_run, again=arguments.again)
        finally:
            progress.clear()
    for line in report.summary(dry=arguments.dry_run):
        say(line)
    for line in report.complaints():
        complain(line)
    if exchanges is not None:
        _remember(exchanges, settings, dry=arguments.dry_run)
    return int(report.is_in_vain)


def _exchanges(settings: BareSettings) -> Exchanges:
    from historian.guard import Guard
    from server.imports.exchanges import Exchanges

    guard = Guard(credentials_mode(settings.data_dir, os.environ, config_in_force))
    return Exchanges(load_zone(settings.timezone), guard)


def _remember(exchanges: Exchanges, settings: BareSettings, *, dry: bool) -> None:
    """Run the historian over what was imported."""
    from server.imports.progress import Progress
    from server.imports.remembering import rehearse, remember

    if dry:
        say(rehearse(exchanges).summary(dry=True))
        return
    whose = {
        "op": "remember",
        "scope": scope_payload(scope_of(settings)),
        "timezone": settings.timezone,
        "name": settings.name,
    }
    progress = Progress(sys.stderr, rehearse(exchanges).exchanges)
    with conversation(settings) as talk:
        try:
            done = remember(exchanges, lambda request: talk.ask(whose | request), progress.show)
        finally:
            progress.clear()
    say(done.summary(dry=False))


def _import(
    bundles: Sequence[Bundle], plan: Plan, report: Report, settings: BareSettings, show: Show, *, dry: bool, again: bool
) -> None:
    from server.imports.importer import Importer

    if dry:
        Importer(plan, report, None, show).run(bundles)
        return
    whose: dict[str, Any] = {
        "scope": scope_payload(scope_of(settings)),
        "timezone": settings.timezone,
        "again": again,
    }
    with conversation(settings) as talk:

        def append(messages: list[Any]) -> dict[str, Any]:
            return talk.ask({"op": "append", "messages": messages, **whose})

        def take_in(lines: list[Any]) -> dict[str, Any]:
            return talk.ask({"op": "take_in", "lines": lines, **whose})

        Importer(plan, report, append, show, take_in).run(bundles)


def _plan(arguments: argparse.Namespace, settings: BareSettings, note: Note | None) -> Plan:
    from historian.formats.piece import Reading
    from historian.formats.registry import chosen
    from server.imports.importer import Plan

    zone = load_zone(settings.timezone)
    reading = Reading(settings.user, zone, frozenset(arguments.me or ()))
    since, groups = _since(arguments.since, settings), frozenset(settings.groups)
    return Plan(chosen(arguments.format), arguments.format, reading, since, note, groups)


def _since(given: str | None, settings: BareSettings) -> datetime | None:
    if given is None:
        return None
    try:
        return parse_instant(given, load_zone(settings.timezone))[0]
    except InvalidInputError as error:
        raise InvalidInputError(f"--since: {error}") from None


@contextmanager
def _report_file(name: str | None) -> Generator[TextIO | None]:
    if name is None:
        yield None
        return
    try:
        with Path(name).open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise InvalidInputError(f"The report cannot be written: {error.strerror}; name another file.") from None
