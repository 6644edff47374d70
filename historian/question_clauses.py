"""What a sentence states before it asks.

我对花生过敏，推荐几家餐厅？ says something of the speaker, and then wants advice.
"""

from __future__ import annotations

import re

from historian.patterns import lazy_pattern

_COMMA = re.compile(r"[，,；;]\s*")
_OWN_ZH = lazy_pattern(r"\A\s*(?:你好|您好|对了|其实|另外|还有|顺便说一下)?[，,]?\s*我(?!们?的?[吗呢])")
_TELLS_ZH = lazy_pattern(
    r"过敏|(?<!不)是(?!不是|否|说)|有(?!没有|时|可能)|刚|已经|正在|一直|从来|喜欢|讨厌|爱[吃喝看]|(?:不|不能|不敢)[吃喝]|吃素|住在|怀孕|\d+\s*岁"
)
_DONE_ZH = lazy_pattern(r"(?<![为除])了(?!解)")
_FOLLOWS_ZH = lazy_pattern(r"会(?!议|员)|就")
_OPEN_ZH = lazy_pattern(
    r"谁|什么|哪|几(?!乎|年)|多少|怎|为何|[吗呢么]|(?P<verb>[是有会能要该对好行])[没不](?P=verb)|如果|要是|假如|假设|万一|可能|应该|好像|或者|还是"
)
_TAG_ZH = lazy_pattern(
    r"\A你?还?(?:对|不?是|好|行|真的|没错|懂|信|记得|知道|觉得|说|认为)(?:不(?:对|是|好|行|信|知道))?(?:了|的)?[吗吧嘛呢么]?[\s？?]*\Z|\A还是|\A或者"
)
_OWN_EN = lazy_pattern(
    r"\A\s*(?:(?:hi|hello|hey|btw|by the way|also|and|so|well),?\s+)?"
    r"(?:(?:I|we)(?:['’](?:m|ve|re)|\s(?:am|are|have|had|was|were|live|work|moved|love|like|hate|"
    r"can['’]?t|cannot|do(?:n['’]t|\snot)|never|just|already|recently|take|eat|drink))\b|my\s(?:\w+\s){1,3}(?:is|are|has|have|was|were)\b)",
    re.IGNORECASE,
)
_OPEN_EN = lazy_pattern(
    r"\b(?:if|whether|unless|would|could|might|maybe|perhaps|probably|wonder(?:ing)?|guess|think|suppose|sure|know|what|who|which|when|where|why|how|or)\b",
    re.IGNORECASE,
)
_ASKS_EN = lazy_pattern(
    r"\A(?:(?:so|and|but|then|now|please)\s+)?(?:what|where|which|who|how|why|when|can|could|do|does|did|is|are|any|should|would|will|may|"
    r"have|has|got|recommend|suggest)\b",
    re.IGNORECASE,
)
_TAG_EN = lazy_pattern(
    r"\A(?:and\s|but\s)?(?:is|are|am|was|were|do|does|did|have|has|had|can|could|should|would|will|ai)(?:n['’]t|\snot)?\s"
    r"(?:I|we|it|he|she|they|you|that)(?:\s(?:not|know|think|remember|agree))?\s*[?？]",
    re.IGNORECASE,
)


def told_before_asking(question: str) -> int:
    """Return how many characters of a sentence that ends as a question state something first; mostly 0.

    Only plain statements of the speaker count, clause by clause from the start. What a tag asks to be confirmed
    (…，对吗？), what is offered as a choice (…，还是…？) and what may be a condition (我辞职，老板会同意吗？) is asked.
    """
    ends = [comma.end() for comma in _COMMA.finditer(question.rstrip())]
    if not ends or not _asks_apart(question, ends):
        return 0
    told, is_own = 0, False
    for start, end in zip([0, *ends], ends, strict=False):
        clause = question[start:end]
        is_own = is_own or _OWN_ZH.search(clause) is not None
        if not ((is_own and _tells_zh(clause, question[ends[-1] :])) or _tells_en(clause)):
            break
        told = end
    return told


def _asks_apart(question: str, ends: list[int]) -> bool:
    last = question[ends[-1] :].strip()
    if last.isascii() or not re.search(r"[\u4e00-\u9fff]", last):
        return _ASKS_EN.search(last) is not None and _TAG_EN.search(last) is None
    return _TAG_ZH.search(last) is None


def _tells_zh(clause: str, asked: str) -> bool:
    if _OPEN_ZH.search(clause):
        return False
    is_done = _DONE_ZH.search(clause) is not None and _FOLLOWS_ZH.search(asked) is None
    return is_done or _TELLS_ZH.search(clause) is not None


def _tells_en(clause: str) -> bool:
    return _OWN_EN.search(clause) is not None and _OPEN_EN.search(clause) is None
