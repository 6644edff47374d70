"""When groups evolve by themselves: once a day each, not all at the same time, and only where something was said."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from datetime import UTC

from historian.clock import Clock
from historian.database import Database
from historian.errors import ConflictError, ShiguanError
from historian.evolve_window import WindowReader
from historian.evolving import Evolver
from historian.group_runs import GroupRuns
from historian.group_strength import DAY_MS
from historian.messages import epoch_ms, instant_of
from historian.model import Owner
from historian.options import GroupOptions

RETRY_MS = 3_600_000
"""How long a group rests after a run of it failed."""

log = logging.getLogger(__name__)


class EvolveSchedule:
    """Lets the groups evolve that are due. Blocks while one does; for one thread."""

    def __init__(
        self,
        database: Database,
        runs: GroupRuns,
        windows: WindowReader,
        evolver: Evolver,
        options: Callable[[], GroupOptions],
        clock: Clock,
    ) -> None:
        self._database = database
        self._runs = runs
        self._windows = windows
        self._evolver = evolver
        self._options = options
        self._clock = clock
        self._begun_ms = self._now()

    def due(self) -> Owner | None:
        """Return a group whose time has come and in which something new was said, or None."""
        if self._options().schedule != "daily" or not self._evolver.has_model:
            return None
        now_ms = self._now()
        for group in self._groups():
            if self._due_ms(group) <= now_ms and self._windows.has_new(group, now_ms):
                return group
        return None

    def run(self) -> bool:
        """Let one group that is due evolve, and say whether one was. What fails is logged and tried again later."""
        group = self.due()
        if group is None:
            return False
        try:
            done = self._evolver.evolve(group, 1, UTC)
            log.info("a group evolved: %s", done.stats)
        except ConflictError:
            log.info("a group evolves already")
        except ShiguanError as error:
            log.warning("a group did not evolve and is tried again in an hour: %s", error)
        return True

    def _due_ms(self, group: Owner) -> int:
        """Return when a group is due: a day after its last run, or since this process began, and its jitter later."""
        last = self._runs.last(group)
        if last is not None and last.state == "failed":
            return last.started_ms + RETRY_MS
        since = self._begun_ms if last is None else last.started_ms + DAY_MS
        return since + self._jitter_ms(group, since)

    def _jitter_ms(self, group: Owner, since: int) -> int:
        """Return how much later than others a group is due: of each day another time, the same when asked again."""
        day = instant_of(since).date().isoformat()
        drawn = hashlib.sha256(f"{group.key}\n{day}".encode("utf-8", "surrogatepass")).digest()
        share = int.from_bytes(drawn[:4], "big") / 2**32
        return int(share * self._options().jitter_minutes * 60_000)

    def _groups(self) -> list[Owner]:
        with self._database.read() as connection:
            rows = connection.execute("SELECT key FROM audiences WHERE key GLOB 'group:*' ORDER BY key").fetchall()
        return [Owner.of_key(key) for (key,) in rows]

    def _now(self) -> int:
        return epoch_ms(self._clock.now())
