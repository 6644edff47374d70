"""Says in the log that something does not work, once, and not at each of a thousand attempts."""

from __future__ import annotations

import logging
import threading


class Complaints:
    """Complaints by name: one is logged when it is new or differs, then held back until it is `over`. Thread-safe."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._open: dict[str, str] = {}

    def say(self, name: str, error: Exception) -> None:
        """Complain about `name`, unless the same was said of it last."""
        with self._lock:
            known = self._open.get(name)
            self._open[name] = str(error)
        if known is None:
            self._log.warning("%s: %s", name, error)
        elif known != str(error):
            self._log.info("%s: %s", name, error)

    def over(self, name: str) -> None:
        """Note that `name` works; said once after a complaint."""
        with self._lock:
            was_open = self._open.pop(name, None) is not None
        if was_open:
            self._log.info("%s: well again", name)
