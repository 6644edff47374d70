"""Reading fixtures of exports as the import does, without a memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from historian.formats.outcome import Passed, Read, Refusal
from historian.formats.piece import Reading
from historian.formats.registry import all_formats, format_of
from server.imports.sources import opened

FIXTURES = Path(__file__).parents[1] / "formats" / "fixtures"
READING = Reading("mira", ZoneInfo("Europe/Stockholm"), frozenset({"Mira", "mira", "米拉"}))


@dataclass
class Seen:
    """What came out of one or more files."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    passed: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)

    def column(self, name: str) -> list[Any]:
        """Return one field of all messages."""
        return [message.get(name) for message in self.messages]


def seen(*names: str | Path, reading: Reading = READING) -> Seen:
    """Read fixtures, or other files, each in the format it is recognised by."""
    found = Seen()
    with opened([str(FIXTURES / name) for name in names]) as bundles:
        for bundle in bundles:
            formats = all_formats()
            for piece in bundle.pieces:
                form = format_of(piece, bundle, formats)
                if form is None:
                    found.unknown.append(piece.name)
                    continue
                found.formats[form.name] += 1
                for outcome in form.read(piece, bundle, reading):
                    match outcome:
                        case Read(_, message, facts):
                            found.messages.append(message)
                            found.facts += facts
                        case Refusal(place, reason):
                            found.refused.append(f"{place}: {reason}")
                        case Passed(what):
                            found.passed[what] += 1
    return found
