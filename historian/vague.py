"""Finds times that cannot be made absolute: 前两天, 最近, 月底, these days. They are flagged, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from historian.patterns import lazy_pattern

_FEW_ZH: Final = (
    r"(?:[几数多]|好几|若干|几十|几百|(?<![一二两三四五六七八九几数0-9])[百千]|十几|十多|[一二两三四五六七八九]{2})"
)
_UNIT_ZH: Final = "(?:秒钟?|分钟|个?小时|个?钟头|天|日|周|个?星期|个?礼拜|个月|年)"
_WAY_ZH: Final = "(?:以前|之前|前(?![后面端])|以后|之后|后(?![端面]))"

_ZH: Final = lazy_pattern(
    r"前(?:两|几|些|一?阵|段)(?:天|年|周|日|子|个?星期|个月|个?时间|时候)?(?:子|间)?|前一?段(?:时间|日子)|"
    r"[这近][两几些]?(?:天|阵子?|段时间|段日子|几周|几个月|几年|两年|两周)|这[两几]个?(?:天|周|月|年|星期|礼拜)|"
    r"最近(?!公共|邻|的?[一]?[家条座间站])|近[来期日况](?!记|视|点)|近年来?|"
    r"(?<![0-9一二三四五六七八九十月年个本上下这正腊])(?<![0-9]\s)(?:月[底初末中](?!奖|旬)|年[底初末](?!片|恋|[一二三四五六七八九十])|(?<!青)年中(?!国)|季[度]?末)|"
    r"过(?:两|几|些|一?阵|一?段)(?:天|年|周|日|个月|个?星期|时间|日子)?子?|不久(?:之?[前后]|以[前后])?|"
    r"刚才|刚刚|方才|(?<!从)刚(?=[搬换买到来去回做吃写看完起开结辞入装换学毕])|"
    r"(?<!体)现[在今](?!代)|(?<![项题])目前(?!为止)|眼下|当[前下](?!载|单)|如今|此刻|这会儿|这时候?|(?<![招款接])待会儿?|等会儿?|"
    r"(?<![不一过])一会儿(?=[去来再要就给])|稍后|过后|改天|改日|(?<!即)将来|今后|日后|往后|(?:^|(?<=[，。；！？\s]))(?:以[后前]|从前(?![天日年晚两几些不阵段]))|"
    r"(?<![每个逢上下这本双])周末(?!愉快)|[上下]次(?!数)|(?<![年度0-9])(?<![年0-9]\s)[上下]半年(?!度)|[上下这本]个?学期|至今|迄今|(?<![木斗骑走出])马上(?=[要就到去来给会开出回发])|(?<![立随])即将|"
    + _FEW_ZH
    + _UNIT_ZH
    + "多?"
    + _WAY_ZH
    + rf"|[0-9一二两三四五六七八九十]{{1,3}}{_UNIT_ZH}多{_WAY_ZH}|[一二两三四五六七八九十]{{1,3}}多{_UNIT_ZH}{_WAY_ZH}|"
    + r"(?:过去|未来|最近|近)(?:的)?[0-9一二两三四五六七八九十几数]{1,3}"
    + _UNIT_ZH
    + rf"|还有(?:[0-9]{{1,3}}|[一二两三四五六七八九十半]{{1,3}}){_UNIT_ZH}(?=[就才到])|"
    rf"(?<![第0-9一二两三四五六七八九十])(?:[0-9]{{1,3}}|[一二两三四五六七八九十半]{{1,3}})(?:天|周|个半?星期|个半?礼拜|个半?月|年)半?多?了(?![解])"
)
_ZH_RECURRING: Final = lazy_pattern(r"每个?$|逢$")

_FEW: Final = r"(?:a\scouple(?:\sof)?|a\sfew|several|some|many|a\snumber\sof|dozens\sof|a\sbunch\sof|two\sor\sthree)"
_UNIT: Final = r"(?:seconds?|minutes?|mins?|hours?|days?|nights?|weeks?|months?|years?|decades?)"
_EN: Final = lazy_pattern(
    r"(?<![A-Za-z0-9_'’/@#&-])(?:"
    rf"{_FEW}\s(?:more\s)?{_UNIT}\s(?:ago|back|from\snow)|in\s{_FEW}\s{_UNIT}|(?:the\s)?(?:last|past|next)\s(?:few|couple\sof|several)\s{_UNIT}|"
    rf"(?:more\sthan|less\sthan|over|almost|nearly|under)\s(?:an?|\d{{1,3}}|[a-z]{{3,9}})\s{_UNIT}\sago|"
    rf"(?:for|over|in|during|within)\sthe\s(?:last|past|next|coming)\s(?:(?:\d{{1,3}}|[a-z]{{3,9}})\s)?{_UNIT}|"
    r"(?:(?:quite\s)?a\s(?:long\s)?while|some\stime|not\slong|long|a\slong\stime|ages|moments|an?\sdecades?|decades)\s(?:ago|back)|"
    r"(?:the\sother|one\sof\sthese|these)\s(?:day|night|week|month|morning|evening)s?|"
    r"(?:two|three|four|\d)\s(?:mon|tues|wednes|thurs|fri|satur|sun)days\sago|recently|lately|nowadays|just\snow|right\snow|at\sthe\smoment|currently|presently|at\spresent|(?:by\s)?now(?!\sand\s(?:then|again)\b)|soon|shortly|"
    r"someday|some\sday|in\sa\s(?:bit|while|moment|jiffy)|any\sday\snow|at\sthis\stime|"
    r"(?:the\s)?(?:end|beginning|start|middle)\sof\sthe\s(?:day|week|month|quarter|year)|"
    r"(?:on|over|at|this\spast|for)\sthe\sweekend|later\s(?:on)?(?=[.!?,]|$)|earlier(?=[.!?,]|$)|last\stime|next\stime|"
    r"(?:last|next|this)\s(?:winter|christmas|easter|thanksgiving|halloween|holidays?)|the\s(?:last|next)\s(?:week|month|year)(?!\sof)"
    r"|(?:\d{1,3}|[a-z]{3,9})\s(?:days|weeks|months)\s(?:pregnant|old|sober|clean)"
    r")(?![A-Za-z0-9_@-])",
    re.IGNORECASE,
)


def find_vague(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of vague times in a text, in no particular order."""
    for match in _ZH.finditer(text):
        if not _ZH_RECURRING.search(text, max(0, match.start() - 2), match.start()):
            yield match.span()
    for match in _EN.finditer(text):
        yield match.span()
