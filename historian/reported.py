"""What somebody else said, behind a colon and without quotation marks: `Bob says: I am ill`, 妈妈：我明天去医院.

Whoever `I`, 我 and 你 are there, they are not those who speak now. A label (`Note: I am vegan`, 备注：我吃素)
is nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from historian.patterns import lazy_pattern

_HEAD: Final = lazy_pattern(
    r"(?:^|(?<=[。！？；，!?;\n])|(?<=\.\s)|(?<=,\s))[ \t]*"
    r"(?P<head>[^。！？；，,!?;:：\n]{1,40}?)\s?(?P<colon>[:：])(?!//)(?!(?<=\d[:：])\d)"
)
_TAG: Final = lazy_pattern(r"^[ \t]*[\[【<](?P<head>[^\]】>\n]{1,20})(?P<colon>[\]】>])[ \t]*(?=\S)", re.MULTILINE)
_ASIDE: Final = lazy_pattern(r"\s?[(（][^()（）]*[)）]")
_LINE: Final = lazy_pattern(r"[^\n]*")
_SAYS_ZH: Final = lazy_pattern(
    r"(?<![来地句话白实单般就如据听再小传妄])(?:说(?![明法])|问(?!题)|表示|讲|喊|写道|回答|回复|答(?!案)|告诉|提到|透露|抱怨|留言|发消息|"
    r"发微信|吐槽|解释|补充|坦言|承认|转告|嘱咐|叮嘱|原话)"
)
_SAYS_EN: Final = lazy_pattern(
    r"\b(?:says?|said|saying|tells?|told|asks?|asked|writes?|wrote|replie[sd]|reply|answers?|answered|added|adds|shout(?:s|ed)|"
    r"texts?|texted|claims?|claimed|explain(?:s|ed)|complain(?:s|ed)|admit(?:s|ted)|announce[sd]|mention(?:s|ed)|whisper(?:s|ed))\b",
    re.IGNORECASE,
)
_IDIOM_EN: Final = lazy_pattern(
    r"\b(?:that|strictly|to|needless|suffice|i|let|enough|having)\s(?:being\s)?(?:say|said|me\ssay|it\sto\ssay)\b|\bthe\sanswer\b",
    re.IGNORECASE,
)
_ME_ZH: Final = r"(?:我|俺|本人|用户)"
_SELF_ZH: Final = (
    r"(?:$|\s?[0-9]|[跟对和向给同就也都还又便才曾已刚在不没只想总先再]|昨[天晚日]|今[天早晚]|前[天几]|上[周次个午]|当[时场]|回[答复]|心里|"
    r"大声|自己|经常|一直|后来|之前|最近|早上|中午|下午|晚上)"
)
_TO_ZH: Final = r"(?<![跟对和问给向同告诉])"
_SELF_EN: Final = r"(?:\s(?:also|just|once|always|have|had|then|often|already|later|only|even|never)|['’](?:ve|d))*\s*$"
_LABEL_ZH: Final = lazy_pattern(
    r"(?:注意?|备注|附注|提醒|提示|补充|更新|总结|小结|结论|问题?|答案?|事实|重点|关键|记录|备忘|待办|计划|目标|打算|安排|想法|感受|感想|心情|原因|理由|"
    r"背景|偏好|喜好|爱好|习惯|饮食|口味|过敏|忌口|健康|病史|工作|职业|身份|情况|现状|状态|学历|家庭|宠物|住址|地址|地点|时间|日期|生日|姓名|名字|昵称|性格|"
    r"作息|运动|旅行|行程|日程|任务|进展|进度|结果|内容|主题|标题|说明|声明|建议|意见|要求|需求|请求|决定|选择|消息|新闻|通知|公告|自我介绍|简介|介绍|另外|"
    r"此外|还有|首先|其次|最后|例如|比如|总之|所以|因为|但是|简单来说|一句话|坦白|真相|秘密|心愿|愿望|梦想|规则|约定|条件|资料|信息|档案|语言|睡眠|旅游|更正|订正|颜色|教育|专业|学校|关于.{1,3}|年龄|身高|体重|收入|信仰|技能|经历|体质|疾病|病情|用药|药物|日记|周报|日报)"
    r"[一二三四五0-9]?(?:一下|如下|事项|了)?"
)
_LABEL_EN: Final = lazy_pattern(
    r"(?:.*\s)?(?:notes?|reminders?|remember|fyi|todo|to-do|updates?|ps|p\.s\.?|btw|tl;?dr|summary|facts?|preferences?|diet|health|food|plans?|"
    r"questions?|answers?|q|a|goals?|memo|important|correction|status|profile|hobb(?:y|ies)|work|jobs?|location|address|name|background|"
    r"context|warning|caution|edit|task|issue|problem|reason|result|schedule|event|date|time|birthday|news|topic|subject|title|rule|"
    r"wish|dream|secret|truth|confession|intro|bio|info|details?|example|point|thing|point|idea|thought|feeling|mood|habit|routine|"
    r"request|wishlist|career|family|pets?|languages?|sleep|hi|hello|hey|thanks|colou?rs?|age|height|weight|religion|skills?|school|also|first|second|third|finally|lastly|next|now|today|yesterday|tomorrow|clear|this|following|follows|"
    r"[a-z]{2,}(?:ies|tion|tions|ment|ments|ness|ity|ing|ings|ance|ence|ship|ism))",
    re.IGNORECASE,
)
_ROLE_ZH: Final = lazy_pattern(
    r"[妈爸爷奶哥姐弟妹叔伯姨舅姑婆公友事师板导生理长员娘妇夫妻女儿孩]$|(?:妻|孩|儿|侄)子$|[父母]亲$"
)
_HAN: Final = lazy_pattern(r"[\u4e00-\u9fff]")
_SELVES: Final = frozenset(("me", "i", "myself", "user", "the user", "我", "俺", "本人", "用户", "我自己"))


def reported_spans(text: str, speaker: str) -> Iterator[tuple[int, int]]:
    """Yield what follows `somebody else:` up to the end of the line. `speaker` may be empty. Linear in the text."""
    end = 0
    for match in sorted((*_TAG.finditer(text), *_HEAD.finditer(text)), key=lambda found: found.start()):
        head = _ASIDE.sub("", match["head"]).strip(" \t*-[]【】<>@")
        if match.start() >= end and _is_somebody_else(head, speaker, opens=not text[: match.start()].strip()):
            line = _LINE.match(text, match.end("colon"))
            end = line.end() if line else len(text)
            yield match.end("colon"), end


def _is_somebody_else(head: str, speaker: str, *, opens: bool) -> bool:
    if not head or head[0].isdigit() or head.lower() in _SELVES or _is_name_of(head, speaker):
        return False
    said = _SAYS_ZH.search(head)
    if said is not None:
        subject = head[: said.start()]
        return not (opens and not subject) and not speaks_zh(subject, speaker)
    said = _SAYS_EN.search(head)
    if said is not None:
        subject = head[: said.start()]
        return not (opens and not subject.strip()) and not _IDIOM_EN.search(head) and not speaks_en(subject, speaker)
    return _is_person(head)


def _is_name_of(head: str, speaker: str) -> bool:
    said, known = head.casefold().split(), speaker.casefold().split()
    return bool(known) and (said == known or set(said) <= set(known) or set(known) <= set(said))


def speaks_zh(subject: str, speaker: str) -> bool:
    """Tell whether a Chinese subject of saying is whoever speaks now."""
    me = rf"(?:{_ME_ZH}|{re.escape(speaker)})" if speaker else _ME_ZH
    return re.search(_TO_ZH + me + _SELF_ZH, subject.strip()) is not None


def speaks_en(subject: str, speaker: str) -> bool:
    """Tell whether an English subject of saying is whoever speaks now."""
    me = rf"(?:I|(?:the\s)?user|{re.escape(speaker)})" if speaker else r"(?:I|(?:the\s)?user)"
    return re.search(rf"\b{me}{_SELF_EN}", subject, re.IGNORECASE) is not None


def is_role(head: str) -> bool:
    """Tell whether Chinese words end in what somebody is called: 妈, 老板, 同事."""
    return _ROLE_ZH.search(head) is not None


def _is_person(head: str) -> bool:
    """Tell whether a head without a word for saying names somebody: short, and no label."""
    if _HAN.search(head):
        if "的" in head and not is_role(head):
            return False
        short = len(head) <= 6 or (head.startswith("我") and len(head) <= 8)
        return short and not re.search(_LABEL_ZH.pattern + "$", head) and not head.endswith(("了", "是", "的", "吧"))
    words = head.split()
    owned = words[0].lower() in {"my", "our", "the", "dr", "dr.", "mr.", "mrs.", "ms."}
    named = all(word[:1].isupper() for word in words) or len(words) == 1
    return len(words) <= 3 and (owned or named) and _LABEL_EN.fullmatch(head) is None
