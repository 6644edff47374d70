"""The merge by rules: new statements into a profile, without a model, without a clock, without a disk."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple

from historian.bullets import one_line
from historian.errors import InvalidInputError, StoreError
from historian.injection import looks_like_instruction
from historian.model import Owner
from historian.profile import Profile, ProfileLine

MAX_LINE_LENGTH = 2000
"""Characters of one statement; a longer one stays an event only."""
MAX_NAME_LENGTH = 128
MAX_EVENTS_PER_LINE = 64
"""Receipts on one line: the first, and the newest. The others are remembered as seen."""
MAX_RETIRED = 1000
"""Event ids remembered as seen without a line; the oldest are forgotten, long after any job could repeat them."""

_DAYS_PER_DOUBLING = 90
_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)

EMPTY = "it says nothing"
TOO_LONG = f"it is longer than {MAX_LINE_LENGTH} characters"
INSTRUCTION = "it gives orders to a model instead of stating something"
SECOND_OF_EVENT = "another statement of the same event was taken"
OVER_LIMIT = "the profile is full and this was the oldest and least confirmed"


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence to be merged. `shown_in` is "private" or `group:<id>`; `name` is the entity's, where known."""

    text: str
    event_id: str
    shown_in: str
    said_at: datetime
    name: str | None = None


class Drop(NamedTuple):
    """A statement or line that is not in the merged profile, and why, as a clause."""

    line: str
    reason: str


@dataclass(frozen=True, slots=True)
class Merge:
    """A merged profile and what happened: lines that are new, lines said again, and what was left out."""

    profile: Profile
    added: tuple[ProfileLine, ...] = ()
    confirmed: tuple[ProfileLine, ...] = ()
    dropped: tuple[Drop, ...] = ()


@dataclass(slots=True)
class _Draft:
    """The merge under way. Indexes of `lines` do not move: only at the end are lines left out."""

    profile: Profile
    lines: list[ProfileLine]
    seen: set[str]
    known_as: dict[str, str]
    retired: list[str]
    name: str | None
    taken: dict[str, str] = field(default_factory=dict)
    new: set[int] = field(default_factory=set)
    touched: set[int] = field(default_factory=set)
    dropped: list[Drop] = field(default_factory=list)


def merge_offline(
    profile: Profile | None,
    statements: Sequence[Statement],
    *,
    entity: Owner,
    max_lines: int = 100,
    same: Callable[[str, str], bool],
) -> Merge:
    """Merge statements into a profile by rules; the same events again change nothing.

    A statement for which `same(line, statement)` holds confirms the line, only among lines of equal `shown_in`; others
    are added at the end. Over `max_lines` the oldest and least confirmed go, a doubling of confirmations counting like
    90 days; hand-written lines never go. The first known name stays.

    Raises:
        InvalidInputError: the profile is of another entity.
        StoreError: the result failed its check (`verify`); nothing should be written.
    """
    if profile is not None and profile.entity != entity:
        raise InvalidInputError("The profile to merge into belongs to another entity; read the right one.")
    before = profile or Profile(entity.kind, entity.id)
    draft = _drafted(before)
    for statement in sorted(statements, key=lambda s: (s.said_at, s.event_id, s.text)):
        _take(draft, statement, same)
    gone = over_limit(draft.lines, max_lines) if draft.taken else set[int]()
    merge = _finished(draft, gone)
    problems = verify(before, merge.profile, merge.dropped, entity=entity)
    if problems:
        raise StoreError(f"The merged profile failed its check and was not kept: {'; '.join(problems)}.")
    return merge


def verify(before: Profile | None, after: Profile, dropped: Iterable[Drop], *, entity: Owner) -> tuple[str, ...]:
    """Return what is wrong with a merge by rules or by a model, as clauses; nothing where it may be written.

    Nothing vanishes without a reason, nothing hand-written vanishes, no event is shown in another place than before,
    no foreign entity, no new line gives orders, and not more than half of the lines is gone, save for the limit.
    """
    old = before.lines if before is not None else ()
    reasons = dict(dropped)
    kept = {line.key for line in after.lines}
    heirs = {(event, line.shown_in) for line in after.lines for event in line.events}
    gone = [line for line in old if line.key not in kept and not any((e, line.shown_in) in heirs for e in line.events)]
    places = {(event, line.shown_in) for line in old for event in line.events}
    placed = {event for event, _ in places}
    shrunk = [line for line in gone if reasons.get(line.text) != OVER_LIMIT]
    known = {line.text for line in old}
    new = [line for line in after.lines if line.text not in known]
    checks = {
        "it is of another entity": after.entity != entity or (before is not None and before.entity != entity),
        "a line vanished without a reason": any(not reasons.get(line.text) for line in gone),
        "a hand-written line vanished": any(line.hand_written and line.key not in kept for line in old),
        "more than half of the lines vanished": 2 * len(shrunk) > len(old) > 1,
        "a line would be shown elsewhere": any(e in placed and (e, p) not in places for e, p in heirs),
        "a line gives orders": any(looks_like_instruction(line.text) for line in new),
    }
    return tuple(problem for problem, wrong in checks.items() if wrong)


