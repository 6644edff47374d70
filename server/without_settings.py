"""A data folder whose settings are wrong, looked after by one command, since no owner can be started on it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from historian.backup import Made
from historian.doctor import Doctor, Report
from historian.errors import ShiguanError
from historian.finding import Finding
from historian.hold import FolderHold
from server.composition import open_household
from server.household import Household
from server.settings import Settings

UNKNOWN = "The vectors were not examined: which model makes them is a setting."


def examine(folder: Path, wrong: ShiguanError, *, fix: bool) -> dict[str, Any]:
    """Return what a doctor finds in a folder whose settings are `wrong`, which is the first finding.

    Raises:
        FolderInUseError: a process holds the folder.
        StoreError: the folder cannot be used.
    """
    with _household(folder, "doctor") as household:
        found = Doctor([check for check in household.doctor.checks if check.name not in ("settings", "vectors")])
        report = found.run(fix=fix)
    findings = Finding("settings", "error", str(wrong)), Finding("vectors", "warning", UNKNOWN)
    return Report((findings[0], *report.left, findings[1]), report.fixed).answer()


def back_up(folder: Path, target: Path) -> Made:
    """Write a backup of a folder whose settings are wrong. Raises as `examine`, and as `backup.back_up`."""
    with _household(folder, "backup") as household:
        return household.back_up(target)


@contextmanager
def _household(folder: Path, purpose: str) -> Generator[Household]:
    """Lend the open stores of a folder on default settings. Nothing works in it: no job is done, none is swept."""
    hold = FolderHold(folder)
    hold.take(purpose)
    try:
        defaults = Settings.model_construct(data_dir=folder, user="local", groups=(), timezone="UTC", toolsets=())
        household = open_household(defaults)
        try:
            yield household
        finally:
            household.close()
    finally:
        hold.release()
