"""Words for days that are names: a cat called 明天, 明天集团, Sheffield Wednesday, the song Yesterday. They stay."""

from __future__ import annotations

import re
from typing import Final

from historian.days import DateHit
from historian.patterns import lazy_pattern
from historian.phrasing import starts_sentence

_NAMED_ZH: Final = lazy_pattern(
    r"(?:(?<![呼喊])叫做?|名叫|取名|起名|命名为|名为|(?:名字|名称|[小大艺网全]名)(?:是|叫|为)|(?:外号|绰号|昵称|[小艺网]名|笔名|代号)(?:是|叫|为)?)\s?$"
)
_NAME_BEGINS_ZH: Final = lazy_pattern(r"(?:(?<![呼喊])叫|名叫|取名|起名|名字是)[^\W\d_我你您他她它们大家人醒回]{1,2}$")
_ENDS: Final = lazy_pattern(r"\s*(?:$|[。！？；，、,.!?;\n])")
_HOUSE_ZH: Final = lazy_pattern(
    r"(?:广场|集团|书店|餐厅|公司|酒店|酒吧|科技|传媒|控股|资本|乐队|工作室|大厦)"
    r"(?!有|开|聚|要|放|年会|见|集合|发|搬|停|不|没|会|里|门口|组织|体检|加班|关|休|人[很多少]|大扫除|团建|峰会|大会|论坛|讲座|订)"
    r"|系(?![统列紧好上着安领])"
)
_NAMED_EN: Final = lazy_pattern(
    r"(?:\b(?:named|nicknamed)|\b(?:is|was|are|were|been|being|it|him|her|them|[a-z]+\sis)\scalled|['’]s\scalled)\s$"
)
_WORD_BEFORE: Final = lazy_pattern(
    r"(?:(?P<owner>\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Yy]our|[Tt]he|[Aa]n?)\s)(?:[a-z]+\s)?)?(?P<word>[A-Za-z]+)\s$"
)
_OPENER: Final = lazy_pattern(
    r"(?:on|last|next|every|this|each|past|coming|since|until|till|by|for|to|from|before|after|of|and|or|but|through|thru|"
    r"between|i|we|you|he|she|it|they|the|early|late|only|mon|tues?|wednes|thurs?|fri|satur|sun|mondays?|.*day|january|february|"
    r"march|april|may|june|july|august|september|october|november|december|what|that|so|then|[a-z]*ly|not|is|was)",
    re.IGNORECASE,
)
_HAPPENING: Final = lazy_pattern(
    r"(?:meetings?|appointments?|flights?|exams?|calls?|dinner|lunch|breakfast|brunch|part(?:y|ies)|interviews?|class(?:es)?|"
    r"lessons?|lectures?|seminars?|workshops?|trains?|trips?|concerts?|games?|match|dates?|deadlines?|demos?|reviews?|sync|"
    r"standup|stand-up|surgery|operation|check-?up|test|quiz|presentation|webinar|conference|event|session|shift|day|off|out|"
    r"weddings?|funeral|birthday|delivery|package|hearing|tests?|visit|rehearsal|practice|race|marathon|vet|dentist|doctor|"
    r"report|release|launch|rent|talk|hike|movie|show|gig|bus|ferry|tour|[a-z]+ing|[a-z]+tion|[a-z]+ment)",
    re.IGNORECASE,
)
_NEAR: Final = frozenset(("Yesterday", "Today", "Tomorrow"))


def is_name(text: str, hit: DateHit) -> bool:
    """Tell whether a word for a day is part of a name there, or too likely to be one."""
    return _in_chinese(text, hit) if hit.lang == "zh" else _in_english(text, hit)


def _in_chinese(text: str, hit: DateHit) -> bool:
    low = max(0, hit.start - 6)
    if _NAMED_ZH.search(text, low, hit.start) or _HOUSE_ZH.match(text, hit.end):
        return True
    return _NAME_BEGINS_ZH.search(text, low, hit.start) is not None and _ENDS.match(text, hit.end) is not None


def _in_english(text: str, hit: DateHit) -> bool:
    word = hit.found.split()[0]
    if _NAMED_EN.search(text, max(0, hit.start - 24), hit.start):
        return True
    opens = starts_sentence(text, hit.start)
    if word in _NEAR:
        return not opens
    return hit.prefix == "bare" and not opens and _follows_noun(text, hit.start)


def _follows_noun(text: str, start: int) -> bool:
    """Tell whether a bare weekday stands right behind a name, or behind a thing that does not take place on days."""
    before = _WORD_BEFORE.search(text, max(0, start - 48), start)
    if before is None or _OPENER.fullmatch(before["word"]) or _HAPPENING.fullmatch(before["word"]):
        return False
    named = before["word"][0].isupper() and not starts_sentence(text, before.start("word"))
    return named or before["owner"] is not None or (before["word"][0].isupper() and start > 0)
