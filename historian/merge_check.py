"""Whether a plan says what its sources say: nothing foreign, nothing lost, nothing turned into its opposite."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from historian.fold import has_cjk
from historian.identity import negations
from historian.identity_numbers import clock_readings, figures
from historian.identity_persons import is_supported, persons
from historian.identity_words import check_summary, turns_round
from historian.injection import looks_like_instruction
from historian.merge_plan import Change, Page, Plan
from historian.merge_problems import Problem, place_name
from historian.overlap import share
from historian.patterns import lazy_pattern
from historian.stances import denies, takes_back

SUPPORTED = 0.4
"""Share of a new text that must stand in what it rests on."""
SAID = 0.2
"""Share of a statement that must stand in the line that is to say it."""
SAME_MATTER = 0.15
"""Share of a line that must still stand in its update."""
SMALL = 80
"""Characters of a profile below which it may well shrink by half."""

_KINDS = {"word_invented": "unsupported", "polarity": "polarity", "modality": "modality", "order": "order"}
"""What a drift of words is called here."""

_DATE = lazy_pattern(r"(\d{4})(?:-|/|\.|\s?年\s?)(\d{1,2})(?:(?:-|/|\.|\s?月\s?)(\d{1,2})\s?[日号]?|\s?月)?")
_CLOCK = lazy_pattern(r"\d{1,2}[:：]\d{2}")


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of the plan: how it is called, what it says, and what it rests on."""

    at: str
    text: str
    lines: tuple[str, ...]
    statements: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return (*self.lines, *self.statements)


