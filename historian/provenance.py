"""Which statement in a hand-edited file goes with which recorded provenance."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from historian.bullets import bullet
from historian.patterns import lazy_pattern
from historian.profile import ProfileLine

NEARLY = 0.75
"""Share of common characters from which an edited line is the same line, corrected."""

_MAX_COMPARED = 4_000
"""Pairs of an unknown line and a lost one that are compared at most; a file rewritten beyond that is a new text."""

_MAX_LENGTH = 2_000
"""Characters of a line that is compared; comparing is quadratic."""

_NUMBER = lazy_pattern(r"\d+|[零一二两兩三四五六七八九十百千万萬亿億]")
_NOT = lazy_pattern(r"[不没沒无無非未别別勿]|\b(?:not?|never|none|nothing|without|cannot)\b|n['’]t\b")


def attach(
    bullets: Sequence[tuple[str, str]], known: Sequence[ProfileLine], home: str
) -> tuple[list[ProfileLine], list[ProfileLine]]:
    """Return a line for each bullet `(source, statement)`, and the known lines that no bullet says any more.

    The same text keeps its provenance; so does nearly the same one, which then counts as hand-written, and as shown
    at `home` only where words were added that were never said in the other place. Any other bullet is hand-written.
    """
    found: dict[int, ProfileLine] = {}
    left = _home_first_where_short(bullets, known, home)
    for key in (str, _without_blanks):
        left = _match_equal(bullets, left, found, key)
    left = _match_near(bullets, left, found, home)
    lines = [
        _with_source(found.get(at) or ProfileLine(said, shown_in=home, hand_written=True), source, said)
        for at, (source, said) in enumerate(bullets)
    ]
    return lines, left


def _home_first_where_short(
    bullets: Sequence[tuple[str, str]], known: Sequence[ProfileLine], home: str
) -> list[ProfileLine]:
    """Return the known lines; of a text recorded for two places but written once, the one at home comes first."""
    written: dict[str, int] = {}
    for _, said in bullets:
        written[said] = written.get(said, 0) + 1
    recorded: dict[str, int] = {}
    for line in known:
        recorded[line.text] = recorded.get(line.text, 0) + 1
    return sorted(known, key=lambda line: recorded[line.text] > written.get(line.text, 0) and line.shown_in != home)


def _match_equal(
    bullets: Sequence[tuple[str, str]],
    left: Sequence[ProfileLine],
    found: dict[int, ProfileLine],
    key: Callable[[str], str],
) -> list[ProfileLine]:
    waiting: dict[str, list[ProfileLine]] = {}
    for line in left:
        waiting.setdefault(key(line.text), []).append(line)
    for at, (_, said) in enumerate(bullets):
        if at not in found and (lines := waiting.get(key(said))):
            found[at] = replace(lines.pop(0), text=said)
    return [line for lines in waiting.values() for line in lines]


def _without_blanks(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).split())


def _match_near(
    bullets: Sequence[tuple[str, str]], left: list[ProfileLine], found: dict[int, ProfileLine], home: str
) -> list[ProfileLine]:
    unknown = [(at, said) for at, (_, said) in enumerate(bullets) if at not in found]
    if len(unknown) * len(left) > _MAX_COMPARED:
        return left
    scored = [(closeness(line.text, said), i, at) for i, line in enumerate(left) for at, said in unknown]
    taken: set[int] = set()
    for score, i, at in sorted(scored, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if score < NEARLY:
            break
        if i not in taken and at not in found:
            taken.add(i)
            found[at] = _edited(left[i], bullets[at][1], home)
    return [line for i, line in enumerate(left) if i not in taken]


def closeness(old: str, new: str) -> float:
    """Return how much of two texts is common, 0..1; 0 where a number differs or one of them denies."""
    if max(len(old), len(new)) > _MAX_LENGTH:
        return 0.0
    before, after = old.casefold(), new.casefold()
    if sorted(_NUMBER.findall(before)) != sorted(_NUMBER.findall(after)):
        return 0.0
    if len(_NOT.findall(before)) != len(_NOT.findall(after)):
        return 0.0
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.real_quick_ratio() < NEARLY or matcher.quick_ratio() < NEARLY:
        return 0.0
    return matcher.ratio()


def _edited(line: ProfileLine, said: str, home: str) -> ProfileLine:
    shown_in = line.shown_in if _adds_nothing(line.text, said) else home
    return replace(line, text=said, shown_in=shown_in, hand_written=True)


def _adds_nothing(old: str, new: str) -> bool:
    """Tell whether all letters and digits of `new` stand in `old`, in this order."""
    letters = iter([c for c in old.casefold() if c.isalnum()])
    return all(c in letters for c in new.casefold() if c.isalnum())


def _with_source(line: ProfileLine, source: str, said: str) -> ProfileLine:
    return line if source == bullet(said) else replace(line, source=source)
