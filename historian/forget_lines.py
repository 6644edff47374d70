"""What a search means of profiles by itself: lines and other texts that say what is sought, whoever wrote them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from historian.errors import StoreError
from historian.forget_selection import Selection
from historian.messages import epoch_ms
from historian.model import Owner, Scope
from historian.profile import Profile, ProfileLine, Prose
from historian.profile_index import line_audiences
from historian.profiles import ProfileStore


class LineSearch:
    """Knows what a selection seeks in profiles, within what the scope may read. Ids and conversations mean no lines."""

    def __init__(self, scope: Scope, selection: Selection) -> None:
        self._scope = scope
        self._reach = scope.reach()
        self._selection = selection
        self._seeks = bool(selection.query) and selection.conversation_id is None

    def means(self, entity: Owner, line: ProfileLine) -> bool:
        """Say whether a line is meant. One of an unknown time lies in no time range."""
        if not self._seeks or self._reach.isdisjoint(line_audiences(entity, line.shown_in)):
            return False
        seen = line.last_seen
        is_then = self._selection.is_at_any_time if seen is None else self._selection.covers_time(epoch_ms(seen))
        return is_then and self._selection.fits(line.text)

    def means_text(self, entity: Owner, text: str) -> bool:
        """Say whether a text without provenance is meant, which belongs to the home of the entity."""
        is_here = self._seeks and self._selection.is_at_any_time and entity.key in self._reach
        return is_here and self._selection.fits(text)

    def without(self, entity: Owner, prose: Prose) -> Prose | None:
        """Return what a human wrote around the lines without those of its lines that are meant."""
        said = prose.text.split("\n")
        kept = [line for line in said if not self.means_text(entity, line)]
        if len(kept) == len(said):
            return prose
        return Prose("\n".join(kept)) if any(line.strip() for line in kept) else None

    def without_labels(self, profile: Profile) -> Profile:
        """Return a profile without the tags, and the keys of a human, that are meant; the same value where none is."""
        entity = profile.entity
        tags = tuple(tag for tag in profile.tags if not self.means_text(entity, tag))
        extra = {key: value for key, value in profile.extra.items() if not self.means_text(entity, f"{key}: {value}")}
        if len(tags) == len(profile.tags) and len(extra) == len(profile.extra):
            return profile
        return replace(profile, tags=tags, extra=extra)

    def cut(self, entity: Owner, data: bytes) -> bytes:
        """Return the bytes of a file that is no profile without the lines that are meant."""
        lines = data.split(b"\n")
        return b"\n".join(line for line in lines if not self.means_text(entity, line.decode("utf-8", "replace")))

    def find(self, profiles: ProfileStore) -> set[tuple[str, str]]:
        """Return the texts in present profiles that are meant, each with the key of its entity."""
        found: set[tuple[str, str]] = set()
        for entity in self._entities(profiles):
            try:
                profile = profiles.read(entity)
            except StoreError:
                continue
            for part in profile.parts if profile is not None else ():
                if isinstance(part, ProfileLine):
                    meant = [part.text] if self.means(entity, part) else []
                else:
                    meant = [line for line in part.text.split("\n") if self.means_text(entity, line)]
                found.update((entity.key, text) for text in meant)
        return found

    def _entities(self, profiles: ProfileStore) -> Iterable[Owner]:
        """Return whose profiles may hold lines that can be read here: in private one's own only."""
        if not self._seeks:
            return ()
        return (self._scope.owner,) if self._scope.group_id is None else profiles.list()