def _drafted(profile: Profile) -> _Draft:
    return _Draft(
        profile=profile,
        lines=list(profile.lines),
        seen=set(profile.events),
        known_as=dict(profile.known_as),
        retired=list(profile.retired),
        name=profile.name,
    )


def _take(draft: _Draft, statement: Statement, same: Callable[[str, str], bool]) -> None:
    text = one_line(statement.text)
    if statement.event_id in draft.seen:
        if draft.taken.get(statement.event_id, text) != text:
            draft.dropped.append(Drop(text, SECOND_OF_EVENT))
        return
    reason = refusal(text)
    if reason is not None:
        draft.dropped.append(Drop(text, reason))
        return
    draft.seen.add(statement.event_id)
    draft.taken[statement.event_id] = text
    draft.name = learn_name(draft.known_as, draft.name, statement)
    for at, line in enumerate(draft.lines):
        if line.shown_in == statement.shown_in and (line.text == text or same(line.text, text)):
            draft.lines[at], overflow = said_again(line, statement)
            draft.retired.extend(overflow)
            draft.touched.add(at)
            return
    draft.new.add(len(draft.lines))
    draft.lines.append(first_said(text, statement))


def refusal(text: str) -> str | None:
    """Return why a text can be no line, as a clause, or None."""
    if not text:
        return EMPTY
    if len(text) > MAX_LINE_LENGTH:
        return TOO_LONG
    return INSTRUCTION if looks_like_instruction(text) else None


def learn_name(known_as: dict[str, str], present: str | None, statement: Statement) -> str | None:
    """Note the name in `known_as` and return the name of the profile: the first one stays, in each place too."""
    name = one_line(statement.name or "")
    if not name or len(name) > MAX_NAME_LENGTH or looks_like_instruction(name):
        return present
    known_as.setdefault(statement.shown_in, name)
    return present or name


def first_said(text: str, statement: Statement) -> ProfileLine:
    """Return a new line that rests on one statement."""
    return ProfileLine(text, (statement.event_id,), statement.shown_in, 1, statement.said_at, statement.said_at)


def said_again(line: ProfileLine, statement: Statement) -> tuple[ProfileLine, tuple[str, ...]]:
    """Return the line said once more, and the events it no longer lists."""
    events = (*line.events, statement.event_id)
    surplus = events[1 : len(events) - MAX_EVENTS_PER_LINE + 1] if len(events) > MAX_EVENTS_PER_LINE else ()
    said = statement.said_at
    grown = replace(
        line,
        events=(events[0], *events[1 + len(surplus) :]),
        confirmed=line.confirmed + 1,
        first_seen=said if line.first_seen is None else min(line.first_seen, said),
        last_seen=said if line.last_seen is None else max(line.last_seen, said),
    )
    return grown, surplus


def over_limit(lines: Sequence[ProfileLine], max_lines: int) -> set[int]:
    """Return the indexes of the lines that must go: the oldest and least confirmed, none written by hand."""
    ranked = sorted((i for i, line in enumerate(lines) if not line.hand_written), key=lambda i: (_worth(lines[i]), i))
    return set(ranked[: max(0, len(lines) - max_lines)])


def _worth(line: ProfileLine) -> float:
    """Return the day of the last mention, a doubling of confirmations counting like some days more."""
    seen = line.last_seen or _LONG_AGO
    return (seen - _LONG_AGO).total_seconds() / 86400 + _DAYS_PER_DOUBLING * math.log2(max(1, line.confirmed))


def _finished(draft: _Draft, gone: set[int]) -> Merge:
    lost = [draft.lines[i] for i in sorted(gone)]
    retired = [*draft.retired, *(event for line in lost for event in line.events)]
    if draft.taken:
        profile = replace(
            draft.profile.with_lines(line for i, line in enumerate(draft.lines) if i not in gone),
            name=draft.name,
            known_as=tuple(draft.known_as.items()),
            retired=tuple(dict.fromkeys(retired))[-MAX_RETIRED:],
            source_event_id=next(reversed(draft.taken)),
        )
    else:
        profile = draft.profile
    return Merge(
        profile=profile,
        added=tuple(draft.lines[i] for i in sorted(draft.new - gone)),
        confirmed=tuple(draft.lines[i] for i in sorted(draft.touched - draft.new - gone)),
        dropped=(*draft.dropped, *(Drop(line.text, OVER_LIMIT) for line in lost)),
    )
