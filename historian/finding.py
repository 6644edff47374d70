"""What an examination of the data folder found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Severity = Literal["ok", "warning", "error"]


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
