"""What an examination of the data folder found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

Severity = Literal["ok", "warning", "error"]
_PLURAL = re.compile(r"(message|event|memo|note|line|file|version|statement|merge|job)s\b")


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence about one part. `fixable`: `shiguan doctor --fix` mends it without touching the truth."""

    check: str
    severity: Severity
    message: str
    fixable: bool = False


class Check(Protocol):
    """One part that is looked at."""

    @property
    def name(self) -> str:
        """What its findings are called by."""
        ...

    def find(self, *, fix: bool) -> list[Finding]:
        """Return what is wrong; with `fix`, what can only be mended while nobody uses the part is mended already."""
        ...

    def mend(self) -> None:
        """Mend what is fixable. Raises ShiguanError."""
        ...


def number(count: int, one: str, many: str | None = None) -> str:
    """Return `1 text`, `2 texts`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def counted(counts: Mapping[str, int]) -> str:
    """Say how many of what, each named in the plural: `1 message, 2 events`; `nothing` where there is none."""
    named = [(count, what if count != 1 else _PLURAL.sub(r"\1", what, count=1)) for what, count in counts.items()]
    return ", ".join(f"{count} {what}" for count, what in named) or "nothing"
