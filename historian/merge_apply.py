"""Carrying out a plan on a profile as it stands now, which a person may have edited since the plan was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from historian.bullets import one_line
from historian.errors import StoreError
from historian.merge import (
    MAX_RETIRED,
    OVER_LIMIT,
    Drop,
    Merge,
    Statement,
    first_said,
    learn_name,
    merge_offline,
    over_limit,
    refusal,
    said_again,
    verify,
)
from historian.merge_plan import PASSING, Addition, Change, Plan
from historian.merge_reading import MAX_TAGS
from historian.model import Owner
from historian.profile import Profile, ProfileLine

FORCED = frozenset({"more than half of the lines vanished", "a line gives orders"})
"""What a person may accept."""


@dataclass(slots=True)
class _Work:
    """Carrying out under way. Lines that go become None, so that indexes stay."""

    plan: Plan
    lines: list[ProfileLine | None]
    statements: Mapping[str, Statement]
    same: Callable[[str, str], bool]
    placed: set[str] = field(default_factory=set[str])
    retired: list[str] = field(default_factory=list[str])
    dropped: list[Drop] = field(default_factory=list[Drop])

    def at(self, text: str, *, alike: bool = False) -> int | None:
        """Return where the line of this text stands in the place of the plan, or one that says the same."""
        for index, line in enumerate(self.lines):
            if line is not None and line.shown_in == self.plan.place and line.text == text:
                return index
        if alike:
            for index, line in enumerate(self.lines):
                if line is not None and line.shown_in == self.plan.place and self.same(line.text, text):
                    return index
        return None

    def confirm(self, index: int, events: Iterable[str]) -> None:
        """Add statements to a line."""
        line = self.lines[index]
        for event in events:
            if line is not None and event in self.statements and event not in line.events:
                line, overflow = said_again(line, self.statements[event])
                self.retired += overflow
        self.lines[index] = line


def carry_out(
    profile: Profile | None,
    plan: Plan,
    statements: Sequence[Statement],
    *,
    entity: Owner,
    max_lines: int,
    same: Callable[[str, str], bool],
    forced: bool = False,
) -> Merge:
    """Return the profile with the plan carried out; the same plan again changes nothing.

    A line that is not there any more as it was stays as the person wrote it, and what should have become of it is
    merged by rules: no statement is lost. With `forced`, more than half may go and lines may give orders.

    Raises:
        StoreError: the result failed its check (`verify`); nothing should be written.
    """
    before = profile or Profile(entity.kind, entity.id)
    fresh = {one.event_id: one for one in statements if one.event_id not in before.events}
    if not fresh and statements:
        return Merge(before)
    work = _Work(plan, [*before.lines], fresh, same)
    for change in sorted(plan.changes, key=lambda one: one.action == "remove"):  # what covers a line must be there
        _change(work, change)
    for addition in plan.additions:
        _add(work, addition)
    for event in plan.passing:
        if event in fresh and event not in work.placed:
            work.placed.add(event)
            work.retired.append(event)
            work.dropped.append(Drop(fresh[event].text, PASSING))
    return _finished(before, work, entity=entity, max_lines=max_lines, forced=forced)


def _change(work: _Work, change: Change) -> None:
    index = work.at(change.line)
    line = work.lines[index] if index is not None else None
    if index is None or line is None or (line.hand_written and change.action != "confirm"):
        return
    if change.action == "remove":
        heir = work.at(work.plan.text_of(change.covered_by)) if change.covered_by else None
        if change.covered_by and (heir is None or heir == index):
            return
        work.retired += [event for event in change.events if event in work.statements]
        if heir is not None:
            _inherit(work, heir, line)
        else:
            work.retired += line.events
        work.lines[index] = None
        work.dropped.append(Drop(line.text, change.reason))
    elif change.action == "update":
        other = work.at(change.text, alike=True)
        if other is not None and other != index:
            _inherit(work, other, line)
            work.lines[index] = None
            work.dropped.append(Drop(line.text, change.reason or "another line says it"))
            index = other
        else:
            work.lines[index] = replace(line, text=change.text, source="")
            work.dropped.append(Drop(line.text, change.reason or "it was said anew"))
        work.confirm(index, change.events)
    else:
        work.confirm(index, change.events)
    work.placed.update(change.events)


def _add(work: _Work, addition: Addition) -> None:
    events = [event for event in addition.events if event in work.statements]
    if not events:
        return
    text = one_line(addition.text)
    index = work.at(text, alike=True)
    if index is None:
        index = len(work.lines)
        work.lines.append(first_said(text, work.statements[events[0]]))
        events = events[1:]
    work.confirm(index, events)
    work.placed.update(addition.events)


def _inherit(work: _Work, heir: int, gone: ProfileLine) -> None:
    """Leave the receipts of a line that goes to the one that says it too."""
    line = work.lines[heir]
    if line is None:
        return
    new = [event for event in gone.events if event not in line.events]
    instants = [at for one in (line, gone) for at in (one.first_seen, one.last_seen) if at is not None]
    work.lines[heir] = replace(
        line,
        events=(*line.events, *new),
        confirmed=line.confirmed + gone.confirmed,
        first_seen=min(instants, default=None),
        last_seen=max(instants, default=None),
    )


def _finished(before: Profile, work: _Work, *, entity: Owner, max_lines: int, forced: bool) -> Merge:
    lines = [line for line in work.lines if line is not None]
    known_as, name = dict(before.known_as), before.name
    for statement in work.statements.values():
        name = learn_name(known_as, name, statement)
    placed = [work.statements[event] for event in work.statements if event in work.placed]
    after = replace(
        before.with_lines(lines),
        name=name,
        known_as=tuple(known_as.items()),
        tags=_tags(before, lines, work.plan.tags),
        retired=_retired(before.retired, work.retired, lines),
        source_event_id=placed[-1].event_id if placed else before.source_event_id,
    )
    left = [one for event, one in work.statements.items() if event not in work.placed and not refusal(one.text)]
    rest = merge_offline(after, left, entity=entity, max_lines=max_lines, same=work.same)
    merge = _trimmed(rest.profile, (*work.dropped, *rest.dropped), max_lines)
    problems = [p for p in verify(before, merge.profile, merge.dropped, entity=entity) if not forced or p not in FORCED]
    if problems:
        raise StoreError(f"The merged profile failed its check and was not kept: {'; '.join(problems)}.")
    return merge


def _trimmed(profile: Profile, dropped: Sequence[Drop], max_lines: int) -> Merge:
    gone = over_limit(profile.lines, max_lines)
    if not gone:
        return Merge(profile, dropped=tuple(dropped))
    lost = [profile.lines[index] for index in sorted(gone)]
    kept = [line for index, line in enumerate(profile.lines) if index not in gone]
    retired = _retired(profile.retired, [event for line in lost for event in line.events], kept)
    slim = replace(profile.with_lines(kept), retired=retired)
    return Merge(slim, dropped=(*dropped, *(Drop(line.text, OVER_LIMIT) for line in lost)))


def _retired(old: Sequence[str], new: Iterable[str], lines: Iterable[ProfileLine]) -> tuple[str, ...]:
    """Return the events that must not come back and stand in no line, the newest of them."""
    shown = {event for line in lines for event in line.events}
    return tuple(event for event in dict.fromkeys((*old, *new)) if event not in shown)[-MAX_RETIRED:]


def _tags(before: Profile, lines: Sequence[ProfileLine], new: Sequence[str]) -> tuple[str, ...]:
    """Return the present tags and then new ones; where they are too many, present ones go that stand in no line."""
    if not new:
        return before.tags
    wanted = {tag.casefold() for tag in new}
    body = "\n".join(line.text for line in lines).casefold()
    room = MAX_TAGS - len(before.tags)
    fresh = [tag for tag in new if tag.casefold() not in {known.casefold() for known in before.tags}]
    stale = [tag for tag in before.tags if tag.casefold() not in wanted and tag.casefold() not in body]
    leaving = stale[: max(0, len(fresh) - room)]
    kept = [tag for tag in before.tags if tag not in leaving]
    return (*kept, *fresh[: max(0, MAX_TAGS - len(kept))])