class PlanCheck:
    """Checks a plan against the page that it was made for; the problems are in `language`."""

    def __init__(self, page: Page, language: str) -> None:
        self._page = page
        self._language = language
        self._said = {statement.event_id: statement.text for statement in page.statements}
        self._number = {statement.event_id: n for n, statement in enumerate(page.statements, start=1)}
        self._line = {line.text: n for n, line in reversed([*enumerate(page.lines, start=1)])}

    def problems(self, plan: Plan) -> list[Problem]:
        """Return what is wrong with a plan; nothing where it may be carried out."""
        found: list[Problem] = []
        for text in self._texts(plan):
            found += self._foreign(text)
            found += self._lost(text)
            found += self._turned(text)
            found += self._reworded(text)
        for change in plan.changes:
            found += self._change_problems(change, plan)
        found += self._only_removing(plan)
        if self._shrinks(plan):
            found.append(Problem("shrunk"))
        return list(dict.fromkeys(found))

    def _texts(self, plan: Plan) -> Iterator[_Text]:
        for change in plan.changes:
            if change.action == "update" and change.text:
                covered = [other.line for other in plan.changes if other.covered_by == change.line]
                at = place_name("update", self._line.get(change.line, 0), self._language)
                yield _Text(at, change.text, (change.line, *covered), self._texts_of(change.events))
        for number, addition in enumerate(plan.additions, start=1):
            if addition.text:
                at = place_name("added", number, self._language)
                yield _Text(at, addition.text, (), self._texts_of(addition.events))

    def _foreign(self, text: _Text) -> Iterator[Problem]:
        names = self._page.names
        written = figures(_without(text.text, names))
        given = [figures(_without(source, names)) for source in text.sources]
        ids = frozenset[str]().union(*(one.ids for one in given))
        everything = "\n".join((*text.sources, *names))
        for found in sorted(written.ids - ids):
            if not _stands(found, everything):
                yield Problem("foreign_id", text.at, found)
        for found in persons(text.text):
            if not is_supported(found, text.sources, names):
                yield Problem("foreign_person", text.at, found)
        numbers = frozenset[str]().union(*(one.numbers for one in given), *map(clock_readings, text.sources))
        for found in sorted(written.numbers - numbers):
            yield Problem("number", text.at, found)
        if looks_like_instruction(text.text):
            yield Problem("orders", text.at)
        if share(text.text, text.sources, names=names) < SUPPORTED:
            yield Problem("unsupported", text.at)

    def _lost(self, text: _Text) -> Iterator[Problem]:
        for event, said in self._said.items():
            if said not in text.statements or said == text.text:
                continue
            for found in lost(said, text.text, self._page.names):
                yield Problem("lost", text.at, found)
            if share(said, [text.text], names=self._page.names) < SAID:
                yield Problem("unsaid", text.at, str(self._number[event]))

    def _turned(self, text: _Text) -> Iterator[Problem]:
        """What a statement denies must stay denied, and nothing may be denied that no source denies."""
        written = len(negations(text.text))
        must = max((len(negations(said)) for said in text.statements or text.lines), default=0)
        may = any(denies(source) for source in text.sources)
        if written < must or (written and not may):
            yield Problem("polarity", text.at)
        cjk = {has_cjk(source) for source in text.sources}
        if len(cjk) == 1 and has_cjk(text.text) not in cjk:
            yield Problem("language", text.at)

    def _reworded(self, text: _Text) -> Iterator[Problem]:
        """What is said must not become its opposite, a plan no fact, and who did it nobody else."""
        said = text.statements or text.lines
        if {*said} == {text.text}:  # the ordinary case, word for word
            return
        for drift in check_summary(text.text, said, text.sources, self._page.names):
            yield Problem(_KINDS[drift.kind], text.at, drift.found if drift.kind in ("modality", "order") else "")
        if self._takes_back(said, text.text):
            yield Problem("polarity", text.at)

    def _change_problems(self, change: Change, plan: Plan) -> Iterator[Problem]:
        number, names = str(self._line.get(change.line, 0)), self._page.names
        at = place_name("update" if change.action == "update" else "line", int(number), self._language)
        if change.action == "confirm":
            for event in change.events:
                said = self._said[event]
                if self._opposes(said, change.line):
                    yield Problem("polarity", at)
                elif share(said, [change.line], names=names) < SAID or [*lost(_undated(said), change.line, names)]:
                    yield Problem("unsaid", at, str(self._number[event]))
        elif change.action == "update" and change.text:
            if share(change.line, [change.text], names=names) < SAME_MATTER:
                yield Problem("other_matter", at)
            if not change.reason and [*lost(change.line, change.text, names)]:
                yield Problem("lost", at, next(lost(change.line, change.text, names)))
        elif change.covered_by:
            heir = plan.text_of(change.covered_by)
            covers = share(change.line, [heir], names=names) >= SUPPORTED
            if self._opposes(change.line, heir) or not covers or [*lost(_undated(change.line), heir, names)]:
                yield Problem("not_covered", number, str(self._line.get(change.covered_by, 0)))

    def _opposes(self, said: str, line: str) -> bool:
        """Tell whether a statement, or a line, says the opposite of the line that is to say it too."""
        if said == line:
            return False
        return denies(said) != denies(line) or turns_round(said, line) or self._takes_back([said], line)

    def _takes_back(self, said: Iterable[str], text: str) -> bool:
        names = self._page.names
        return takes_back([_without(one, names) for one in said], _without(text, names))

    def _only_removing(self, plan: Plan) -> Iterator[Problem]:
        """A statement that does nothing but remove a line must be about that line, or what it says would be lost."""
        saying = {e for change in plan.changes if change.action != "remove" for e in change.events}
        saying.update(event for addition in plan.additions for event in addition.events)
        for change in plan.changes:
            for event in change.events:
                said = self._said[event]
                if event not in saying and share(said, [change.line], names=self._page.names) < SAID:
                    yield Problem("uncovered", str(self._number[event]))

    def _shrinks(self, plan: Plan) -> bool:
        removed = [change for change in plan.changes if change.action == "remove"]
        gone = sum(not change.covered_by for change in removed)
        lines = len(self._page.lines) + self._page.hidden
        before = sum(len(line.text) for line in self._page.lines)
        after = before - sum(len(change.line) for change in removed) + sum(len(one.text) for one in plan.additions)
        after += sum(len(one.text) - len(one.line) for one in plan.changes if one.action == "update")
        is_much = not self._page.hidden and before >= SMALL
        return 2 * gone > lines > 1 or (is_much and 2 * after < before)

    def _texts_of(self, events: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._said[event] for event in events)


def lost(source: str, text: str, names: Collection[str]) -> Iterator[str]:
    """Yield the ids and numbers of `source` that `text` lacks; the day of a date may go where its month stays."""
    had, has = figures(_without(source, names)), figures(_without(text, names))
    for found in sorted(had.ids - has.ids):
        if not _stands(found, text):
            yield found
    months = {(found[1], int(found[2])) for found in _DATE.finditer(text)}
    days = {str(int(found[3])) for found in _DATE.finditer(source) if found[3] and (found[1], int(found[2])) in months}
    yield from sorted(had.numbers - has.numbers - clock_readings(text) - days)


def _undated(text: str) -> str:
    """Return the text without dates and clock times: when something was said is no part of what it says."""
    return _CLOCK.sub(" ", _DATE.sub(" ", text))


def _stands(identifier: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(identifier)}(?![A-Za-z0-9_])", text) is not None


def _without(text: str, names: Sequence[str] | Collection[str]) -> str:
    """Return `text` without the names of the profile, whose numerals (张三, u12) are no numbers."""
    for name in sorted(names, key=len, reverse=True):
        if len(name) > 1 and not name.isdigit():
            text = text.replace(name, " ")
    return text
