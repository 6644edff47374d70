"""What of a conversation is worth remembering, decided by rules: conservative, since small talk must not be kept.

A sentence counts when somebody says of themselves what they like, what is so for long, what is agreed for a day, what
they plan, or whom they belong to. Questions, requests, hypotheses and moods do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from historian.injection import looks_like_instruction

Kind = Literal["preference", "fact", "appointment", "plan", "relationship"]

REASONS: dict[Kind, str] = {
    "preference": "It says what somebody likes, avoids or cannot take.",
    "fact": "It says something lasting about a person.",
    "appointment": "It names something that is agreed for a certain time.",
    "plan": "It says what somebody plans or has decided.",
    "relationship": "It says who belongs to whom.",
}
NOTHING = "No sentence states a preference, a lasting fact, an appointment, a plan or a relationship."

SHORTEST, LONGEST = 3, 300
_MOST_SENTENCES = 200
_KIN_ZH = (
    "妈妈?|爸爸?|母亲|父亲|老婆|老公|妻子|丈夫|女朋友|男朋友|女友|男友|对象|儿子|女儿|孩子|宝宝|哥哥?|姐姐?|弟弟?|妹妹?|"
    "爷爷|奶奶|外公|外婆|同事|老板|领导|室友|闺蜜|好朋友|朋友|老师|导师|猫|狗"
)
_KIN_EN = (
    "mother|mom|mum|father|dad|wife|husband|partner|girlfriend|boyfriend|fiancée?|son|daughter|kids?|children|brother|"
    "sister|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|colleague|boss|manager|roommate|flatmate|"
    "best friend|friend|teacher|dog|cat|parents"
)
_ROWS: tuple[tuple[Kind, str], ...] = (
    (
        "preference",
        r"(?:我|俺|咱)\S{0,8}?(?:(?:喜欢|讨厌|最爱|偏好|偏爱|受不了)(?![你您这那它上下]|一下)|爱吃|爱喝|爱看|爱听|吃素|忌口|不吃|不喝|从不|戒了|习惯(?:了|"
        r"用|在|早|晚))|(?:我|俺|咱).{0,20}?过敏",
    ),
    ("preference", r"\bI(?:'m| am)\s(?:not\s)?(?:allergic|intolerant|vegan|vegetarian|afraid of|fond of|into\s)"),
    (
        "preference",
        r"\bI\s(?:really\s|also\s|absolutely\s|always\s|usually\s)?(?:like|love|hate|dislike|prefer|enjoy|"
        r"avoid|can'?t stand|"
        r"don'?t (?:like|eat|drink)|do not (?:like|eat|drink)|never (?:eat|drink))\s(?!(?:it|this|that|"
        r"these|those|your?|the idea|how|when)\b)",
    ),
    ("preference", r"\bmy favou?rite\s(?:\w+\s){1,4}(?:is|are)\b"),
    (
        "relationship",
        rf"我(?:的|家|们家)?(?:{_KIN_ZH})\S{{0,8}}?(?:叫|名叫|是|在|住|姓|今年|\d|喜欢|讨厌|过敏|不吃|怀孕|结婚|出生|毕业|生日|上[大中小学幼])",
    ),
    (
        "relationship",
        rf"\bmy\s(?:\w+\s)?(?:{_KIN_EN})(?:'s)?\s(?:\w+\s)?(?:is|was|are|lives?|works?|likes?|loves?|"
        rf"hates?|studies|has|moved|married|"
        r"named|called|turns?)\b",
    ),
    (
        "fact",
        r"我(?:现在|目前|一直|从小)?(?:叫|姓|住在?|来自|出生|毕业|养了|患有?|怀孕|结婚|离婚|搬到|搬家|搬去|换了?工作|入职|离职|辞职|"
        r"跳槽|考上|退休|是(?!说|想|问|不是|在|否|来|去|指)|会说|会弹|不会(?!吧|再|忘)|在\S{1,12}(?:工作|上班|上学|读书|读研|读博|任职|实习)|"
        r"今年\s?\d|有[一两三四五六七八九\d]+[个只条台辆套位])",
    ),
    (
        "fact",
        r"我的?(?:生日|电话|手机号|邮箱|血型|身高|体重|名字|职业|专业|地址|工号|血压|尺码|鞋码|母语)\S{0,4}?(?:是|在|为|有|[:：]|\d)",
    ),
    (
        "fact",
        r"\bI(?:'m| am)\s(?:\d{1,3}\b|a\s(?!bit|little|fan of (?:this|that|it)|lot)|an\s|from\s|based in|"
        r"married|engaged|divorced|pregnant|"
        r"retired|left-handed|colou?r-?blind|diabetic|learning|studying|working (?:at|for|as))",
    ),
    (
        "fact",
        r"\bI\s(?:live|work|study|teach|speak|play|moved|graduated|was born|grew up|started (?:at|as|"
        r"working)|quit my|own|run a|"
        r"have (?:a|an|two|three|four|five|\d+)\s(?!question|problem|idea|issue|request|feeling|doubt|bug|"
        r"error|meeting|lot|look))\b",
    ),
    (
        "fact",
        r"\bmy\s(?:birthday|name|phone|email|address|blood type|shoe size|job|native language|employee id|"
        r"badge)\b.{0,30}?\b(?:is|was)\b",
    ),
    (
        "plan",
        r"我\S{0,6}?(?:打算|计划|准备(?:去|买|学|换|考|搬|开|找|申请|报)|决定|下定决心|报了?名|订了|买了\S{0,6}票)",
    ),
    (
        "plan",
        r"\bI(?:'m| am)\s(?:planning|moving|getting married|flying|travell?ing|starting|going to (?:move|"
        r"study|start|visit|marry|quit|"
        r"buy|learn|travel|fly|join))|\bI\s(?:plan|intend|decided|have decided|booked|signed up)\b|"
        r"\bI(?:'ve| have)\s(?:decided|booked|signed up)\b",
    ),
    (
        "appointment",
        r"(?:我|我们|咱们?)\S{0,30}?(?:开会|面试|体检|复查|复诊|看牙|手术|航班|飞往|飞去|出发|考试|答辩|婚礼|聚会|聚餐|约了|约好|预约|截止|交稿|上线|报到)",
    ),
    (
        "appointment",
        r"\b(?:I|we|my)\b.{0,40}?\b(?:appointment|interview|flight|exam|wedding|surgery|check-?up|dentist|"
        r"deadline|ceremony|conference)\b",
    ),
)
_DATED_ONLY: frozenset[Kind] = frozenset({"appointment"})
_NOT = re.compile(
    r"[?？]\s*$|(?:吗|么|呢|吧)[。!！~～\s]*$|^(?:请|帮|麻烦|给我|替我|告诉我|写|翻译|解释|总结|怎么|如何|为什么|为啥|什么|哪)"
    r"|(?:帮我|请你|你能|能不能|可不可以|给我(?:写|讲|推荐|查|算|列)|告诉我)|如果|要是|假如|假设|比如|举个例子|开玩笑|才怪"
    r"|\b(?:please|can you|could you|would you|help me|tell me|show me|write me|remind me|if I|suppose|"
    r"imagine|for example|"
    r"just kidding|lol)\b|^(?:what|why|how|when|where|who|which|is|are|do|does|did|can|could|should|would)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"好累|好困|好烦|好饿|好开心|心情|无聊|晕|哈哈|呵呵|谢谢|多谢|再见|晚安|早安|早上好|你好"
    r"|\bI(?:'m| am)\s(?:so |very |really |just |a bit |a little )?(?:tired|hungry|bored|happy|sad|fine|"
    r"good|ok|okay|sorry|sure|back|here|"
    r"confused|afraid (?:not|so|that))\b|\bthank(?:s| you)\b|\bgood (?:morning|night|evening)\b",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"(?<=[。！？!?\n；;])|(?<=\.)\s+(?=[A-Z\"“])")
_CODE = re.compile(r"```|[{};]\s*$|^\s*(?:at |File |Traceback|def |class |import |>>>|\$ )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Worth:
    """A sentence worth remembering, and what kind of thing it says."""

    sentence: str
    kind: Kind


def worth_keeping(text: str) -> list[Worth]:
    """Return the sentences of a message that are worth remembering, in their order. Takes time linear in the text."""
    if _CODE.search(text):
        return []
    sentences = (part.strip() for part in _SPLIT.split(text)[:_MOST_SENTENCES])
    return [Worth(sentence, kind) for sentence in sentences if (kind := _kind(sentence)) is not None]


def needs_a_date(kind: Kind) -> bool:
    """Tell whether a thing of this kind is worth nothing without its time."""
    return kind in _DATED_ONLY


def _kind(sentence: str) -> Kind | None:
    if not SHORTEST <= len(sentence) <= LONGEST or _NOT.search(sentence) or _PASSING.search(sentence):
        return None
    if looks_like_instruction(sentence):
        return None
    return next((kind for kind, pattern in _patterns() if pattern.search(sentence)), None)


@cache
def _patterns() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    return tuple(
        (kind, re.compile(pattern, 0 if pattern.startswith(r"\bI") else re.IGNORECASE)) for kind, pattern in _ROWS
    )
