"""Taking forgotten events out of profiles, the present ones and every version that is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from historian.errors import StoreError
from historian.forget_cascade import Consequences, EventKey
from historian.forget_lines import LineSearch
from historian.forget_reviews import Quotes, home_key
from historian.forget_texts import only_there, told
from historian.model import Owner
from historian.profile import Profile, ProfileLine, Prose
from historian.profile_text import format_file, parse

Texts = Callable[[EventKey], str | None]
"""Gives the present text of an event that stays."""


@dataclass(slots=True)
class Cleaned:
    """What became of the profiles: lines and versions that were changed or removed, and the texts that went.

    `gone` are those of `texts` that no other text took the place of.
    """

    entities: set[Owner] = field(default_factory=set[Owner])
    lines: int = 0
    rewritten: int = 0
    versions: int = 0
    texts: set[tuple[Owner, str]] = field(default_factory=set[tuple[Owner, str]])
    gone: set[tuple[Owner, str]] = field(default_factory=set[tuple[Owner, str]])


class ProfileCleaner:
    """Knows what is forgotten, and takes it out of one profile after the other."""

    def __init__(self, found: Consequences, text_of: Texts, search: LineSearch) -> None:
        self._found = found
        self._text_of = text_of
        self._search = search
        self._ids = {event_id for _, event_id in found.gone}
        self._old = [*found.gone.values(), *(one.before for one in found.rewritten)]
        self.cleaned = Cleaned()

    def clean(self, profile: Profile) -> Profile:
        """Return a profile without what is forgotten; the same value where it has nothing of it."""
        retiring: list[str] = [*profile.retired]
        parts = tuple(part for old in profile.parts if (part := self._part(profile.entity, old, retiring)) is not None)
        retired = tuple(event for event in dict.fromkeys(retiring) if event not in self._ids)
        profile = self._search.without_labels(profile)
        source = None if profile.source_event_id in self._ids else profile.source_event_id
        if parts == profile.parts and retired == profile.retired and source == profile.source_event_id:
            return profile
        return replace(profile, parts=parts, retired=retired, source_event_id=source)

    def _part(self, entity: Owner, part: ProfileLine | Prose, retiring: list[str]) -> ProfileLine | Prose | None:
        """Return what is left of a part. The events of a line that a human worded go with it, into `retiring`."""
        if isinstance(part, Prose):
            left = self._search.without(entity, part)
            self.cleaned.lines += _count_lines(part) - _count_lines(left)
            return left
        home = home_key(entity, part.shown_in)
        gone = [event for event in part.events if (home, event) in self._found.gone]
        kept = [event for event in part.events if (home, event) not in self._found.gone]
        meant = self._search.means(entity, part)
        if not meant and not gone and not any((home, event) in self._found.changed for event in kept):
            return part
        texts = [text for event in kept if (text := self._text_of((home, event))) is not None]
        if not texts or (meant and part.hand_written):
            retiring += kept
            self.cleaned.lines += 1
            self.cleaned.texts.add((entity, part.text))
            self.cleaned.gone.add((entity, part.text))
            return None
        old = [self._found.gone[home, event] for event in gone]
        old += [one.before for event in kept if (one := self._found.changed.get((home, event))) is not None]
        line = replace(part, events=tuple(kept), confirmed=max(len(kept), part.confirmed - len(gone)))
        if not meant and not only_there(old, texts) & told(part.text):
            return line
        self.cleaned.rewritten += 1
        self.cleaned.texts.add((entity, part.text))
        return replace(line, text=texts[-1], source="")

    def clean_bytes(self, entity: Owner, data: bytes) -> bytes | None:
        """Return the bytes of a file without what is forgotten, the same ones where it has nothing of it.

        None where it cannot be read as a profile and holds the text of a forgotten event: it cannot be kept. Of such a
        file the lines go that a search means.
        """
        try:
            profile = parse(data, entity)
        except StoreError:
            text = data.decode("utf-8", "replace")
            return None if any(old in text for old in self._lines()) else self._search.cut(entity, data)
        cleaned = self.clean(profile)
        return data if cleaned is profile else format_file(cleaned)

    def clean_version(self, entity: Owner, data: bytes) -> bytes | None:
        """Return what `clean_bytes` does of an earlier version, whose lines are not counted once more."""
        lines, rewritten = self.cleaned.lines, self.cleaned.rewritten
        try:
            return self.clean_bytes(entity, data)
        finally:
            self.cleaned.lines, self.cleaned.rewritten = lines, rewritten

    def _lines(self) -> set[str]:
        """Return every text that forgotten events had, as they may stand in a line."""
        return _lines_of(self._old)

    def says(self, entity: Owner, text: str, profile: Profile | None) -> bool:
        """Say whether a text about a profile says what is forgotten and nothing in the profile says any more."""
        if (entity, text) in self.cleaned.texts or text in self._lines() or self._search.means_text(entity, text):
            return True
        kept = [line.text for line in profile.lines] if profile is not None else []
        return bool(only_there(self._old, kept) & told(text))

    def quoting(self, entity: Owner, place: str, kept: Sequence[str]) -> Quotes:
        """Return what says whether a text about a profile, shown in one place, says what is forgotten.

        What the `kept` texts of that place say too is no trace of it.
        """
        home = home_key(entity, place)
        old = [text for (owner, _), text in self._found.gone.items() if owner == home]
        old += [one.before for (owner, _), one in self._found.changed.items() if owner == home]
        foreign, lines, known = only_there(old, kept), _lines_of(old), frozenset(kept)

        def quotes(text: str) -> bool:
            went = text not in known and (text in lines or (entity, text) in self.cleaned.texts)
            return went or self._search.means(entity, ProfileLine(text, shown_in=place)) or bool(foreign & told(text))

        return quotes


def _count_lines(prose: Prose | None) -> int:
    return 0 if prose is None else sum(bool(line.strip()) for line in prose.text.split("\n"))


def _lines_of(texts: Iterable[str]) -> set[str]:
    return {line for text in texts for line in text.split("\n") if line}
