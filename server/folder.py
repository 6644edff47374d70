"""What lies where in a data folder."""

from __future__ import annotations

from pathlib import Path

from historian.durable import DiskErrors

DATABASE_NAME = "memory.sqlite3"
VECTORS_NAME = "chroma"
QUEUES_NAME = "queues"
RANKINGS_NAME = "rankings.sqlite3"
"""Lists that somebody pages through; may be deleted at any time."""
LOCKS_NAME = "locks"
"""One empty file for each group that ever evolved: the kernel's lock on it says that a run is under way."""
CALIBRATION_NAME = "calibration.json"


def make_folder(folder: Path) -> None:
    """Make the data folder, readable by its user only, unless it is there.

    Raises:
        StoreError: it cannot be made.
    """
    with DiskErrors():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
