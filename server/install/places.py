"""Where a user's settings lie on this machine. Given, not found out, so that any machine can be tried on any other."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from server.paths import whole_path


@dataclass(frozen=True, slots=True)
class Places:
    """A home folder, a platform as `sys.platform` calls it, and the environment."""

    home: Path
    platform: str
    environment: Mapping[str, str]

    @classmethod
    def here(cls) -> Places:
        """Return those of this process. Raises InvalidInputError where its user has no home."""
        return cls(whole_path("~"), sys.platform, os.environ)

    def named(self, variable: str, default: Path) -> Path:
        """Return the folder that a variable names, else `default`."""
        given = self.environment.get(variable)
        return Path(given) if given else default

    @property
    def applications(self) -> Path:
        """The folder in which desktop programs keep the user's settings."""
        if self.platform == "win32":
            return self.named("APPDATA", self.home / "AppData" / "Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.named("XDG_CONFIG_HOME", self.home / ".config")
