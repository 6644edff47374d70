"""What looks like a time of day and is none: ratios (按1:10稀释), verses (John 3:16), scores, marks (考了九点五分)."""

from __future__ import annotations

import re
from typing import Final

from historian.days import ClockHit
from historian.patterns import lazy_pattern

_DIGITS: Final = lazy_pattern(r"[0-9]{1,2}[:：][0-9]{2}")
_MARK: Final = lazy_pattern(r".*[点點][^半刻]*分")
_MARKED: Final = lazy_pattern(
    r"(?:[考得打拿评给扣]了?|[得评打]分|分数|成绩|豆瓣|均分|平均分?|绩点)(?:是|为|有|到|才)?\s?$"
)
_RATIO_BEFORE: Final = lazy_pattern(
    r"(?:按|以|成|比例|配比|比分|比率|比值|比|兑|赔率|\bratio(?:\sof)?|\bscale(?:\sof)?|\bodds(?:\sof)?|\bscore(?:\sof)?|\bdiluted)\s?$",
    re.IGNORECASE,
)
_RATIO_NEAR: Final = lazy_pattern(
    r"比例|比率|配比|比分|稀释|兑水|调配|勾兑|\b(?:ratio|dilut(?:e|ed|ion|ing)|scale\smodel|odds|final\sscore)\b",
    re.IGNORECASE,
)
_APART: Final = lazy_pattern(r"[。！？；!?;\n]")
_VERSE: Final = lazy_pattern(
    r"(?:福音|诗篇|箴言|启示录|行传|创世[记纪]|出埃及记|利未记|民数记|申命记|传道书|约伯记|雅歌|[前后一二三壹贰叁]书|"
    r"(?:罗马|希伯来|雅各|以赛亚|耶利米|但以理|腓立比|以弗所|加拉太|歌罗西)书|第?[0-9一二三四五六七八九十]+章|圣经|古兰经|"
    r"\b(?:genesis|exodus|leviticus|numbers|deuteronomy|joshua|judges|ruth|samuel|kings|chronicles|ezra|nehemiah|esther|job|"
    r"psalms?|proverbs|ecclesiastes|isaiah|jeremiah|lamentations|ezekiel|daniel|hosea|joel|amos|jonah|micah|habakkuk|malachi|"
    r"matthew|mark|luke|john|acts|romans|corinthians|galatians|ephesians|philippians|colossians|thessalonians|timothy|titus|"
    r"philemon|hebrews|james|peter|jude|revelations?|verses?|chapter|quran|surah|gita))\s?$",
    re.IGNORECASE,
)


def is_no_time(text: str, hit: ClockHit) -> bool:
    """Tell whether a hit is a ratio, a verse, a score or a mark."""
    found = text[hit.start : hit.end]
    before = max(0, hit.start - 16)
    if _MARK.fullmatch(found) and _MARKED.search(text, before, hit.start):
        return True
    if not _DIGITS.fullmatch(found):
        return False
    if _RATIO_BEFORE.search(text, before, hit.start) or _VERSE.search(text, before, hit.start):
        return True
    near = _RATIO_NEAR.finditer(text, max(0, hit.start - 20), hit.end + 12)
    return any(not _APART.search(text, min(m.end(), hit.end), max(m.start(), hit.start)) for m in near)
