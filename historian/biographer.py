"""Keeps profiles: changes their files, one change of an entity at a time, and the search rows in step."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from historian.errors import ConflictError
from historian.merge import Merge, Statement, merge_offline
from historian.model import Owner
from historian.profile import Profile
from historian.profile_index import ProfileIndex
from historian.profiles import Clean, ProfileStore
from historian.sameness import Sameness

ATTEMPTS = 5
"""Times a change is made anew because the file was edited meanwhile."""

Also = Callable[[str, Merge], None]
"""What is to be noted in the database together with a change: given the digest of the file and what was changed."""

log = logging.getLogger(__name__)


class Biographer:
    """Reads and changes profiles under a lock per entity. Thread-safe. No lock is held while anybody thinks."""

    def __init__(
        self, store: ProfileStore, index: ProfileIndex, max_lines: int, discard: Callable[[list[int]], None]
    ) -> None:
        """`discard` is told the search rows that are gone, so that their vectors go too."""
        self._store = store
        self._index = index
        self._discard = discard
        self._guard = threading.Lock()
        self._locks: defaultdict[Owner, threading.Lock] = defaultdict(threading.Lock)
        self.max_lines = max_lines

    def read(self, entity: Owner) -> tuple[Profile | None, str | None]:
        """Return the profile as its file stands, and a warning where the file is broken; hand edits are noticed."""
        with self._lock(entity):
            profile, warning = self._store.read_or_recover(entity)
            digest = profile.digest if profile is not None else self._store.digest(entity)
            self._discard(self._index.refresh(entity, profile, digest))
        return profile, warning

    def merge(self, entity: Owner, statements: Sequence[Statement], also: Also | None = None) -> Merge:
        """Merge statements into the profile by rules; the same events again change nothing. Raises as `change`."""
        by_rules = partial(
            merge_offline, statements=statements, entity=entity, max_lines=self.max_lines, same=Sameness()
        )
        return self.change(entity, by_rules, also)

    def change(self, entity: Owner, make: Callable[[Profile | None], Merge], also: Also | None = None) -> Merge:
        """Write what `make` makes of the profile; it is called again where the file was edited meanwhile.

        Raises:
            StoreError: the file cannot be written, or what was made fails its check.
            ConflictError: somebody edits the file again and again.
        """
        with self._lock(entity):
            for attempt in range(ATTEMPTS):
                try:
                    return self._change_once(entity, make, also)
                except ConflictError:
                    if attempt == ATTEMPTS - 1:
                        raise
        raise AssertionError

    def restore(self, entity: Owner, revision: str) -> Profile:
        """Make a kept version the present one, file, provenance and search rows together; see `ProfileStore.restore`.

        Raises:
            NotFoundError: no such version is kept.
            StoreError: it is unreadable, or the file cannot be written.
            ConflictError: the file was edited at this moment.
        """
        with self._lock(entity):
            profile = self._store.restore(entity, revision)
            self._discard(self._index.refresh(entity, profile, profile.digest))
        return profile

    def purge(self, entity: Owner, clean: Clean, clean_version: Clean) -> tuple[bool, int]:
        """Purge the file and its versions (see `ProfileStore.purge`), and the search rows with it."""
        with self._lock(entity):
            done = self._store.purge(entity, clean, clean_version)
        self.read(entity)
        return done

    def remove(self, entity: Owner) -> int:
        """Remove a profile with all its versions and search rows; return how many files that were."""
        with self._lock(entity):
            removed = self._store.remove(entity)
            self._discard(self._index.refresh(entity, None, None))
        return removed

    def notice_hand_edits(self) -> int:
        """Take in every file that a person changed, and return how many there were."""
        changed = [entity for entity in self._store.list() if self._store.digest(entity) != self._index.digest(entity)]
        for entity in changed:
            self.read(entity)
        return len(changed)

    def _change_once(self, entity: Owner, make: Callable[[Profile | None], Merge], also: Also | None) -> Merge:
        profile, warning = self._store.read_or_recover(entity)
        if warning is not None:
            log.warning("%s", warning)
        merge = make(profile)
        for drop in merge.dropped:
            log.info("left out of a profile: %s", drop.reason)
        digest = profile.digest if profile is not None else self._store.digest(entity)
        if merge.profile.lines or profile is not None:
            digest = self._store.write(merge.profile, expected=digest)
        with self._index.transaction():
            gone = self._index.refresh(entity, merge.profile, digest, is_written=digest is not None)
            if also is not None:
                also(digest or "", merge)
        self._discard(gone)
        return merge

    def _lock(self, entity: Owner) -> threading.Lock:
        with self._guard:
            return self._locks[entity]
