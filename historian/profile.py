"""What is known about one person or group: lines with their receipts, and whatever a human wrote around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias

from historian.bullets import bullet, bullet_text, one_line
from historian.model import EntityType, Owner

PRIVATE = "private"
"""Where a line may be shown that was said in private: to that person only. Otherwise it is `group:<id>`."""


def home_of(entity: Owner) -> str:
    """Return where hand-written text about `entity` may be shown: in private for a user, in itself for a group."""
    return PRIVATE if entity.kind == "user" else entity.key


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """One statement, always on one line, and what it rests on.

    `events` are opaque ids, first one first. `confirmed` counts the events that said it. `source` is the Markdown as a
    person wrote it, kept while it still says `text`; it does not take part in comparisons.
    """

    text: str
    events: tuple[str, ...] = ()
    shown_in: str = PRIVATE
    confirmed: int = 0
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    hand_written: bool = False
    source: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", one_line(self.text))

    @property
    def key(self) -> tuple[str, str]:
        """What makes it this line: its text and where it may be shown."""
        return (self.text, self.shown_in)

    def render(self) -> str:
        """Return it as a Markdown bullet."""
        return self.source if self.source and bullet_text(self.source) == self.text else bullet(self.text)


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown that is no statement: headings, paragraphs and blank lines of a human, kept as they are."""

    text: str


Part: TypeAlias = ProfileLine | Prose


@dataclass(frozen=True, slots=True)
class Profile:
    """All that is known about one entity.

    `parts` holds lines and prose in their order. `known_as` has the name used in each place (private, or a group), so
    that a group is not told a name it never heard. `retired` are event ids that must not come back. `extra` are
    frontmatter keys of a human. `digest` is that of the file text it was read from, for `ProfileStore.write`.
    """

    entity_type: EntityType
    entity_id: str
    name: str | None = None
    tags: tuple[str, ...] = ()
    updated_at: datetime | None = None
    source_event_id: str | None = None
    parts: tuple[Part, ...] = ()
    known_as: tuple[tuple[str, str], ...] = ()
    retired: tuple[str, ...] = ()
    extra: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    digest: str | None = field(default=None, compare=False)

    @property
    def entity(self) -> Owner:
        """Whom it is about."""
        return Owner(self.entity_type, self.entity_id)

    @property
    def lines(self) -> tuple[ProfileLine, ...]:
        """The statements, in their order."""
        return tuple(part for part in self.parts if isinstance(part, ProfileLine))

    @property
    def events(self) -> frozenset[str]:
        """The ids of all events it has seen: those of its lines and the retired ones."""
        return frozenset(self.retired).union(*(line.events for line in self.lines))

    def with_lines(self, lines: Iterable[ProfileLine]) -> Profile:
        """Return it with these lines instead of its own, all prose kept in place.

        A line of the same key stays where it was; a reworded one takes the place of the vanished line with which it
        shares an event; the others go behind the last line.
        """
        kept, fresh = _sorted_out(self.lines, lines)
        parts: list[Part] = []
        for part in self.parts:
            if isinstance(part, Prose):
                parts.append(part)
            elif waiting := kept.get(part.key):
                parts.append(waiting.pop(0))
            else:
                heirs = [line for line in fresh if set(line.events) & set(part.events)]
                parts.extend(heirs)
                fresh = [line for line in fresh if line not in heirs]
        fresh += [line for waiting in kept.values() for line in waiting]
        return replace(self, parts=_appended(parts, fresh))

    def visible(self, shown_in: frozenset[str] | None) -> Profile:
        """Return what may be shown in these places; None means all of it.

        What a human wrote without provenance (prose, tags, other keys) belongs to the home of the entity: private for
        a user. Ids and instants of anything hidden are left out too.
        """
        if shown_in is None:
            return self
        at_home = home_of(self.entity) in shown_in
        parts = tuple(p for p in self.parts if (p.shown_in in shown_in if isinstance(p, ProfileLine) else at_home))
        known_as = tuple((place, name) for place, name in self.known_as if place in shown_in)
        view = replace(self, parts=parts, known_as=known_as, retired=(), digest=None)
        is_whole = at_home and len(parts) == len(self.parts) and known_as == self.known_as
        instants = [line.last_seen for line in view.lines if line.last_seen is not None]
        return replace(
            view,
            name=self._name_among(known_as, at_home=at_home),
            tags=self.tags if at_home else (),
            extra=self.extra if at_home else MappingProxyType({}),
            updated_at=self.updated_at if is_whole else max(instants, default=None),
            source_event_id=self.source_event_id if self.source_event_id in view.events else None,
        )

    def _name_among(self, known_as: Sequence[tuple[str, str]], *, at_home: bool) -> str | None:
        """Return the name as it is known in some places; one that was heard nowhere was written by hand, at home."""
        names = [name for _, name in known_as]
        is_by_hand = self.name is not None and all(name != self.name for _, name in self.known_as)
        return self.name if self.name in names or (at_home and is_by_hand) else next(iter(names), None)

    def render(self) -> str:
        """Return it as plain Markdown: `# name` unless a human wrote a title, then lines and prose in their order."""
        body = "\n".join(part.render() if isinstance(part, ProfileLine) else part.text for part in self.parts)
        body = body.strip("\n")
        return body if body.startswith("# ") else f"{title(self.entity, self.name)}\n\n{body}".rstrip("\n")


def title(entity: Owner, name: str | None) -> str:
    """Return the heading of a profile: the name, or the id while no name is known."""
    return f"# {one_line(name or '') or one_line(entity.id)}"


def _sorted_out(
    old: Sequence[ProfileLine], new: Iterable[ProfileLine]
) -> tuple[dict[tuple[str, str], list[ProfileLine]], list[ProfileLine]]:
    """Return the new lines whose key was there before, by key, and the others."""
    kept: dict[tuple[str, str], list[ProfileLine]] = {line.key: [] for line in old}
    fresh: list[ProfileLine] = []
    for line in new:
        kept.get(line.key, fresh).append(line)
    return kept, fresh


def _appended(parts: list[Part], lines: Sequence[ProfileLine]) -> tuple[Part, ...]:
    """Return the parts with `lines` behind the last line, so that they do not slip under a human's closing section."""
    last = max((i for i, part in enumerate(parts) if isinstance(part, ProfileLine)), default=None)
    at = len(parts) if last is None else last + 1
    gap: list[Part] = []
    if lines and last is None and parts and parts[-1] != Prose(""):
        gap = [Prose("")]
    return _joined([*parts[:at], *gap, *lines, *parts[at:]])


def _joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts with neighbouring prose made one, as reading the text would."""
    joined: list[Part] = []
    for part in parts:
        before = joined[-1] if joined else None
        if isinstance(part, Prose) and isinstance(before, Prose):
            joined[-1] = Prose(f"{before.text}\n{part.text}")
        else:
            joined.append(part)
    return tuple(joined)
