"""From a model's answer to a plan. What can be put right without loss is put right; the rest is a problem.

A line that is not mentioned is kept. A line written by hand is kept whatever the answer says. Numbers that name
nothing are passed over. Nothing else is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from historian.bullets import one_line
from historian.injection import looks_like_instruction
from historian.merge import MAX_LINE_LENGTH
from historian.merge_plan import Addition, Change, Page, Plan
from historian.merge_problems import Problem, place_name
from historian.profile import ProfileLine

if TYPE_CHECKING:  # pydantic, which a hook does not need
    from historian.merge_answer import Added, LineFate, MergeAnswer

MAX_TAGS = 8
MAX_TAG_LENGTH = 24
MAX_REASON_LENGTH = 300


@dataclass(slots=True)
class _Reading:
    page: Page
    language: str
    fates: dict[int, LineFate] = field(default_factory=dict[int, "LineFate"])
    changes: list[Change] = field(default_factory=list[Change])
    additions: list[Addition] = field(default_factory=list[Addition])
    problems: list[Problem] = field(default_factory=list[Problem])
    cited: set[int] = field(default_factory=set[int])


def read_answer(answer: MergeAnswer, page: Page, language: str) -> tuple[Plan, list[Problem]]:
    """Return the plan that an answer means, and what keeps it from being one. `language` is that of the problems."""
    reading = _Reading(page, language)
    _collect(reading, answer.lines)
    for number, line in enumerate(page.lines, start=1):
        _read_fate(reading, number, line)
    for number, added in enumerate(answer.added, start=1):
        _read_added(reading, number, added)
    passing = _valid(reading, answer.passing)
    everything = range(1, len(page.statements) + 1)
    missing = [number for number in everything if number not in reading.cited and number not in passing]
    reading.problems += [Problem("uncovered", str(number)) for number in missing]
    plan = Plan(
        place=page.place,
        changes=tuple(reading.changes),
        additions=tuple(reading.additions),
        passing=_events(page, [number for number in passing if number not in reading.cited]),
        tags=clean_tags(answer.tags),
    )
    return plan, reading.problems


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags as they may stand in a profile: short, on one line, each once, none that gives orders."""
    found: dict[str, str] = {}
    for raw in tags:
        tag = one_line(raw).strip("#＃,，;；、\"'“”‘’[]()（） ")
        if tag and len(tag) <= MAX_TAG_LENGTH and not looks_like_instruction(tag):
            found.setdefault(tag.casefold(), tag)
    return tuple(found.values())[:MAX_TAGS]


def _collect(reading: _Reading, fates: Iterable[LineFate]) -> None:
    for fate in fates:
        known = reading.fates.setdefault(fate.line, fate)
        if known.action != fate.action and 1 <= fate.line <= len(reading.page.lines):
            reading.problems.append(Problem("twice", str(fate.line)))


def _read_fate(reading: _Reading, number: int, line: ProfileLine) -> None:
    fate = reading.fates.get(number)
    if fate is None or fate.action == "keep":
        return
    numbers = _valid(reading, fate.statements)
    if fate.action != "confirm" and line.hand_written:
        return  # what it wanted to say is left to the rules, which add it as a line of its own
    text = one_line(fate.text)
    reading.cited.update(numbers)
    events = _events(reading.page, numbers)
    reason = one_line(fate.reason)[:MAX_REASON_LENGTH]
    if fate.action == "confirm" or (fate.action == "update" and text == line.text):
        if events:
            reading.changes.append(Change("confirm", line.text, events=events))
    elif fate.action == "update":
        at = place_name("update", number, reading.language)
        _check_text(reading, at, text)
        reading.changes.append(Change("update", line.text, text, events, reason=reason))
    else:
        heir = _heir(reading, number, fate)
        if not reason:
            reading.problems.append(Problem("no_reason", str(number)))
        if not events and heir is None:
            reading.problems.append(Problem("no_basis", str(number)))
        covered_by = heir.text if heir is not None else ""
        reading.changes.append(Change("remove", line.text, events=events, covered_by=covered_by, reason=reason))


def _heir(reading: _Reading, number: int, fate: LineFate) -> ProfileLine | None:
    """Return the line that says what a removed one says; it must remain."""
    lines, other = reading.page.lines, fate.covered_by
    if other == number or not 1 <= other <= len(lines):
        return None
    its_fate = reading.fates.get(other)
    stays = its_fate is None or its_fate.action != "remove" or lines[other - 1].hand_written
    return lines[other - 1] if stays else None


def _read_added(reading: _Reading, number: int, added: Added) -> None:
    at = place_name("added", number, reading.language)
    numbers = _valid(reading, added.statements)
    text = one_line(added.text)
    if not text and not numbers:
        return
    if not numbers:
        reading.problems.append(Problem("no_statement", at))
    _check_text(reading, at, text)
    reading.cited.update(numbers)
    reading.additions.append(Addition(text, _events(reading.page, numbers)))


def _check_text(reading: _Reading, at: str, text: str) -> None:
    if not text:
        reading.problems.append(Problem("no_text", at))
    elif len(text) > MAX_LINE_LENGTH:
        reading.problems.append(Problem("too_long", at))


def _valid(reading: _Reading, numbers: Iterable[int]) -> list[int]:
    count = len(reading.page.statements)
    return [number for number in dict.fromkeys(numbers) if 1 <= number <= count]


def _events(page: Page, numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(page.statements[number - 1].event_id for number in numbers)
