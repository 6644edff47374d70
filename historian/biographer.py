"""Keeps profiles: merges new statements into their files, one entity at a time, and the search rows in step."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Sequence

from historian.errors import ConflictError
from historian.merge import Statement, merge_offline
from historian.model import Owner
from historian.profile import Profile
from historian.profile_index import ProfileIndex
from historian.profiles import ProfileStore
from historian.sameness import same_statement

ATTEMPTS = 5
"""Times a merge is made anew because the file was edited meanwhile."""

log = logging.getLogger(__name__)


class Biographer:
    """Reads and merges profiles under a lock per entity. Thread-safe."""

    def __init__(self, store: ProfileStore, index: ProfileIndex, max_lines: int) -> None:
        self._store = store
        self._index = index
        self._max_lines = max_lines
        self._guard = threading.Lock()
        self._locks: defaultdict[Owner, threading.Lock] = defaultdict(threading.Lock)

    def read(self, entity: Owner) -> tuple[Profile | None, str | None]:
        """Return the profile as its file stands, and a warning where the file is broken; hand edits are noticed."""
        with self._lock(entity):
            digest = self._store.digest(entity)
            profile, warning = self._store.read_or_recover(entity)
            self._index.refresh(entity, profile, digest)
        return profile, warning

    def merge(self, entity: Owner, statements: Sequence[Statement]) -> None:
        """Merge statements into the profile; the same events again change nothing.

        Raises:
            StoreError: the file cannot be written.
            ConflictError: somebody edits the file again and again.
        """
        with self._lock(entity):
            for attempt in range(ATTEMPTS):
                try:
                    self._merge_once(entity, statements)
                except ConflictError:
                    if attempt == ATTEMPTS - 1:
                        raise
                else:
                    return

    def notice_hand_edits(self) -> int:
        """Take in every file that a person changed, and return how many there were."""
        changed = [entity for entity in self._store.list() if self._store.digest(entity) != self._index.digest(entity)]
        for entity in changed:
            self.read(entity)
        return len(changed)

    def _merge_once(self, entity: Owner, statements: Sequence[Statement]) -> None:
        profile, warning = self._store.read_or_recover(entity)
        if warning is not None:
            log.warning("%s", warning)
        merge = merge_offline(profile, statements, entity=entity, max_lines=self._max_lines, same=same_statement)
        for drop in merge.dropped:
            log.info("left out of a profile: %s", drop.reason)
        digest = profile.digest if profile is not None else self._store.digest(entity)
        if merge.profile.lines or profile is not None:
            digest = self._store.write(merge.profile, expected=digest)
            self._index.refresh(entity, merge.profile, digest)

    def _lock(self, entity: Owner) -> threading.Lock:
        with self._guard:
            return self._locks[entity]
