"""The versions of a profile: what each one said, what became of it, and going back to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff

from historian.biographer import Biographer
from historian.errors import NotFoundError, StoreError
from historian.model import Owner
from historian.profile import Profile
from historian.profile_drops import NotedDrop, ProfileDrops
from historian.profiles import ProfileStore
from historian.revisions import Revision

NO_VERSION = "There is no earlier version of this profile that differs from it; one is kept before each change."
UNREADABLE = "This version was a broken edit and is not readable as a profile; look at its file in the history folder."
REASONS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Version:
    """A kept version. `diff` is what changed from it to the next newer one, as lines of a unified diff."""

    revision: str
    kept_at: datetime
    readable: bool
    lines: int
    diff: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class History:
    """The kept versions of a profile, newest first, and why lines are not in it, newest first."""

    entity: Owner
    versions: tuple[Version, ...]
    drops: tuple[NotedDrop, ...]


@dataclass(frozen=True, slots=True)
class Rollback:
    """What going back changed. `undo` is the revision that holds what was there before; None where nothing changed."""

    entity: Owner
    revision: str
    profile: Profile
    diff: tuple[str, ...]
    undo: str | None


@dataclass(frozen=True, slots=True)
class ProfileVersions:
    """Reads the history of any profile and goes back in it. Thread-safe. Whose it may be is the caller's business.

    `changed` is called after a change, so that vectors follow at once.
    """

    biographer: Biographer
    store: ProfileStore
    drops: ProfileDrops
    changed: Callable[[], None]

    def history(self, entity: Owner) -> History:
        """Return the kept versions."""
        newer, _ = self.biographer.read(entity)
        versions: list[Version] = []
        for revision in self.store.history(entity):
            profile = self._read(entity, revision)
            diff = difference(profile, newer) if profile is not None else ()
            lines = len(profile.lines) if profile is not None else 0
            versions.append(Version(revision.name, revision.kept_at, revision.readable, lines, diff))
            newer = profile if profile is not None else newer
        return History(entity, tuple(versions), tuple(self.drops.of(entity, REASONS_SHOWN)))

    def show(self, entity: Owner, revision: str = "") -> Profile | None:
        """Return a version, or the present profile where none is named.

        Raises:
            NotFoundError: no such version is kept.
            StoreError: it is unreadable.
        """
        return self._version(entity, revision) if revision else self.biographer.read(entity)[0]

    def diff(self, entity: Owner, revision: str = "") -> tuple[str, ...]:
        """Return what changed from a version, by default the newest, to the present profile. Raises as `show`."""
        earlier = self._version(entity, revision or self._newest(entity))
        return difference(earlier, self.biographer.read(entity)[0])

    def rollback(self, entity: Owner, revision: str = "") -> Rollback:
        """Make a version, by default the newest, the present one; what was there before becomes a revision.

        Raises:
            NotFoundError: no such version is kept.
            StoreError: it is unreadable, or the file cannot be written.
            ConflictError: the file was edited at this moment.
        """
        chosen = revision or self._newest(entity)
        self._version(entity, chosen)
        before, _ = self.biographer.read(entity)
        known = {one.name for one in self.store.history(entity)}
        profile = self.biographer.restore(entity, chosen)
        self.changed()
        kept = [one.name for one in self.store.history(entity) if one.readable and one.name not in known]
        return Rollback(entity, chosen, profile, difference(before, profile), kept[0] if kept else None)

    def _version(self, entity: Owner, revision: str) -> Profile:
        try:
            return self.store.read_revision(entity, revision)
        except StoreError:
            if any(one.name == revision and not one.readable for one in self.store.history(entity)):
                raise StoreError(UNREADABLE) from None
            raise

    def _newest(self, entity: Owner) -> str:
        """Return the newest version that says something else than the present one; some say the same."""
        present, _ = self.biographer.read(entity)
        for revision in self.store.history(entity):
            profile = self._read(entity, revision)
            if profile is not None and (present is None or _sayings(profile) != _sayings(present)):
                return revision.name
        raise NotFoundError(NO_VERSION)

    def _read(self, entity: Owner, revision: Revision) -> Profile | None:
        try:
            return self.store.read_revision(entity, revision.name)
        except (StoreError, NotFoundError):
            return None


def difference(earlier: Profile | None, later: Profile | None) -> tuple[str, ...]:
    """Return how two versions differ in name, tags and text, as lines of a unified diff without its head."""
    lines = [*unified_diff(_described(earlier), _described(later), lineterm="", n=0)][2:]
    return tuple(line for line in lines if not line.startswith("@@"))


def _sayings(profile: Profile) -> tuple[object, ...]:
    return profile.name, profile.known_as, profile.tags, profile.parts


def _described(profile: Profile | None) -> Sequence[str]:
    if profile is None:
        return ()
    tags = [f"tags: {', '.join(profile.tags)}"] if profile.tags else []
    name = [f"name: {profile.name}"] if profile.name else []
    return [*name, *tags, *(line for line in profile.render().splitlines() if line.strip())]
