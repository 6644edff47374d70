"""All that one process holds of one data folder, and how long it runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from historian.chat import Chat
from historian.clock import SystemClock
from historian.database import Database
from historian.embed import Embedder
from historian.engine import Engine
from historian.errors import StoreError
from historian.indexer import Indexer
from historian.live import LiveOptions
from historian.memory import Memory
from historian.queue import Queue
from historian.rankings import Rankings
from historian.rerank import Reranker
from historian.status import Health
from historian.vectors import VectorStore
from historian.worker import Historian
from prompts import PromptLibrary
from server.binding import Attached, Binder
from server.garbage import keep_what_is_loaded
from server.profile_parts import ProfileParts
from server.reload import SettingsWatch
from server.seats import Seats

if TYPE_CHECKING:  # what is seldom asked for is loaded then: a client waits for all that a start imports
    from historian.backup import Made
    from historian.doctor import Doctor

COUNTS = {
    "messages": "SELECT count(*) FROM messages",
    "events": "SELECT count(*) FROM events WHERE same_as IS NULL AND has_new_info = 1",
    "memos": "SELECT count(*) FROM events WHERE same_as IS NULL AND has_new_info = 0",
    "profile_lines": "SELECT count(*) FROM profile_lines",
    "group_memories": "SELECT count(*) FROM group_memories WHERE status = 'active'",
    "unembedded": "SELECT (SELECT count(*) FROM events WHERE same_as IS NULL AND embedded_by IS NULL)"
    " + (SELECT count(*) FROM profile_lines WHERE embedded_by IS NULL)"
    " + (SELECT count(*) FROM messages WHERE embedded_by IS NULL)"
    " + (SELECT count(*) FROM group_memories WHERE status = 'active' AND embedded_by IS NULL)",
}
"""What `shiguan status` counts."""


@dataclass(frozen=True, slots=True)
class Household:
    """All that one process holds of one data folder."""

    memory: Memory
    historian: Historian
    engine: Engine
    indexer: Indexer
    database: Database
    queue: Queue
    rankings: Rankings
    chat: Chat
    prompts: PromptLibrary
    reranker: Reranker | None
    profiles: ProfileParts
    make_store: Callable[[Embedder], VectorStore]
    make_doctor: Callable[[], Doctor]
    folder: Path
    live: LiveOptions
    watch: SettingsWatch
    health: Health
    seats: Seats

    def attached(self, binder: Binder) -> Attached:
        """Return what a client's session works with whose requests `binder` binds."""
        return Attached(self.memory, binder, self.warm_up, self.seats)

    @property
    def doctor(self) -> Doctor:
        """Who examines the folder and the open stores."""
        return self.make_doctor()

    def warm_up(self) -> None:
        """Begin to load the embedder and the vectors in the background; calling it again does nothing."""
        keep_what_is_loaded()
        if self.engine.state == "cold":
            self.engine.start()

    def counts(self) -> dict[str, int]:
        """Return how much the folder holds, whoever it belongs to."""
        with self.database.read() as connection:
            return {name: connection.execute(sql).fetchone()[0] for name, sql in COUNTS.items()}

    def has_work(self) -> bool:
        """Say whether anything can be done; while the memory is switched off, jobs and merges that wait cannot."""
        stats = self.queue.stats()
        waiting = stats.pending or self.profiles.waiting.count()
        return bool(stats.processing or (waiting and self.live.enabled))

    def reindex(self) -> int:
        """Make every vector anew and return how many there are. Search by words works meanwhile.

        Raises:
            ModelError, StoreError: as `rebuild_vectors`.
        """
        from historian.rebuilding import rebuild_vectors

        return rebuild_vectors(self.engine, self.indexer, self.make_store)

    def back_up(self, target: Path) -> Made:
        """Write everything that is true here into the file `target`. Raises as `backup.back_up`."""
        from historian.backup import back_up

        return back_up(self.folder, self.database, target, SystemClock())

    def close(self) -> None:
        """Close every store. The folder may be opened again afterwards."""
        self.chat.close()
        if self.reranker is not None:
            self.reranker.close()
        with suppress(StoreError):
            self.historian.upkeep.returned.flush()
        self.engine.close()
        self.queue.close()
        self.rankings.close()
        self.database.close()


@asynccontextmanager
async def running(household: Household) -> AsyncGenerator[Household]:
    """Run the historian for the duration of the block, then close the stores."""
    try:
        async with anyio.create_task_group() as tasks:
            await tasks.start(household.historian.run)
            tasks.start_soon(household.watch.run)
            yield household
            tasks.cancel_scope.cancel()
    finally:
        household.close()
