"""Looking after the profile files: that they can be read, and that search sees what stands in them."""

from __future__ import annotations

from historian.biographer import Biographer
from historian.errors import InvalidInputError, StoreError
from historian.finding import Finding
from historian.model import Owner
from historian.profile import Profile
from historian.profile_index import ProfileIndex
from historian.profiles import ProfileStore


class ProfilesCheck:
    """Every file is a profile, and every line of it a search row. A broken file is reported and left as it is."""

    name = "profiles"

    def __init__(self, store: ProfileStore, index: ProfileIndex, biographer: Biographer) -> None:
        self._store = store
        self._index = index
        self._biographer = biographer

    def find(self, *, fix: bool) -> list[Finding]:
        """Return what is wrong with the files. Nothing here needs to be mended at once."""
        del fix
        found = [
            Finding(self.name, "error", f"A profile file called {name} names nobody; put its entity_id at its top.")
            for name in self._store.strangers()
        ]
        for entity in self._entities():
            found += self._look_at(entity)
        return found

    def mend(self) -> None:
        """Make the search rows of each profile anew where they differ. Raises StoreError."""
        for entity in self._entities():
            if any(finding.fixable for finding in self._look_at(entity)):
                self._index.forget(entity)
                self._biographer.read(entity)

    def _entities(self) -> list[Owner]:
        return [*dict.fromkeys([*self._store.list(), *self._index.entities()])]

    def _look_at(self, entity: Owner) -> list[Finding]:
        try:
            profile, broken = self._store.read(entity), None
        except (StoreError, InvalidInputError) as error:
            profile, broken = None, str(error)
        if broken is not None:
            sentence = f"The profile of {entity.key} is broken, and its last good version is used: {broken}"
            return [Finding(self.name, "error", sentence)]
        if not self._agrees(entity, profile):
            return [Finding(self.name, "warning", f"Search does not see the profile of {entity.key} as it is.", True)]
        return []

    def _agrees(self, entity: Owner, profile: Profile | None) -> bool:
        lines = {line.key for line in profile.lines} if profile else set[tuple[str, str]]()
        return self._index.digest(entity) == self._store.digest(entity) and self._index.keys(entity) == lines
