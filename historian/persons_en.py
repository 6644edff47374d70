"""English persons: `I am` becomes `Alice is` where the speaker is known; third persons are flagged, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from historian.edits import Edit
from historian.patterns import lazy_pattern
from historian.phrasing import is_cjk, spaced
from historian.tense import Clauses
from historian.verbs_en import ADVERB, joined_verbs, third_person

_LEFT: Final = r"(?<![A-Za-z0-9_/&.'’@#-])"
_RIGHT: Final = r"(?![A-Za-z0-9_/&@-])(?!\.[A-Za-z0-9])"
_I: Final = lazy_pattern(_LEFT + r"I(?P<short>['’](?:m|ve|ll|d))?" + _RIGHT)
_NOT_I: Final = lazy_pattern(
    r"\b(?:War|Part|[Tt]ype|[Pp]hase|Chapter|Vol|Volume|[Cc]lass|Elizabeth|Napoleon|Act|Title|Level|Henry|Appendix)\s$"
)
_ASIDE: Final = r"(?:,\s(?!(?:and|but|or|he|she|they|you|we|it|the)\b)[a-z][^,.;:!?\n]{1,40},)?"
"""What stands between commas behind its subject: `I, too, am`."""
_VERB: Final = lazy_pattern(rf"(?P<adverbs>{_ASIDE}(?:\s{ADVERB}){{0,2}})\s(?P<verb>[A-Za-z]+(?:['’]t)?)(?![\w-])")
_BARE_VERB: Final = lazy_pattern(r"(?P<adverbs>)\s(?P<verb>[A-Za-z]+(?:['’]t)?)(?![\w-])")
_INVERTED: Final = lazy_pattern(
    r"(?:^|[.!?,;:\n]\s|\b(?:so|why|how|who|what|when|then|where|nor|neither|never|rarely|seldom|hardly|scarcely|only|-\d\d)\s)"
    r"(?P<verb>do|am|have|did|can|could|will|would|should|may|might|must|was|had|don['’]t|haven['’]t)\s$",
    re.IGNORECASE,
)
_COMPANION: Final = lazy_pattern(r"(?:^|[.!?,;:\n]\s?)(?:[A-Z]\w+|[Mm]y\s\w+)(?:\s\w+)?\sand\s$")
_HAD: Final = lazy_pattern(
    r"\s(?:better|been|already|never\s[a-z]+(?:ed|en)|gone|seen|taken|done|had|forgotten|eaten|written|met|[a-z]{2,15}ed)\b"
)
_OBJECT: Final = lazy_pattern(
    _LEFT + r"(?:(?P<by>by\s)?(?P<self>[Mm]yself)|(?P<me>[Mm]e)|(?P<my>[Mm]y)|(?P<mine>[Mm]ine))" + _RIGHT
)
_I_BEFORE: Final = lazy_pattern(r"(?<![A-Za-z])I\s$")
_MINE_BEFORE: Final = lazy_pattern(r"\b(?:is|are|was|were|of|than|like|with|to|and|be)\s$|^$")
_PAST_DATE: Final = lazy_pattern(r"\d{4}-\d{2}(?:-\d{2})?|\bin \d{4}\b")
_THIRD: Final = lazy_pattern(
    _LEFT + r"(?:he|she|him|her|his|hers|they|them|their|theirs|[Ww]e|us|[Oo]urs?|ourselves)"
    r"(?:['’](?:s|re|ve|ll|d))?"
    + _RIGHT
    + r"|"
    + _LEFT
    + r"(?:He|She|His|Her|They|Their)(?:['’](?:s|re|ve|ll|d))?"
    + _RIGHT
)
_FIRST_LEFT: Final = lazy_pattern(_LEFT + r"(?:I(?:['’](?:m|ve|ll|d))?|[Mm]e|[Mm]y|[Mm]yself)" + _RIGHT)
_SMALL_I: Final = lazy_pattern(
    _LEFT + r"(?:i(?:['’](?:m|ve|ll|d))?(?=\s[a-z])"
    r"(?!\s(?:is|as|in|equals|from|of|at|or|and|to|by|j)\b)|(?:im|ive)(?=\s[a-z]))" + _RIGHT
)
"""A first person in hasty writing: it stays and is flagged, since an `i` may name something else."""
_YOU: Final = lazy_pattern(_LEFT + r"(?P<who>[Yy]ou(?:rs|r|rself)?)(?P<short>['’](?:re|ve|ll|d))?" + _RIGHT)
_YOU_VERB: Final = lazy_pattern(r"\s(?P<verb>are|have|do|don['’]t|haven['’]t|were)\b")
_YOU_INVERTED: Final = lazy_pattern(
    r"(?:^|[.!?,;:\n]\s|\b(?:why|how|what|when|where)\s)(?P<verb>do|are|have|were)\s$", re.IGNORECASE
)
_NO_YOU: Final = lazy_pattern(r"\b(?:[Tt]hank|[Ss]ee|[Hh]ow are)\s$")
_USER: Final = lazy_pattern(
    r"(?P<lead>^|[.!?\n]\s?|[,;]\s|\b(?:that|because|and|but|when|if|while|since)\s)"
    r"(?P<user>[Tt]he\s[Uu]ser|User|user|This\suser|this\suser)"
    r"(?:(?P<own>['’]s)(?=\s\w)|(?=\s(?!interfaces|stories|accounts|names|settings|groups|experiences|permissions|manuals|guides|"
    r"interests|ids|needs\sassessment)(?:is|was|has|had|will|would|can|could|should|must|may|might|does|did|doesn|didn|isn|"
    r"wasn|hasn|won|cannot|went|came|got|met|took|said|told|left|made|bought|felt|found|thought|never|always|often|also|"
    r"[a-z]{2,14}(?:s|ed|ly))(?:\s|['’.,!?]|$|n['’]t)))"
)


def named(name: str) -> str:
    """Return the possessive of a name."""
    return f"{name}'s"


def first_person(text: str, name: str, now: str) -> Iterator[Edit]:
    """Yield what puts a speaker's name in place of I, me, my, mine and myself. `now` is the day of speaking, ISO."""
    clauses = Clauses(text)
    for match in _I.finditer(text):
        if not _NOT_I.search(text, max(0, match.start() - 12), match.start()):
            yield from _subject(clauses, match, name, now)
    for match in _OBJECT.finditer(text):
        edit = _object(text, match, name)
        if edit is not None:
            yield edit


