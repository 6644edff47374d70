"""Whether this process still has a file open, where the system can tell."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

_OPEN = Path("/proc/self/fd")
_POLL_SECONDS = 0.002


def wait_until_let_go(file: Path, seconds: float) -> bool:
    """Return whether nothing in this process has `file` open, waiting for it up to so many seconds.

    A library that closes its files in threads of its own says nothing when it has; only its descriptors do. Where the
    system does not list them, it is taken to have.
    """
    until = time.monotonic() + seconds
    while is_open := _has_open(file):
        if time.monotonic() > until:
            break
        time.sleep(_POLL_SECONDS)
    return not is_open


def _has_open(file: Path) -> bool:
    try:
        status = file.stat()
        return any(map(partial(_is_of, status), _OPEN.iterdir()))
    except OSError:
        return False


def _is_of(status: os.stat_result, descriptor: Path) -> bool:
    try:
        found = descriptor.stat()
    except OSError:  # closed meanwhile
        return False
    return (found.st_dev, found.st_ino) == (status.st_dev, status.st_ino)
