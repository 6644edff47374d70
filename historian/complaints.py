"""Says in the log that something does not work, once, and not at each of a thousand attempts."""

from __future__ import annotations

import logging
import threading

MOST = 20
"""Different reasons that are said of one outage; a reason that never repeats must not fill the log either."""


class Complaints:
    """Complaints by name: each reason is logged once, then held back until it is `over`. Thread-safe."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._open: dict[str, set[str]] = {}

    def say(self, name: str, reason: Exception | str, about: str | None = None) -> None:
        """Complain about `name`, unless the same was said of it already; `about` is named in its place in the log."""
        text = str(reason)
        with self._lock:
            known = self._open.setdefault(name, set())
            is_first = not known
            if text in known or len(known) >= MOST:
                return
            known.add(text)
        self._log.log(logging.WARNING if is_first else logging.INFO, "%s: %s", about or name, text)

    def over(self, name: str) -> None:
        """Note that `name` works; said once after a complaint."""
        if name not in self._open:  # the ordinary case, once a job: no lock
            return
        with self._lock:
            was_open = self._open.pop(name, None) is not None
        if was_open:
            self._log.info("%s: well again", name)
