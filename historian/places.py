"""Places and groups that only the speaker's whereabouts explain: 这里, here, 本群, this group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from historian.edits import Edit
from historian.gate_guards import counts
from historian.patterns import lazy_pattern
from historian.phrasing import spaced

_HERE_ZH: Final = lazy_pattern(
    r"(?<![我你您他她它们])(?:这里(?!程)|这儿|此处)|(?<![日资基成书剧版根原])本地(?=的?(?:天气|餐馆|餐厅|超市|医院|学校|人|美食|特产|市场|房价|气候|公园|博物馆))"
    r"|(?<=在)本地(?=工作|上班|生活|居住|读书|上学|租|买)"
)
_THERE_ZH: Final = lazy_pattern(r"[那这]边(?!缘|界|框)|(?<![哪我你他])那[里儿](?!面)")
_GROUP_ZH: Final = lazy_pattern(r"本群|[这此]个?群(?![体众山岛聊])(?:里(?=的|面)?)?|这个群聊|[我咱]们群")
_HERE_EN: Final = lazy_pattern(
    r"(?<![A-Za-z0-9_/.'’@#-])(?P<over>(?:over|out|down|up)\s)?here(?![A-Za-z0-9_/@'’-])", re.IGNORECASE
)
_NOT_HERE: Final = lazy_pattern(r"\s(?:is|are|goes|you|we|comes)\b")
_PREPOSITION: Final = lazy_pattern(r"\b(?:from|near|around|to|in|outside|leaving|left|leave)\s$", re.IGNORECASE)
_MOTION: Final = lazy_pattern(
    r"\b(?:mov(?:e|ed|es|ing)|c(?:ome|ame|omes|oming)|g(?:et|ot|etting)|fl(?:y|ew|ying)|dr(?:ive|ove|iving)|return(?:ed|s|ing)?|relocat(?:ed|ing|e))\s$",
    re.IGNORECASE,
)
_GROUP_EN: Final = lazy_pattern(r"(?<![A-Za-z0-9_-])(?:this|our)\sgroup(?:\schat)?(?![A-Za-z0-9_-])", re.IGNORECASE)
_THERE_EN: Final = lazy_pattern(
    r"(?<![A-Za-z0-9_/-])(?:over\sthere|nearby|around\shere)(?![A-Za-z0-9_/-])", re.IGNORECASE
)


def place_edits(text: str, location: str) -> Iterator[Edit]:
    """Yield what puts a known place in place of 这里 and here."""
    for match in _HERE_ZH.finditer(text):
        yield Edit(*match.span(), spaced(text, *match.span(), location))
    for match in _HERE_EN.finditer(text):
        if _is_place(text, match):
            yield Edit(*match.span(), spaced(text, *match.span(), _in_english(text, match.start(), location)))


def _is_place(text: str, match: re.Match[str]) -> bool:
    return _NOT_HERE.match(text, match.end()) is None


def _in_english(text: str, start: int, location: str) -> str:
    before = text[max(0, start - 14) : start]
    if _PREPOSITION.search(before):
        return location
    if _MOTION.search(before):
        return f"to {location}"
    return f"In {location}" if text[start].isupper() else f"in {location}"


def group_edits(text: str, group: str) -> Iterator[Edit]:
    """Yield what puts a known group's name in place of 本群 and this group."""
    for pattern in (_GROUP_ZH, _GROUP_EN):
        for match in pattern.finditer(text):
            yield Edit(*match.span(), spaced(text, *match.span(), group))


def unplaced(text: str, *, location: bool, group: bool) -> Iterator[tuple[int, int]]:
    """Yield the words for a place that stay."""
    yield from (m.span() for m in _THERE_ZH.finditer(text) if counts("owned", text, *m.span()))
    patterns = [_THERE_EN]
    if not location:
        patterns.append(_HERE_ZH)
        yield from (m.span() for m in _HERE_EN.finditer(text) if _is_place(text, m))
    if not group:
        patterns += [_GROUP_ZH, _GROUP_EN]
    for pattern in patterns:
        for match in pattern.finditer(text):
            yield match.span()
