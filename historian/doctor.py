"""Examining a data folder, and mending what is derived from the truth. Nothing of the truth is ever deleted."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from historian.errors import ShiguanError
from historian.finding import Check, Finding

__all__ = ["Doctor", "Finding", "Report"]


@dataclass(frozen=True, slots=True)
class Report:
    """What is wrong, and what was wrong and is not any more."""

    left: tuple[Finding, ...]
    fixed: tuple[Finding, ...] = ()

    @property
    def is_healthy(self) -> bool:
        """Whether no error is left; a warning is no error."""
        return all(finding.severity != "error" for finding in self.left)

    def answer(self) -> dict[str, Any]:
        """Return it as the command line is told of it."""
        return {
            "healthy": self.is_healthy,
            "fixed": [asdict(finding) for finding in self.fixed],
            "findings": [asdict(finding) for finding in self.left],
        }


class Doctor:
    """Runs checks, one examination at a time of all who share `busy`. Slow: reads everything."""

    def __init__(self, checks: Sequence[Check], busy: threading.Lock | None = None) -> None:
        self.checks = checks
        self._busy = busy or threading.Lock()

    def run(self, *, fix: bool = False) -> Report:
        """Examine everything; with `fix`, mend what can be mended and examine it again. A part that is well is `ok`."""
        with self._busy:
            found = self._examine(fix=fix)
            if not fix:
                return Report(tuple(found))
            failures = [finding for check in self.checks for finding in _mended(check)]
            left = [*self._examine(fix=False), *failures]
            fixed = [one for one in found if one.severity != "ok" and one not in left]
            return Report(tuple(left), tuple(fixed))

    def _examine(self, *, fix: bool) -> list[Finding]:
        return [finding for check in self.checks for finding in _examined(check, fix=fix)]


def _examined(check: Check, *, fix: bool) -> list[Finding]:
    try:
        return check.find(fix=fix) or [Finding(check.name, "ok", "All is well.")]
    except ShiguanError as error:
        return [Finding(check.name, "error", str(error))]


def _mended(check: Check) -> list[Finding]:
    try:
        check.mend()
    except ShiguanError as error:
        return [Finding(check.name, "error", f"It could not be mended: {error}")]
    return []