def _subject(clauses: Clauses, match: re.Match[str], name: str, now: str) -> Iterator[Edit]:
    text = clauses.text
    start, end = match.span()
    short = (match["short"] or "")[1:]
    several = _COMPANION.search(text, max(0, start - 40), start) is not None
    if short:
        yield Edit(start, end, f"{name} {_short(text, end, short, several=several)}")
        return
    yield Edit(start, end, spaced(text, start, end, name))
    inverted = _INVERTED.search(text, max(0, start - 24), start)
    if inverted:
        form = third_person(inverted["verb"])
        form = form.capitalize() if inverted["verb"][0].isupper() else form
        yield Edit(*inverted.span("verb"), form)
        return
    verb = _verb_after(text, end)
    if verb is None or (end < len(text) and is_cjk(text[end])) or several:
        return
    form = third_person(verb["verb"], past=_is_dated_past(clauses, start, end, now))
    if form != verb["verb"]:
        yield Edit(*verb.span("verb"), form)
        for begin, stop, joined in joined_verbs(text, verb.end()):
            yield Edit(begin, stop, joined)


def _verb_after(text: str, end: int) -> re.Match[str] | None:
    """Return the verb after `I`, past adverbs; what looks like one may be the verb (`I do`, `I rely on`)."""
    direct = _BARE_VERB.match(text, end)
    if direct and direct["verb"] in {"do", "rely", "apply", "supply", "fly", "reply", "imply", "comply"}:
        return direct
    return _VERB.match(text, end) or direct


def _short(text: str, end: int, short: str, *, several: bool) -> str:
    if short == "d":
        return "had" if _HAD.match(text, end) else "would"
    if several:
        return {"m": "are", "ve": "have", "ll": "will"}[short]
    return {"m": "is", "ve": "has", "ll": "will"}[short]


def _is_dated_past(clauses: Clauses, start: int, end: int, now: str) -> bool:
    left, right = clauses.bounds(start, end)
    dates = [m.group().removeprefix("in ") for m in _PAST_DATE.finditer(clauses.text, left, right)]
    return any(found < now[: len(found)] or (len(found) == 10 and found <= now) for found in dates)


def _object(text: str, match: re.Match[str], name: str) -> Edit | None:
    start, end = match.span()
    if match["self"] and _I_BEFORE.search(text, max(0, start - 3), start):
        return Edit(start - 1, end, "")
    if match["self"]:
        return Edit(start, end, "alone" if match["by"] else name)
    if match["mine"] and not _MINE_BEFORE.search(text[max(0, start - 8) : start]):
        return None
    words = name if match["me"] else named(name)
    return Edit(start, end, spaced(text, start, end, words))


def second_person(text: str, name: str) -> Iterator[Edit]:
    """Yield what puts the agent's name in place of `you` and `your`."""
    verbs = {"re": "is", "ve": "has", "ll": "will", "d": "would"}
    for match in _YOU.finditer(text):
        start, end = match.span()
        if _NO_YOU.search(text, max(0, start - 10), start):
            continue
        who = match["who"].lower()
        if who in {"your", "yours"}:
            yield Edit(start, end, spaced(text, start, end, named(name)))
        elif match["short"]:
            yield Edit(start, end, f"{name} {verbs[match['short'][1:]]}")
        else:
            yield Edit(start, end, spaced(text, start, end, name))
            verb = _YOU_INVERTED.search(text, max(0, start - 24), start) or _YOU_VERB.match(text, end)
            if verb:
                form = {"are": "is", "were": "was"}.get(verb["verb"].lower()) or third_person(verb["verb"].lower())
                yield Edit(*verb.span("verb"), form.capitalize() if verb["verb"][0].isupper() else form)


def user_subject(text: str, name: str) -> Iterator[Edit]:
    """Yield what puts the speaker's name in place of `the user` as a subject."""
    for match in _USER.finditer(text):
        yield Edit(match.start("user"), match.end(), named(name) if match["own"] else name)


def unnamed(text: str, *, speaker: bool, agent: bool) -> Iterator[tuple[int, int]]:
    """Yield the pronouns that stay: third persons always, first and second where no name is known."""
    for lasting in (_THIRD, _SMALL_I):
        for match in lasting.finditer(text):
            yield match.span()
    for pattern, known in ((_FIRST_LEFT, speaker), (_YOU, agent)):
        if not known:
            for match in pattern.finditer(text):
                yield match.span()
