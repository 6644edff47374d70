"""Which lines and statements a model is shown: a bounded page, however much there is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from historian.merge import Statement
from historian.merge_plan import Page
from historian.model import Owner
from historian.overlap import content
from historian.profile import Profile, ProfileLine

LINES_SHOWN = 40
LINE_CHARACTERS = 6_000
STATEMENTS_SHOWN = 12
STATEMENT_CHARACTERS = 3_000

_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


def page_of(profile: Profile | None, entity: Owner, statements: Sequence[Statement], now: datetime) -> Page:
    """Return the page for statements that are all shown in one place: as many of them as fit, from the first on.

    Of the lines that are shown in that place it has those that share most with the statements, in their order.
    """
    taken = _fitting(statements)
    place = taken[0].shown_in
    there = [line for line in (profile.lines if profile is not None else ()) if line.shown_in == place]
    shown = _nearest(there, taken)
    known_as = dict(profile.known_as) if profile is not None else {}
    name = known_as.get(place) or next((one.name for one in taken if one.name), None)
    names = tuple(dict.fromkeys(n for n in (name, entity.id, *(one.name for one in taken)) if n))
    return Page(entity, place, tuple(shown), tuple(taken), name, names, now, hidden=len(there) - len(shown))


def _fitting(statements: Sequence[Statement]) -> list[Statement]:
    taken: list[Statement] = []
    characters = 0
    for statement in statements[:STATEMENTS_SHOWN]:
        characters += len(statement.text)
        if taken and characters > STATEMENT_CHARACTERS:
            break
        taken.append(statement)
    return taken


def _nearest(lines: Sequence[ProfileLine], statements: Sequence[Statement]) -> list[ProfileLine]:
    wanted = frozenset[str]().union(*(content(one.text) for one in statements))

    def near(index: int) -> tuple[float, datetime]:
        words = content(lines[index].text)
        return len(words & wanted) / max(1, len(words)) ** 0.5, lines[index].last_seen or _LONG_AGO

    chosen: list[int] = []
    characters = 0
    for index in sorted(range(len(lines)), key=near, reverse=True)[:LINES_SHOWN]:
        characters += len(lines[index].text)
        if chosen and characters > LINE_CHARACTERS:
            break
        chosen.append(index)
    return [lines[index] for index in sorted(chosen)]
