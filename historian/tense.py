"""Whether a clause speaks of the past, the future or a habit: enough to place a bare weekday or clock time.

Each pattern is run over the text once, whatever the number of questions asked: the time stays linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Final

from historian.patterns import lazy_pattern, words

_BREAK: Final = lazy_pattern(
    r"[。！？；，、!?;,\n：]|:(?=\s)|\.(?=\s|$)|(?<![A-Za-z])(?:but|because|which|who|while|although|then|so)(?![A-Za-z])"
)
_OPENING: Final = lazy_pattern(r"\s*(?:on|in)?\s*", re.IGNORECASE)
"""Before a time that opens a sentence: `On Friday, I got the job` speaks of the past behind the comma."""
_REACH: Final = 120

_SHALL_ZH: Final = (
    r"(?<![重主首摘纪概纲简])要(?![求素点紧闻塞害领职案务])|"
    r"(?<![聚约晚年宴大协例社机商展庙酒集学工乐歌舞茶动博盛幽体领误教意的])(?<!家长)(?<!主题)(?<![开办]班)会(?![议员计场所长展费话见晤谈堂馆客诊籍])"
)
"""要 and 会 as words of their own: not in 重要, 会议, 机会, 学会."""
_SOON_ZH: Final = lazy_pattern(r"快[^。，]{0,10}了|" + _SHALL_ZH)
_ZH_FUTURE: Final = lazy_pattern(
    _SHALL_ZH + r"|(?<![麻大名主少中干])将(?![军领士近])|(?<![技功性智热电动万才本职节潜机])能(?![力量源人手])|"
    r"准备|打算|计划|可以|应该|得(?=[去交开做])|记得|提醒|约好|约了|定在|定于|改到|改成|改在|推迟到|推到|延到|安排|预约|"
    r"吧(?=[。！？；，、!?;,\s]|$)|再(?![次生婚版度现])|截止|到期|前(?:要|得|交)|必须|别忘"
)
_ZH_PAST: Final = lazy_pattern(
    r"了|过(?!年|节|生|敏|程|来|去|期)|的(?=[。！？；，、!?;,\s]|$)|刚|已经|曾|才[^能会]|没(?!有?(?:[课空事法]|时间))|得(?:很|挺|特别|非常|太)|被(?![子套动单窝褥])|发现|弄丢|听说|迟到|以来|至今|那[天晚]|[搬买写做开看吃见到]完"
)
_CALLED_OFF: Final = lazy_pattern(
    r"(?:(?<![得要])不(?:再|用|能|想|要|打算)?(?:[去来回约聚办用能想要]|参加|加班|上班|上课|开会|出门|出差|出去|值班|见面|过[来去]|在家)"
    r"[^。！？；，、!?;,\n]{0,16}|(?:取消|延期|改期|推迟|顺延))了(?=[。！？；，、!?;,\s]|$)"
)
"""A change of plan, which looks like something done: 周五不去爬山了."""
_EN_FUTURE: Final = lazy_pattern(
    r"\b(?:will|won't|shall|going to|gonna|to be|is due|are due|due|can|should|must|need to|needs to|have to|has to|"
    r"want to|wants to|plan to|plans to|plan on|let's|lets|remind|would like|may|might|am|is|are|isn't|aren't)\b"
    r"|(?<=[A-Za-z])['’](?:ll|m|re|s\ going)\b",
    re.IGNORECASE,
)
_ANNOUNCED: Final = lazy_pattern(
    r"\b(?:will|won't|shall|going to|gonna|need to|have to|has to|must|let's|lets|remind)\b|(?<=[A-Za-z])['’]ll\b",
    re.IGNORECASE,
)
_WILL: Final = lazy_pattern(
    r"\b(?:will|won't|shall)\b|(?<=[A-Za-z])['’]ll\b|\b(?:should|can|may|must)(?!\s(?:not\s)?have\b|['’]ve\b)\b|"
    r"\b(?:has|have|needs?)\sto\b|\b(?:am|is|are)\s(?:due|expected|scheduled|supposed|going\sto)\b",
    re.IGNORECASE,
)
"""Behind a word of the past: `told me he will be back on Monday` speaks of a day to come."""
SELDOM_PAST: Final = words(
    "fed swept wept crept struck shone lit bent dug swung spun stung sought dove strove shrank sprang stank wrung "
    "clung flung knelt bred bled overheard underwent forgave forbade overcame undertook withstood mistook "
    "misunderstood foresaw outgrew rewrote rebuilt redid undid overate oversaw"
)
"""Irregular pasts that are less often said."""
IRREGULAR: Final = words(
    "was were did had went came saw met took got gave made said told left lost won ran sold sent spent "
    "bought brought caught thought taught fought felt fell found flew forgot froze broke began became bit "
    "blew built burnt chose cut cost dealt dreamt learnt leapt leant spelt spilt spoilt smelt "
    "drank drove ate heard held hit hurt kept knew laid led "
    "lent let lay meant paid quit read rode rang rose sang sat shook shot shut slept slid spoke spilt "
    "stood stole stuck swam swore threw tore understood woke wore wrote wasn't weren't didn't hadn't "
    "couldn't wouldn't overslept withdrew drew grew hid hung sank put set"
)
_EN_PAST: Final = lazy_pattern(
    r"\b(?:"
    + "|".join((*IRREGULAR, *SELDOM_PAST, "split", "spread", "upset", "burst"))
    + r"|(?!(?:need|indeed|speed|feed|seed|bed|red|wed|shed|breed|proceed|exceed|succeed|weed|supposed|excited|"
    r"interested)\b)[a-z]{2,20}ed)\b",
    re.IGNORECASE,
)
_HABIT: Final = lazy_pattern(
    r"每[天日周月年个逢晚早次]|每逢|逢周|天天|周周|经常|通常|平时|总是|一般|习惯|往往|一向|从来|都会|"
    r"\b(?:every|each|usually|always|often|typically|normally|generally|never|daily|weekly|sometimes|rarely)\b",
    re.IGNORECASE,
)
_RHYTHM: Final = lazy_pattern(
    r"每[天日周晚早]|每个?(?:星期|礼拜|工作日)|天天|日日|\b(?:every|each)\s(?:single\s)?(?:day|week|weekday|weekend|morning|evening|night)\b|\b(?:daily|weekly)\b",
    re.IGNORECASE,
)
"""What is done at an hour of every day."""
_LISTED: Final = lazy_pattern(
    r"(?:[\s,，、/&~–—:：0-9零一二两三四五六七八九十点时半刻分日天号和及与跟或以到至-]|周|星期|礼拜|凌晨|清晨|早上|早晨|上午|中午|"
    r"下午|傍晚|晚上|夜里|[早晚]|\b(?:and|or|to|at|on|in|the|also|as|well|morning|afternoon|evening|night|noon|[ap]m|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tue|wed|thu|fri|sat|sun)\b)*+",
    re.IGNORECASE,
)
"""Between what recurs and one more of its days or hours: every Monday, Wednesday and Friday; 每天早上六点、晚上十点."""
_NEW_CLAUSE: Final = lazy_pattern(r",\s(?:on\s)?\w+day\s(?:I|we|he|she|they|you)\b", re.IGNORECASE)
"""Every Monday, on Friday I fly: the comma ends the list."""
MORE_DAYS: Final = (
    r"[二三四五六]{1,4}(?=[早晚上下中去来要有在都不也我你他她学练跑健打游开值休做吃喝看教加出]|"
    r"[，。、；！？,.!?;\s]|$)(?!上[千百万]|下子)"
)
"""Behind a weekday: more of them as mere numbers (周一三五)."""
_ROUTINE: Final = lazy_pattern(
    r"(?<![个几一二三四五六七八九十两0-9到至])工作日|(?<![上下这本])周[一二三四五六](?:到|至|-|~)周?[二三四五六日天]|"
    rf"(?<![上下这本])(?:周|星期|礼拜)[一二三四五]{MORE_DAYS}|"
    r"\b(?:weekdays|weekends|workdays|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.IGNORECASE,
)
"""A plan for all weeks: behind it a bare weekday is one of every week, too (on weekdays at 6, on Saturday at 9)."""
_WEEKLY: Final = lazy_pattern(
    r"平时|平常|通常|\b(?:usually|normally)\b|每(?:个|逢)?(?:周|星期|礼拜)|逢周|\b(?:every|each)\s(?:week|weekday|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
_DONE_WEEKLY: Final = lazy_pattern(
    r"(?:上班|加班|值班|轮班|上课|补课)(?!族|路|的|时)|休息(?![室日])|轮休|[双单]休|营业|[开关]门|办公(?![室楼桌软])|(?<!的)工作(?=$|[。！？；，、,.!?;\s])|不[吃喝]|"
    r"(?:\b(?:I|you|we|they|he|she|(?:[Mm]y|[Oo]ur)\s\w+|[A-Z][a-z]+)\s|[我\u4e00-\u9fff]\s?)"
    r"(?:(?:also|still|only|both|do(?:es)?n['’]t|do(?:es)?\snot|never)\s){0,2}"
    r"(?:works?|teach(?:es)?|trains?|volunteers?|coach(?:es)?|practi[cs]es?|babysits?|eats?|drinks?|cooks?|smokes?|swims?|"
    r"stud(?:y|ies))\b"
)
"""What is done, or not, on a weekday of every week as well as on one: I don't work Friday, 周六加班."""
_ONCE: Final = lazy_pattern(r"去|来(?=[^，。]*(?:上班|加班|上课))|一[天下]|半天|请假|调休")
_ENDS_CLAUSE: Final = lazy_pattern(r"\b(?:until|till|before|by|since|after|from)\s$", re.IGNORECASE)
_SENTENCE: Final = lazy_pattern(r"[。！？!?\n；;]|\.\s")
_TOLD: Final = lazy_pattern(
    r"告诉|[跟对向][^，。；！？]{1,6}[说讲提](?![明服前])|(?<![听小传据再来])说(?![服明不话法])|表示|承认|透露|抱怨|提到|决定|提出|答应|拒绝|同意|"
    r"通知|宣布|公布|回复|确认|收到|遇到|碰到|[让叫约催][我他她](?!们)"
)
"""What is told on a day has happened, where no word of the future stands before it: 小王周一告诉李哲."""
_DECIDED: Final = frozenset(words("决定 提出 答应 拒绝 同意 通知 宣布 公布 回复 确认 收到 遇到 碰到"))
"""These may be a plan as well (周一开会决定)."""
_NOT_TOLD: Final = lazy_pattern(
    r"要|将|(?<![开机社聚晚年宴大协例])会(?![议员面场上])|准备|打算|计划|可以|应该|记得|提醒|必须|别忘|再|得|想"
)
_OPEN: Final = lazy_pattern(r"是否|要不要|会不会|能不能|怎么|什么|[谁哪几吗呢?？]|如何|多少|的事|一[声下]")
_SPOKEN: Final = lazy_pattern(r"[我你您咱]")
_ABSOLUTE: Final = lazy_pattern(
    r"\d{4}-\d{1,2}(?:-\d{1,2})?|\d{4}/\d{1,2}|\d{4}\s?年|\d{1,2}\s?月\s?\d{1,2}\s?[日号]?|"
    r"[一二三四五六七八九十]{1,2}月[一二三四五六七八九十]{1,3}[日号]?|"
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|"
    r"jul|aug|sept?|oct|nov|dec)\.?\s\d{1,2}|\d{1,2}(?:st|nd|rd|th)?\s(?:of\s)?(?:january|february|march|april|may|june|"
    r"july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_COMMENT: Final = lazy_pattern(r"[\s,，(（]*(?:就?是|is\s|was\s)?\s?(?:the\s|a\s)?", re.IGNORECASE)


class Clauses:
    """One text, and what its clauses speak of."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[re.Pattern[str], tuple[list[int], list[int]]] = {}

    def _matches(self, pattern: re.Pattern[str]) -> tuple[list[int], list[int]]:
        """Return starts and ends of all matches; both rise."""
        if pattern not in self._found:
            spans = [match.span() for match in pattern.finditer(self.text)]
            self._found[pattern] = ([start for start, _ in spans], [end for _, end in spans])
        return self._found[pattern]

    def first(self, pattern: re.Pattern[str], left: int, right: int) -> int | None:
        """Return where the first match that starts within [left, right) starts, or None."""
        starts, _ = self._matches(pattern)
        i = bisect_left(starts, left)
        return starts[i] if i < len(starts) and starts[i] < right else None

    def bounds(self, start: int, end: int) -> tuple[int, int]:
        """Return the bounds of the clause around [start, end), at most 120 characters to each side."""
        starts, ends = self._matches(_BREAK)
        left, right = max(0, start - _REACH), min(len(self.text), end + _REACH)
        i = bisect_right(ends, start) - 1
        if i >= 0:
            left = max(left, ends[i])
        j = bisect_left(starts, end)
        if j < len(starts):
            right = min(right, starts[j])
            if _OPENING.fullmatch(self.text, left, start) and self.text[end : right + 1] in {",", "，", ":", "："}:
                right = starts[j + 1] if j + 1 < len(starts) else len(self.text)
                right = min(right, end + _REACH)
        return left, right

    def says(self, pattern: re.Pattern[str], start: int, end: int) -> bool:
        """Tell whether a pattern is found in the clause around [start, end)."""
        left, right = self.bounds(start, end)
        return self.first(pattern, left, right) is not None

    def _around(self, pattern: re.Pattern[str], start: int, end: int) -> int | None:
        """Return where a pattern is first found in the clause but outside [start, end), or None."""
        left, right = self.bounds(start, end)
        before = self.first(pattern, left, start)
        return before if before is not None else self.first(pattern, end, right)

    def is_past(self, start: int, end: int) -> bool:
        """Tell whether the clause around an expression speaks of the past."""
        _, right = self.bounds(start, end)
        if _CALLED_OFF.search(self.text, end, min(len(self.text), right + 1)):
            return False
        done = self.text[end:right].rstrip().endswith("了")
        if self._around(_ZH_FUTURE, start, end) is not None and not done:
            return False
        if self._around(_ZH_PAST, start, end) is not None:
            return self._around(_SOON_ZH, start, end) is None
        past, future = self._around(_EN_PAST, start, end), self._around(_EN_FUTURE, start, end)
        if past is None or (future is not None and future <= past):
            return False
        left, _ = self.bounds(start, end)
        return self.first(_WILL, max(left, past), start) is None

    def is_announced(self, start: int, end: int) -> bool:
        """Tell whether the clause around an expression announces something (要, 记得, will, let's)."""
        return any(self._around(pattern, start, end) is not None for pattern in (_ZH_FUTURE, _ANNOUNCED))

    def is_habit(self, start: int, end: int) -> bool:
        """Tell whether the clause around an expression speaks of something that recurs."""
        return self.says(_HABIT, start, end)

    def recurs(self, start: int, end: int) -> bool:
        """Tell whether an expression is of something that recurs, by its own clause or as one of a list or routine."""
        return self.is_habit(start, end) or self._is_listed(start, end) or self._is_beside(_ROUTINE, start, end)

    def may_recur(self, start: int, end: int) -> bool:
        """Tell whether a weekday may be one of every week: beside something weekly, or of what is done by weekdays."""
        return self._is_beside(_WEEKLY, start, end) or self._is_rhythm(start, end)

    def _is_rhythm(self, start: int, end: int) -> bool:
        """Tell whether the clause says in the plain present what is done, or not, on a weekday: 我周五不上班."""
        if self._around(_DONE_WEEKLY, start, end) is None or _ENDS_CLAUSE.search(self.text, max(0, start - 8), start):
            return False
        if self.is_past(start, end) or self.is_announced(start, end) or self._around(_ONCE, start, end) is not None:
            return False
        return self._around(_EN_FUTURE, start, end) is None

    def is_beside_habit(self, start: int, end: int) -> bool:
        """Tell whether another clause of the sentence says that it recurs: 早上九点到晚上九点，每周六天."""
        return self._is_beside(_RHYTHM, start, end)

    def _is_listed(self, start: int, end: int) -> bool:
        """Tell whether only further days and hours stand between what recurs and an expression."""
        _, ends = self._matches(_HABIT)
        i = bisect_right(ends, start) - 1
        if i < 0 or start - ends[i] > _REACH or _NEW_CLAUSE.search(self.text, max(0, start - 5), end + 9):
            return False
        return _LISTED.fullmatch(self.text, ends[i], start) is not None

    def _is_beside(self, pattern: re.Pattern[str], start: int, end: int) -> bool:
        """Tell whether another clause of the sentence says so, and the own one is neither past nor announced."""
        low, high = max(0, start - _REACH), min(len(self.text), end + _REACH)
        starts, _ = self._matches(_SENTENCE)
        i, j = bisect_left(starts, start), bisect_left(starts, end)
        low = max(low, starts[i - 1] + 1) if i else low
        high = min(high, starts[j]) if j < len(starts) else high
        left, right = self.bounds(start, end)
        starts, ends = self._matches(pattern)
        near = range(bisect_left(starts, low), bisect_right(starts, high))
        found = [(starts[n], ends[n]) for n in near if ends[n] <= start or end <= starts[n]]
        if not any(b <= left or right <= a or self.text[a].isascii() for a, b in found):
            return False
        return not (self.is_past(start, end) or self.is_announced(start, end))

    def reports(self, start: int, end: int) -> bool | None:
        """Tell whether something was told or decided on the day of a Chinese weekday; None where it may be to come."""
        left, right = self.bounds(start, end)
        told = _TOLD.search(self.text, end, right)
        if told is None:
            return False
        before = self.text[left:start] + self.text[end : told.start()]
        if _NOT_TOLD.search(before):
            return False
        if told.group() in _DECIDED or told.group()[0] in "让叫约催" or not before.strip() or _SPOKEN.search(before):
            return None
        return True if _OPEN.search(self.text, told.end(), right + 1) is None else None

    def dated_before(self, low: int, high: int) -> tuple[int, int] | None:
        """Return where the last absolute date within [low, high) stands, or None."""
        starts, ends = self._matches(_ABSOLUTE)
        i = bisect_right(ends, high) - 1
        return (starts[i], ends[i]) if i >= 0 and starts[i] >= low else None

    def is_dated(self, start: int, end: int) -> bool:
        """Tell whether an absolute date stands within 120 characters of an expression."""
        return self.first(_ABSOLUTE, max(0, start - _REACH), end + _REACH) is not None

    def comments_date(self, start: int, end: int) -> bool:
        """Tell whether an expression only comments an absolute date: `Friday, 20 February`, `2026-02-20 (周五)`."""
        starts, ends = self._matches(_ABSOLUTE)
        i = bisect_left(starts, end)
        if i < len(starts) and starts[i] - end < 8 and _COMMENT.fullmatch(self.text, end, starts[i]):
            return True
        j = bisect_right(ends, start) - 1
        return j >= 0 and start - ends[j] < 8 and _COMMENT.fullmatch(self.text, ends[j], start) is not None
