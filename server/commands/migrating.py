"""`shiguan migrate`: the summaries that an earlier memory kept, into memos and events; repeating it changes nothing."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from historian.errors import InvalidInputError
from historian.summaries import Summaries, Summary, read_summaries
from historian.zones import load_zone
from server.bare import BareSettings
from server.commands.common import bare_settings_from, complain, say, scope_request
from server.owner.ask import conversation

PAGE = 100
"""Records that are handed over at once."""


def migrate(arguments: argparse.Namespace) -> int:
    """Hand over the records of one file, name each bad one, and return 1 if there is any."""
    settings = bare_settings_from(arguments)
    found = _read(Path(arguments.file), settings)
    chosen = [one for one in found.good if arguments.place in (None, one.place)]
    done, refused = Counter[str](), list(found.bad)
    if not arguments.dry_run:
        refused += _hand_over(chosen, settings, again=arguments.again, done=done)
    counted = f"{len(chosen)} would be migrated" if arguments.dry_run else f"{done['queued']} queued"
    undated = sum(not one.is_dated for one in chosen)
    say(f"{counted}, {done['known']} known already, {done['forgotten']} forgotten before, {len(refused)} refused.")
    if undated:
        say(f"{undated} of them have no time of their own; they get that of the record before them, or of the file.")
    for number, reason in sorted(refused):
        complain(f"Record {number}: {reason}")
    return 1 if refused else 0


def _read(path: Path, settings: BareSettings) -> Summaries:
    try:
        document = path.read_bytes()
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        raise InvalidInputError(f"The file cannot be read: {error.strerror}; name another one.") from None
    return read_summaries(document, load_zone(settings.timezone), changed)


def _hand_over(
    chosen: Sequence[Summary], settings: BareSettings, *, again: bool, done: Counter[str]
) -> list[tuple[int, str]]:
    """Send the records to the owner; return those that it refuses, by their number in the file."""
    refused: list[tuple[int, str]] = []
    with conversation(settings) as talk:
        for start in range(0, len(chosen), PAGE):
            page = chosen[start : start + PAGE]
            answer = talk.ask(
                {
                    "op": "migrate",
                    "scope": scope_request(settings),
                    "timezone": settings.timezone,
                    "name": settings.name,
                    "again": again,
                    "records": [_record(one) for one in page],
                }
            )
            done.update({name: answer[name] for name in ("queued", "known", "forgotten")})
            refused += [(page[index].number, reason) for index, reason in answer["failed"]]
    return refused


def _record(one: Summary) -> dict[str, object]:
    return {
        "mark": one.mark,
        "memo": one.memo,
        "observations": [*one.observations],
        "at": one.at.isoformat(),
        "place": one.place,
    }
