"""Paths as people write them in flags and settings."""

from __future__ import annotations

from pathlib import Path

from historian.errors import InvalidInputError


def whole_path(named: str | Path) -> Path:
    """Return a path from the root, with `~` and `~name` replaced by a home folder.

    Raises:
        InvalidInputError: nobody has such a home folder, or the folder that this process is in is gone.
    """
    try:
        return Path(named).expanduser().absolute()
    except RuntimeError:
        start = str(named).partition("/")[0].partition("\\")[0]
        raise InvalidInputError(f"There is no home folder for {start}; write the path out, from its root.") from None
    except OSError:
        raise InvalidInputError("The folder that this runs in is gone; go to another one and try again.") from None
