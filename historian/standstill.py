"""Work that goes on side by side, and work for which all of it has to stand still."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from historian.errors import StoreError

PATIENCE = 120.0
"""Seconds for which a standstill waits until the work under way is done."""


class Standstill:
    """Any number may be `working`, or one has it `alone`. Thread-safe; a thread does not nest the two."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._changed = threading.Condition()
        self._patience = patience
        self._working = 0
        self._alone = False

    def begin(self) -> None:
        """Be one of many, once nobody has it alone; `end` must follow."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._working += 1

    def end(self) -> None:
        """Be done with what `begin` began."""
        with self._changed:
            self._working -= 1
            self._changed.notify_all()

    @contextmanager
    def working(self) -> Generator[None]:
        """Run a block as one of many, once nobody has it alone."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    @contextmanager
    def alone(self) -> Generator[None]:
        """Run a block while nobody works; those who come meanwhile wait.

        Raises:
            StoreError: what is under way takes too long.
        """
        until = time.monotonic() + self._patience
        with self._changed:
            if not self._changed.wait_for(lambda: not self._alone, self._patience):
                raise StoreError("Something else is being forgotten; try again in a minute.")
            self._alone = True
            quiet = self._changed.wait_for(lambda: self._working == 0, max(0.0, until - time.monotonic()))
            if not quiet:
                self._free()
                raise StoreError("The historian is busy with a job; try again in a minute.")
        try:
            yield
        finally:
            with self._changed:
                self._free()

    def _free(self) -> None:
        self._alone = False
        self._changed.notify_all()
