"""What somebody else said with neither colon nor quotation marks: `Bob said, I am ill`, 小李说我不去了.

English words such a clause from where the speaker stands: in `Bob says I am too slow` the speaker is slow. A comma, or
a verb of writing, may open Bob's own words. Chinese leaves open who 我 is; it is the speaker where the clause judges,
advises or comes from a doctor, and anybody elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from historian.edits import Edit
from historian.gate_terms import SURNAMES
from historian.patterns import lazy_pattern
from historian.phrasing import spaced
from historian.reported import is_role, speaks_en, speaks_zh
from historian.verbs_en import ADVERB

_KIN: Final = (
    r"妈妈?|爸爸?|爸妈|父母|父亲|母亲|老[妈爸公婆板师]|妻子|丈夫|媳妇|儿子|女儿|闺女|孩子|哥哥?|姐姐?|弟弟?|妹妹?|爷爷|奶奶|外[公婆]|"
    r"姥[姥爷]|叔叔|舅舅|姑姑|阿姨|领导|上司|经理|导师|教练|男朋友|女朋友|[男女]友|对象|(?:同事|朋友|同学|室友|邻居)们?"
)
_SAYS_ZH: Final = (
    r"(?:(?<![来地白实单般就如据听再小传妄理接])(?<![句俗老的真]话)说(?![明法服话到起不的得完来去定好成什啥怎])道?|表示|抱怨|承认|声称|坦言|透露|强调|回复|"
    r"回答|写道)[过了]?"
)
_CLAUSE_ZH: Final = lazy_pattern(
    rf"(?:^|(?<=[，。！？；,!?;\n]))\s*(?P<head>[^，。！？；：,!?;:\n]{{1,30}}?){_SAYS_ZH}(?P<comma>\s?[，,])?\s?"
    r"(?P<said>[^，。！？；：,!?;:\n]*)"
)
_MEANS_ZH: Final = r"觉得|认为|以为|嫌|怪|夸|批评"
_ADVERBIALS: Final = lazy_pattern(
    r"(?:\s|总是?|老是?|常常?|经常|一直|都|也|还|又|就|刚才?|曾经?|已经?|之前|以前|后来|当时|\d{4}-\d{2}(?:-\d{2})?|\d\d:\d\d|"
    r"[早晚]上|[上下中]午|笑着|打电话|发(?:微信|消息|短信)|开会时?|在(?:电话|群|微信|会上?)里?|[跟对和向给](?:我|大家))*$"
)
_NAMES_ZH: Final = lazy_pattern(
    r"(?:^|[\s，。])(?:[他她](?:们)?|大家|别人|人家|有人|[我俺]?[^\W\d_A-Za-z不没别要想可以应该所如果是怎么话能会得就才都也很还只再每当然其实因为但虽我你按照比俗常总这那有说"
    r"听据言之]{2,3})$|[A-Z][A-Za-z]+$"
    rf"|(?:^|\s)[{SURNAMES}]$"
)
_TO_SOMEBODY: Final = lazy_pattern(rf"[我俺](?!{_KIN}|公司)[^的]{{0,6}}?[跟对和向给与同]")
_NO_PERSON: Final = lazy_pattern(r"[道按常][理]$|[故往]事$|人生$")
_DOCTOR: Final = lazy_pattern(
    r"(?:医生|大夫|牙医|医师|中医|护士|体检(?:报告)?|报告)$|\b(?:[Dd]octor|[Dd]entist|[Nn]urse)$"
)
_FEELS: Final = (
    r"(?!.{0,2}(?:[累困饿忙烦难渴怕想]|开心|高兴|生气|担心|害怕|后悔|喜欢|爱|期待|感动|激动|感谢|抱歉|遗憾))"
)
_OF_SPEAKER: Final = lazy_pattern(
    r"[我俺](?:这个?人)?(?:又|也|还|就)?(?:(?:太|很|挺|真|好|有[点些]|不够|比较|越来越|更)"
    + _FEELS
    + r"|总[是会]?|老是|老(?=[这那不爱])|不?像|不?应该|应当|不?该|最好|别|长得|看(?:起来|上去|着)|是一?个|一[顿通]|"
    r"几句|坏话|[胖瘦懒笨傻丑矮高黑白美帅](?=$|了|[得的]?像))"
)
_PERSON_ZH: Final = lazy_pattern(r"[我俺你您]|(?<![A-Za-z])I(?![A-Za-z])")
_REST: Final = lazy_pattern(r"[^。！？!?\n]*")

_SUBJECT: Final = (
    r"(?:(?:and|but|so|then)\s)?(?P<head>(?:[Mm]y|[Oo]ur|[Tt]he|[Hh]is|[Hh]er)\s(?:[a-z]+\s)?[A-Za-z]+|[A-Za-z][a-z]+)"
    rf"(?:\s{ADVERB})?\s"
)
_NOT_SUBJECT: Final = frozenset(
    ("as", "like", "that", "what", "when", "if", "strictly", "having", "it", "which", "who")
)
_TO: Final = r"(?:\s(?:back|(?:to\s)?(?:me|us|him|her|them|my\s\w+)))?"
_CLAUSE_EN: Final = lazy_pattern(
    rf"(?:^|(?<=[.!?;\n])\s*|(?<=,\s)|(?<=\d\s))\b{_SUBJECT}"
    rf"(?:(?:says?|said|told|tells|adds|added|claims|claimed|thinks|thought){_TO},\s"
    rf"|(?:text(?:s|ed)|writes?|wrote|repli(?:es|ed)|answer(?:s|ed)|shout(?:s|ed)|whisper(?:s|ed)|yell(?:s|ed)){_TO},?\s"
    r"(?=I\b))(?P<said>[^.!?\n]*)"
)
_PERSON_EN: Final = lazy_pattern(r"(?<![A-Za-z])(?:I|[Mm]y|me|you|your)(?![A-Za-z])")

_KIN_EN: Final = r"Mom|Mum|Mommy|Mummy|Dad|Daddy|Mother|Father|Grandma|Grandpa|Granny"
_OF_NOBODY: Final = lazy_pattern(
    r"(?:^|(?<=[，。！？；,.!?;\n]))\s?(?:(?:[Oo]n\s)?\d{4}-\d\d(?:-\d\d)?\s(?:\d\d:\d\d\s|(?:[早晚]上|[上中下]午)\\s?)?)?"
    r"(?:但是?|可是?|而且?|所以|因为|(?:[Aa]nd|[Bb]ut)\s)?"
    rf"(?P<kin>(?:{_KIN})|(?:{_KIN_EN})(?:\sand\s(?:{_KIN_EN}))?(?=\s))"
    r"(?=(?P<way>[^，。！？；：,!?;:\n]{0,24}?)"
    rf"(?:{_SAYS_ZH}|告诉我|{_MEANS_ZH}|\b(?:says?|said|tells?|told|thinks?|thought|claims?|believes?)\b)"
    r"[^。！？：.!?:\n]{0,40}?(?:[我俺]|(?<![A-Za-z])(?:I|me|my)(?![A-Za-z])))"
)
_WAY_EN: Final = lazy_pattern(rf"\s?(?:{ADVERB}\s)?")


def open_reports(text: str, speaker: str) -> list[tuple[int, int]]:
    """Return the stretches in which a first or second person may be somebody else. Linear in the text."""
    return [*_chinese(text, speaker), *_english(text, speaker)]


def _chinese(text: str, speaker: str) -> Iterator[tuple[int, int]]:
    for match in _CLAUSE_ZH.finditer(text):
        head = _ADVERBIALS.sub("", match["head"])
        said = _PERSON_ZH.search(match["said"])
        if said is None or not _is_somebody(head) or _speaks(match["head"], speaker):
            continue
        sure = not match["comma"] and said.group() in "我俺" and not re.search("[你您]", match["said"])
        if sure and (_DOCTOR.search(head) or _OF_SPEAKER.match(match["said"], said.start())):
            continue
        rest = _REST.match(text, match.start("said"))
        yield match.start("said"), rest.end() if rest else match.end()


def _speaks(head: str, speaker: str) -> bool:
    """Tell whether it is the speaker who says it, perhaps to somebody: 我要跟老板."""
    return speaks_zh(head, speaker) or _TO_SOMEBODY.search(head) is not None


def _is_somebody(head: str) -> bool:
    if _NO_PERSON.search(head):
        return False
    return is_role(head) or _NAMES_ZH.search(head) is not None or _DOCTOR.search(head) is not None


def _english(text: str, speaker: str) -> Iterator[tuple[int, int]]:
    for match in _CLAUSE_EN.finditer(text):
        head = match["head"]
        if head.split()[0].lower() in _NOT_SUBJECT or speaks_en(head, speaker):
            continue
        if _PERSON_EN.search(match["said"]):
            yield match.span("said")


def owned_kin(text: str, name: str) -> Iterator[Edit]:
    """Yield what says whose 妈妈 or Mom it is that says something of whoever speaks."""
    for match in _OF_NOBODY.finditer(text):
        kin, start = match["kin"], match.start("kin")
        if kin[0].isascii():
            if _WAY_EN.fullmatch(match["way"]):
                yield Edit(start, match.end("kin"), f"{name}'s {kin.lower()}")
        elif _ADVERBIALS.fullmatch(match["way"]):
            of = " 的" if name[-1].isascii() else "的"
            yield Edit(start, start, spaced(text, start, start, name).rstrip() + of)
