"""A folder in which nobody can write, root neither."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path) -> Generator[Path]:
    """Make a folder that this user cannot write; root needs a file system for that."""
    folder.mkdir()
    if os.getuid() != 0:
        folder.chmod(0o555)
        try:
            yield folder
        finally:
            folder.chmod(0o755)
        return
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "ro,size=1m", "none", folder], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("root writes everywhere, and may not mount a read-only file system here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
