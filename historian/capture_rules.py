"""What of a conversation is worth remembering, decided by rules: conservative, since small talk must not be kept.

A sentence counts when somebody says of themselves what they like, what is so for long, what is agreed for a day, what
they plan, or whom they belong to. Questions, requests (but for the one to remember it), hypotheses and moods do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from historian.injection import looks_like_instruction
from historian.life import told_of_life
from historian.passing import passes_soon
from historian.plans import KIN_EN, KIN_ZH, PLANS
from historian.question_clauses import told_before_asking
from historian.remember_requests import without_request

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
_ILLNESS = (
    r"(?:diabetes|asthma|epilepsy|hypertension|hypotension|an(?:a)?emia|migraines|arthritis|eczema|psoriasis|adhd|autism|"
    r"dyslexia|depression|tinnitus|insomnia|coeliac|celiac|gout|allerg(?:y|ies)|disease|disorder|syndrome|"
    r"(?:high|low) blood pressure|intolerance)"
)
_FOOD = (
    r"(?:any\s)?(?:gluten|dairy|milk|lactose|nuts|peanuts|eggs?|fish|seafood|shellfish|shrimps?|meat|pork|beef|alcohol|"
    r"caffeine|coffee|sugar|soy|wheat)\b"
)
_NO_FOOD = (
    r"(?:any ?thing|any ?more|another|more|it|this|that|these|those|here|with|at|and|yet|much|enough|too|alone)\b"
)
_PET = (
    r"(?:\sjust)?\s(?:got|have|adopted|bought)\s(?:an?|another)\s(?:(?:new|little|small|young|old|rescue|black|white|grey)\s)?"
    r"(?:dog|cat|puppy|kitten|rabbit|hamster|guinea pig|parrot|budgie|canary|tortoise|horse|pony)"
    r"\s(?:called|named)\s[A-Z\u4e00-\u9fff]"
)
_MEETING = (
    r"(?:'ve|\shave)\s(?:got\s)?an?\s(?:meeting|call)\b(?!\s(?:link|room|notes?|invite|invitation|agenda|request|"
    r"minutes|series|waiting|back|to (?:make|take|return|cancel)|now\b|right now|going on))"
    r"(?!.*\bin (?:an?|\d+|two|five|ten|half an|a few)\s(?:min|hour|sec))"
)
_FOR_NOW = r"(?:today|tonight|right now|now|any ?more|tomorrow|until|yet|this (?:morning|evening|week|month))\b"
_ROWS: tuple[tuple[Kind, str], ...] = (
    (
        "preference",
        r"(?:我|俺|咱)\S{0,8}?(?:(?:喜欢|讨厌|最爱|偏好|偏爱|受不了)(?![你您这那它上下]|一下)|爱吃|爱喝|爱看|爱听|吃素|忌口|不吃|不喝|从不|戒了|戒[烟酒糖]了|习惯(?:了|"
        r"用|在|早|晚))|(?:我|俺|咱).{0,20}?过敏",
    ),
    (
        "preference",
        r"我(?:真的|完全|绝对|从小|一直|平时|对\S{1,8}?|\S{1,6}?(?=不耐)){0,2}(?:(?:不能|不可以|没法|无法|不敢)(?:吃|喝|碰|闻|接触)"
        r"(?![了饭下到太这那你他她多]|完|东西|$|[，。,.!！])|不耐(?:受|症))",
    ),
    (
        "preference",
        r"我(?:真的|很|特别|非常|超级?|最|从小|一直|有点|比较|也){0,2}(?:恐高|晕[车船机血针]|(?:害怕|怕)(?:大?狗|猫|蛇|蜘蛛|虫子?|蟑螂|老鼠|"
        r"黑|高|血|水|打雷|打针|针|鬼|坐?飞机|冷|热|辣|疼|痛|火|鸟|马|蜜蜂|看牙|牙医|坐电梯))(?=$|[\s，。,.!！；;、和跟与及])",
    ),
    (
        "preference",
        r"\bI(?:'m| am)\s(?:(?:not|also|very|[a-z]{2,12}ly|lactose|gluten|dairy|fructose|histamine)[ -]){0,3}"
        r"(?:allergic|intolerant|vegan|vegetarian|(?:afraid|scared|terrified) of (?!being|\w+ing\b|it\b|that|this|what|"
        r"how|you)|fond of|into\s)",
    ),
    (
        "preference",
        rf"\bI\s(?:really\s|still\s|also\s)?(?:can'?t|cannot|can not|must not|mustn't|am not allowed to)\s"
        rf"(?:(?:eat|drink|digest|tolerate)\s(?!{_NO_FOOD})|have\s{_FOOD})(?!.*\b{_FOR_NOW})",
    ),
    (
        "preference",
        r"\bI\s(?:really\s|also\s|absolutely\s|always\s|usually\s)?(?:like|love|hate|dislike|prefer|enjoy|"
        r"avoid|can'?t stand|"
        r"don'?t (?:like|eat|drink)|do not (?:like|eat|drink)|never (?:eat|drink))\s(?!(?:it|this|that|"
        r"these|those|your?|the idea|how|when)\b)",
    ),
    (
        "preference",
        r"我(?:很|最|超|也|更|really\s|also\s|still\s)?(?:prefer|hate|dislike|don'?t like)"
        r"(?!\s?(?:(?:this|that|it|the|these|those|your?)\b|[这那它你您上]))",
    ),
    ("preference", r"\bmy favou?rite\s(?:\w+\s){1,4}(?:is|are)\b"),
    (
        "relationship",
        rf"我(?:的|家|们家)?(?:{KIN_ZH})\S{{0,8}}?(?:叫|名叫|是|在|住|姓|今年|\d|喜欢|讨厌|过敏|不吃|怀孕|结婚|出生|毕业|生日|上[大中小学幼])",
    ),
    (
        "relationship",
        rf"\bmy\s(?:\w+\s)?(?:{KIN_EN})(?:'s)?\s(?:\w+\s)?(?:(?:is|are)(?!\s(?:calling|asking|waiting|texting)\b)|was|lives?|works?|likes?|loves?|"
        rf"hates?|studies|has|moved|married|"
        r"named|called|turns?)\b",
    ),
    (
        "fact",
        r"我(?:现在|目前|一直|从小)?(?:叫|姓|住在?|来自|出生|毕业|养了|患有?|怀孕|结婚|离婚|搬到|搬家|搬去|换了?工作|入职|离职|辞职|"
        r"跳槽|考上|退休|是(?!说|想|问|不是|在|否|来|去|指)|会说|会弹|不会(?!吧|再|忘)|在\S{1,12}(?:工作|上班|上学|读书|读研|读博|任职|实习)|"
        r"今年\s?\d|有\s?[一两三四五六七八九\d]+\s?[个只条台辆套位](?!\s?(?:小|大|新|好)?(?:问题|疑问|想法|主意|建议|需求|错误|地方|办法|会要?开|bugs?\b|ideas?\b|questions?\b|issues?\b)))",
    ),
    (
        "fact",
        r"我(?:今年|现在|目前|已经|快|都|刚满?|一直|还是?|是|也){0,2}\s?(?:(?:\d{1,3}|[一二三四五六七八九十]{1,4})\s?岁半?"
        r"(?=了?(?:$|[，。,.!！；;\s]))|(?:单身(?!派对|公寓|狗)|已婚|未婚|离异|丧偶|左撇子|色盲|色弱|近视|属[鼠牛虎兔龙蛇马羊猴鸡狗猪])"
        r"(?!的))",
    ),
    (
        "fact",
        r"我(?:从小|一直|天生|也|去年|前年)?(?:患?有|得了|被?(?:确诊|诊断)(?:了|为|出)?|查出了?)(?!点|一点|些|毛病|病|心病)[^，。,.!！\s]{0,8}?"
        r"(?:[^毛心生]病(?![人房假毒])|[炎癌](?![热])|(?<![选拖])\S症(?![状])|高血压|低血压|高血[脂糖]|哮喘|癫痫|抑郁|贫血|痛风|近视|色盲|"
        r"综合[征症])",
    ),
    (
        "fact",
        r"我的?(?:生日|电话|手机号|邮箱|血型|身高|体重|名字|职业|专业|地址|工号|血压|尺码|鞋码|母语)\S{0,4}?(?:是|在|为|有|[:：]|\d)",
    ),
    (
        "fact",
        r"\bI(?:'m| am)\s(?:\d{1,3}\b(?!\s?(?:%|percent|min|hours?|days?|steps?|km|miles?|late))|single\b|"
        r"a\s(?!bit|little|fan of (?:this|that|it)|lot)|an\s|from\s|based in|"
        r"married|engaged|divorced|pregnant|"
        r"retired|left-handed|colou?r-?blind|diabetic|learning|studying|working (?:at|for|as))",
    ),
    (
        "fact",
        r"\bI\s(?:live|work|study|teach|speak|play|moved|graduated|was born|grew up|started (?:at|as|"
        r"working)|quit my|own|run a|"
        r"have (?:a|an|two|three|four|five|\d+)\s(?!question|problem|idea|issue|request|feeling|doubt|bug|"
        r"error|meeting|lot|look|headache|cold|fever|call|minute|second|moment|suggestion|thought|hunch|point|favou?r|"
        r"hard|good|great|bad|stomach))\b",
    ),
    (
        "fact",
        rf"\bI(?:'ve| have)\s(?:got\s|had\s|also\s)?(?:been diagnosed with\s)?"
        rf"(?:(?!(?:no|an?|the|some)\s)[a-z\d-]+\s){{0,3}}?"
        rf"{_ILLNESS}\b|\bI\ssuffer from\s\w|\bI\swas diagnosed with\s\w",
    ),
    (
        "fact",
        r"\bmy\s(?:birthday|name|phone|email|address|blood type|shoe size|job|native language|employee id|"
        r"badge)\b.{0,30}?\b(?:is|was)\b",
    ),
    ("fact", rf"\bI(?:'ve)?{_PET}|(?<![Ii]f )\b[Ww]e(?:'ve)?{_PET}"),
    ("fact", r"我们家?(?:刚|最近|新|又)?(?:领养|收养|养)了\S{0,5}[只条匹]\S{0,10}?叫"),
    (
        "plan",
        r"我\S{0,6}?(?:打算(?!先?[吃睡洗歇试问用])|(?<!的)计划|准备(?:去|买|学|换|考|搬|开|找|申请|报)|决定(?![用先再]|了(?:$|[，。,.!！]))|下定决心|报了?名|订了|买了\S{0,6}票)",
    ),
    (
        "plan",
        r"\bI(?:'m| am)\s(?!.*\bnow\b)(?:planning|moving(?!\s(?:on|the|this|that|it|all|these|those)\b)|"
        r"getting married|flying(?!\sthrough)|travell?ing|starting(?!\s(?:over|up|to)\b)|going to (?:move|"
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
    (
        "appointment",
        rf"\bI(?<!think I)(?<!guess I)(?<!if I)(?<!wish I){_MEETING}"
        rf"|(?<!think )(?<!guess )(?<![Ii]f )\b[Ww]e{_MEETING}",
    ),
)
_DATED_ONLY: frozenset[Kind] = frozenset({"appointment"})
_NOT = re.compile(
    r"[?？]\s*$|(?:吗|么|呢|吧)[。!！~～\s]*$|^(?:请|帮|麻烦|给我|替我|告诉我|写|翻译|解释|总结|怎么|如何|为什么|为啥|什么|哪|别|要不|(?:小说|故事|剧|游戏|梦|电影|书)里)"
    r"|(?:帮我|请你|你能|能不能|可不可以|给我(?:写|讲|推荐|查|算|列)|告诉我)|如果|要是|假如|假设|万一|比如|举个例子|开玩笑|才怪"
    r"|^(?:write|translate|summari[sz]e|explain|generate|draft|rewrite|rephrase|pretend|proofread)\b"
    r"|^in (?:the|my|this) (?:story|novel|game|film|movie|dream|book)\b"
    r"|\b(?:please|can you|could you|would you|help me|tell me|show me|write me|remind me|if I|suppose|"
    r"imagine|for example|"
    r"just kidding|lol)\b|^(?:what|why|how|when|where|who|which|is|are|do|does|did|can|could|should|would)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"好累|好困|好烦|好饿|好开心|心情|无聊|晕(?![车船机血针](?!了))|哈哈|呵呵|谢谢|多谢|再见|晚安|早安|早上好|你好"
    r"|\bI(?:'m| am)\s(?:so |very |really |just |a bit |a little )?(?:tired|hungry|bored|happy|sad|fine|"
    r"good|ok|okay|sorry|sure|back|here|"
    r"confused|afraid (?:not|so|that))\b|\bthank(?:s| you)\b|\bgood (?:morning|night|evening)\b",
    re.IGNORECASE,
)
_LOWER_I = re.compile(
    r"(?:(?<=[\s\"“,;，。、：:])|(?<=[\u4e00-\u9fff])|^)(?<!part )(?<!type )(?<!phase )(?<!chapter )(?<!index )"
    r"(?<!for )(?<!for, )(?<!\d, )"
    r"(?:(?P<bare>i)(?=['](?:m|ve|ll|d)\b|\s(?:am|was|have|had|do|don'?t|can|can'?t|cannot|will|won'?t|would|might|must|"
    r"should|could|like|love|hate|dislike|prefer|enjoy|avoid|never|always|usually|really|also|still|absolutely|live|work|"
    r"study|teach|speak|play|moved|graduated|grew|started|quit|own|run|plan|intend|decided|booked|signed|need|want|eat|"
    r"drink|take|suffer|use|think|know|got|just|go|went|feel|hope|broke|bought|sold|lost|adopted|joined|passed|"
    r"became|won|opened|stopped|sprained|fractured|published|ran|run|swim|cycle|volunteer|wear|finally|recently)\b)"
    r"|[iI](?P<short>m|ve)(?=\s(?:not|also|very|really|\w{2,12}ly|allergic|lactose|gluten|intolerant|vegan|vegetarian|"
    r"afraid|scared|fond|into|an?|from|based|married|single|engaged|divorced|pregnant|retired|diabetic|learning|studying|"
    r"working|planning|moving|getting|flying|starting|going|training|preparing|saving|decided|booked|signed|got|had|been|\d)\b))"
)
_ROMAN = re.compile(
    r"\b(?:war|part|type|phase|chapter|vol|volume|class|elizabeth|napoleon|act|title|level|henry|appendix|stage|table|"
    r"variable)\sI\b",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"(?<=[。！？!?\n；;])|(?<=\.)\s+(?=[A-Z\"“])")
_WANTS = re.compile(
    r"[,，]\s*(?:所以|那)?(?:推荐|建议|介绍)(?:一下|几|点|些|[一两三]|个|什么|有)[^。，,了过]{0,30}[。！!？?]?$"
    r"|,\s*(?:so\s|and\s)?(?:recommend|suggest)\s(?:some|an?|any|me|a few|\d)\b[^.,]{0,60}[.!?]?$",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[A-Za-z0-9])|(?<=[A-Za-z0-9]) (?=[\u4e00-\u9fff])")
"""Blanks that people put, or do not, between two scripts: 我在 Google 上班."""
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
    sentences = (_stated(without_request(part.strip())) for part in _SPLIT.split(text)[:_MOST_SENTENCES])
    plain = ((sentence, _plain(sentence)) for sentence in sentences)
    return [Worth(said, kind) for said, one in plain if (kind := _kind(one) or _kind(_BESIDE.sub("", one))) is not None]


def _stated(sentence: str) -> str:
    """Return what a sentence says before it asks or wants something: 我对花生过敏，推荐几家餐厅？ Mostly all of it."""
    if len(sentence) > LONGEST:
        return sentence
    wanted = _WANTS.search(sentence)
    told = wanted.start() if wanted else told_before_asking(sentence) if sentence.endswith(("?", "？")) else 0
    return sentence[:told].rstrip(" ,，;；") if told else sentence


def spelled(text: str) -> str:
    """Return a text with the first person as it is written in full: "i'm", "im" and "i" as I'm and I, no others."""

    def written(found: re.Match[str]) -> str:
        return "I" if found["bare"] else f"I'{found['short']}"

    return _LOWER_I.sub(written, text)


def _plain(sentence: str) -> str:
    """Return what the patterns are looked for in: straight apostrophes, `I` where somebody says it of themselves."""
    return _ROMAN.sub(" ", spelled(sentence.replace("’", "'")))


def needs_a_date(kind: Kind) -> bool:
    """Tell whether a thing of this kind is worth nothing without its time."""
    return kind in _DATED_ONLY


def _kind(sentence: str) -> Kind | None:
    if not SHORTEST <= len(sentence) <= LONGEST or _NOT.search(sentence) or _PASSING.search(sentence):
        return None
    if looks_like_instruction(sentence) or passes_soon(sentence):
        return None
    stated: Kind | None = next((kind for kind, pattern in _patterns() if pattern.search(sentence)), None)
    if stated is None or stated in _DATED_ONLY:
        return told_of_life(sentence) or stated
    return stated


@cache
def _patterns() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    rows: list[tuple[Kind, re.Pattern[str]]] = [
        (kind, re.compile(row, 0 if row.startswith(r"\bI") else re.IGNORECASE)) for kind, row in _ROWS
    ]
    plans: list[tuple[Kind, re.Pattern[str]]] = [("plan", re.compile(row)) for row in PLANS]
    return (*rows, *plans)
