"""Lets profile lines follow their events: a line that said what an event said before says what it says now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from historian.amendments import Amendments, Restated
from historian.biographer import Biographer
from historian.bullets import one_line
from historian.errors import StoreError
from historian.events import EventStore
from historian.injection import looks_like_instruction
from historian.merge import MAX_LINE_LENGTH, Drop, Merge, verify
from historian.model import Event, Owner
from historian.pinned import PinnedStore
from historian.profile import PRIVATE, Profile, ProfileLine
from historian.sameness import same_statement

SAID_BETTER = "another line says it better"
AT_ONCE = 100
"""Events whose lines are looked after at a time."""


@dataclass(frozen=True, slots=True)
class LineKeeper:
    """Carries restated events into profiles. Idempotent: what was carried once changes nothing again. Thread-safe."""

    amendments: Amendments
    events: EventStore
    biographer: Biographer
    pinned: PinnedStore

    def carry(self) -> int:
        """Let the lines of all restated events follow, and return how many events that were.

        Raises:
            StoreError, ConflictError: a profile cannot be written; its events are carried next time.
        """
        lagging = self.amendments.lagging(AT_ONCE)
        for restated in lagging:
            self._carry(restated)
            self.amendments.carried(restated.event)
        return len(lagging)

    def stands(self, owner: Owner, into: Sequence[tuple[Owner, str]], text: str, event_id: str | None) -> bool:
        """Say whether `text` is kept now: each of these profiles says it, a pinned note does, or a memo.

        A profile says it too in a line whose last receipt is the event.

        Raises:
            StoreError: a profile cannot be read.
        """
        earlier = self.events.named(owner, event_id) if event_id is not None else None
        if earlier is not None and not earlier.has_new_info:
            return True
        if any(same_statement(note.text, text) for note in self.pinned.list(owner)):
            return True
        return all(self._says(entity, shown_in, text, event_id) for entity, shown_in in into)

    def _says(self, entity: Owner, shown_in: str, text: str, event_id: str | None) -> bool:
        profile, _ = self.biographer.read(entity)
        return profile is not None and any(
            same_statement(line.text, text) or (event_id is not None and line.events[-1:] == (event_id,))
            for line in profile.lines
            if line.shown_in == shown_in
        )

    def _carry(self, restated: Restated) -> None:
        event = restated.event
        earlier = self.events.named(event.owner, event.same_as) if event.same_as is not None else None
        text = one_line((earlier or event).text)
        if text == one_line(restated.before) or not text or len(text) > MAX_LINE_LENGTH or looks_like_instruction(text):
            return
        for entity, shown_in in targets(event):
            change = partial(
                reworded, entity=entity, event_id=event.event_id, before=restated.before, text=text, shown_in=shown_in
            )
            profile, _ = self.biographer.read(entity)
            if profile is not None and change(profile).confirmed:
                self.biographer.change(entity, change)


def targets(event: Event) -> list[tuple[Owner, str]]:
    """Return the profiles that an event belongs into, each with where its line may be shown."""
    return places(event.group_id, event.sender_id or event.user_id, event.user_id)


def places(group_id: str | None, sender_id: str, user_id: str) -> list[tuple[Owner, str]]:
    """Return the profiles into which a statement belongs, each with where its line may be shown.

    In private that is the profile of the user, in a group those of the speaker and of the group.
    """
    if group_id is None:
        return [(Owner("user", user_id), PRIVATE)]
    group = Owner("group", group_id)
    return [(Owner("user", sender_id), group.key), (group, group.key)]


def reworded(profile: Profile | None, *, entity: Owner, event_id: str, before: str, text: str, shown_in: str) -> Merge:
    """Return the profile with `text` in the line that rests on the event and said `before`; its receipts stay.

    A line that says `text` already takes the receipts over. What a person wrote, and lines that a model composed, stay.

    Raises:
        StoreError: the result failed its check.
    """
    found = profile or Profile(entity.kind, entity.id)
    old = next(
        (
            line
            for line in found.lines
            if event_id in line.events
            and line.text == one_line(before)
            and line.shown_in == shown_in
            and not line.hand_written
        ),
        None,
    )
    if old is None:
        return Merge(found)
    heir = next((line for line in found.lines if line.text == text and line.shown_in == shown_in), None)
    new = _joined(heir, old) if heir is not None else replace(old, text=text, source="")
    lines = [new if line is (heir or old) else line for line in found.lines if heir is None or line is not old]
    dropped = (Drop(old.text, SAID_BETTER),) if heir is not None else ()
    merge = Merge(found.with_lines(lines), confirmed=(new,), dropped=dropped)
    problems = verify(found, merge.profile, dropped, entity=entity)
    if problems:
        raise StoreError(f"The reworded profile failed its check and was not kept: {'; '.join(problems)}.")
    return merge


def _joined(heir: ProfileLine, old: ProfileLine) -> ProfileLine:
    events = tuple(dict.fromkeys([*heir.events, *old.events]))
    first = [at for at in (heir.first_seen, old.first_seen) if at is not None]
    last = [at for at in (heir.last_seen, old.last_seen) if at is not None]
    return replace(
        heir,
        events=events,
        confirmed=heir.confirmed + old.confirmed,
        first_seen=min(first, default=None),
        last_seen=max(last, default=None),
    )
