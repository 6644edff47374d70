"""How somebody says what they plan: a day or season to come, and what they do then; or a turn that a life takes.

Patterns only. What is meant for this conversation (I'll paste it tomorrow, 我明天再问你) is no plan.
"""

from __future__ import annotations

from typing import Final

KIN_ZH: Final = (
    "爸妈|父母|妈妈?|爸爸?|母亲|父亲|老婆|老公|妻子|丈夫|女朋友|男朋友|女友|男友|对象|儿子|女儿|孩子|宝宝|哥哥?|姐姐?|弟弟?|妹妹?|"
    "爷爷|奶奶|外公|外婆|同事|老板|领导|室友|闺蜜|好朋友|朋友|老师|导师|猫|狗"
)
KIN_EN: Final = (
    "mother|mom|mum|father|dad|wife|husband|partner|girlfriend|boyfriend|fiancée?|son|daughter|kids?|children|brother|"
    "sister|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|colleague|boss|manager|roommate|flatmate|"
    "best friend|friend|teacher|dog|cat|parents"
)
_MONTH_EN: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"january|february|april|june|july|august|september|october|november|december|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
_WEEKDAY_EN: Final = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_FAR_EN: Final = (
    rf"(?:\b(?i:next|this|in|by|until|from|on|for|early|late)\s(?:early\s|late\s|mid-?|the\s)?"
    rf"(?:(?<!the\s){_MONTH_EN}|spring|summer|autumn|fall|winter|20\d\d)\b|\b(?i:next)\s(?:week(?:end)?|month|year|semester|term|quarter)\b"
    r"|\b(?i:in)\s(?:a|two|three|four|five|six|\d+)\s(?:week|month|year)s?\b"
    rf"|(?<!since\s)(?<!last\s)\b{_WEEKDAY_EN}\b(?!['’]s)|\b{_MONTH_EN}\s\d|\b(?:end|beginning)\sof\s(?:the|next|this)\s(?:year|month)\b"
    r"|\b(?i:at|before|after|over)\s(?:Christmas|Easter|New\sYear)\b)"
)
_DAY_ZH: Final = r"(?:周|星期|礼拜)[一二三四五六日天末]"
_FAR_ZH: Final = (
    r"(?:下+个?(?:周|星期|礼拜)[一二三四五六日天末]?|下+个?月|下半年|下学期|[明后]年|今年[春夏秋冬][天季]?|今年(?:年底|[0-9一二三四五六七八九十]+月)|"
    r"(?<![0-9])(?:1[0-2]|[1-9]|[一二三四五六七八九]|十[一二]?)月(?:份|初|底|中)?|年底|年后|[寒暑]假|春节|国庆|过完年|毕业后|20\d\d\s?年|过年)(?!\s?(?:[之以]?[前后])?的)"
)
_NEAR_ZH: Final = rf"(?:明天|大?后天|{_DAY_ZH}|这周末)(?!\s?的(?![飞航火高机车]))"
_NEAR_EN: Final = r"\b[Tt]omorrow\b"
_FAR: Final = f"(?:{_FAR_EN}|{_FAR_ZH})"
_SOON: Final = f"(?:{_FAR_EN}|{_FAR_ZH}|{_NEAR_ZH}|{_NEAR_EN})"

_CHAT_EN: Final = (
    r"(?:(?:ask|tell|let|edit|try|paste?|send|show|giv|writ|call|text|talk|us|see|check|test|look|fix|deploy|think|updat|explain|shar|post|"
    r"reply|answer|say|continu|read|know|wait|remember|forget|ignor|assum|wonder|suggest|repeat|copy|print|open(?!(?:ing)?\san?\b)|clos|delet|remov|"
    r"creat|build|rewrit|refactor|review|implement|add|debug|commit|push|merg|need|want|finish)(?:e|ing|t?ting)?|tr(?:y|ying)|be\sback|back|bed|sleep|"
    r"not|just|probably|get(?:ting)?\s(?:\d\w*|back|an?\serror|tired|used|the)|com(?:e|ing)\sback|(?:do|doing)\s(?:it|this|that|the|so)|"
    r"tak(?:e|ing)\s(?:it|that|this|the|a\slook)|hav(?:e|ing)\s(?:to|an?(?:other)?\slook|lunch|dinner|breakfast|the|trouble|problems?|issues?)|"
    r"mov(?:e|ing)\s(?:on|the|this|it)|go(?:ing)?\s(?:with|through|over|to\sbed)|start(?:ing)?\s(?:the|this|it|over|by|with|to)|"
    r"work(?:ing)?\son|runn?(?:ing)?\s(?:the\s(?:test|code|script|build|job)s?|it|this))\b"
)
_WILL_EN: Final = (
    r"(?:(?:['’]m|['’]re|\sam|\sare|\sis|['’]s)\s(?:finally\s|also\s|both\s|all\s)?(?:(?:going|about)\sto\s|(?!(?:going|about)\sto\b))|"
    r"(?:['’]ll|\swill)\s(?:be\s(?=\w+ing\b|on\b|in\b|at\b|an?\s)|finally\s|also\s|(?!be\b))|\s(?:plan|hope|intend|want|would\slike|need)s?\sto\s|['’]d\slike\sto\s|"
    r"(?:['’]m|\sam|['’]re|\sare)\s(?:hoping|planning|thinking\s(?:of|about))\s(?:to\s)?)"
    rf"(?:{_FAR_ZH}\s?)?"
)
_CHAT_ZH: Final = (
    r"(?:睡|吃[饭个了点]|洗|问|试|看(?!牙|病|医|望|展|演|爸|妈|海|雪|爷|奶|外|孩|[^，。]{0,3}演唱)|查(?!体)|要一|想要|需要|聊|再|改|部署|重启|知道|下线|出门|厕所|告诉|发给|提醒|写|用这|继续|处理|解决|怎么|什么|哪|多少|"
    r"你|确认|研究一|想想|调试|提交|跑一|测)"
)
_WHO_ZH: Final = rf"(?:我|咱)(?:们)?(?:家|俩)?(?:的?(?:{KIN_ZH})(?!的)|(?!的))(?:[和跟与][^，。！？,]{{1,6}}?)?"
_TURN_ZH: Final = (
    r"(?:结婚|订婚|领证|离婚|搬家|搬[到去]|换(?:个)?(?:工作|城市|房)|跳槽|辞职|离职|入职|退休|生(?:孩子|娃|宝宝|二胎)|要(?:个)?孩子|当(?:爸爸?|妈妈?|爷爷|"
    r"奶奶)|考研|考公|考博|留学|创业|买房|买车|装修|移民|领养|减肥|戒[烟酒糖]|读[博研]|办婚礼|转行|转学|休学|出国|学(?:车|钢琴|吉他|游泳|画画))"
)
_TURN_EN: Final = (
    r"(?:get(?:ting)?\s(?:married|engaged|divorced|a\s(?:dog|cat|divorce))|hav(?:e|ing)\s(?:a\sbaby|twins|a\schild|kids|surgery)|expect(?:ing)?\s(?:a\s(?:baby|"
    r"child|boy|girl)|twins)|be\sa\s(?:dad|mum|mom|father|mother|parent|grand\w+)|becom(?:e|ing)\san?\s|(?:chang|switch)(?:e|ing)\s(?:careers?|jobs?)|"
    r"mov(?:e|ing)\s(?:to\s(?!the\snext|next)|in\stogether|out|abroad|house)|reloc\w+|adopt(?:ing)?\s(?:a|an)\b|"
    r"buy(?:ing)?\s(?:a|an|our|my)\s(?:house|flat|apartment|home|car)|quit(?:ting)?\s(?:my|smoking|drinking)|retir(?:e|ing)\b|emigrat\w+|"
    r"start(?:ing)?\s(?:a|an|my|our)\s(?:new\s)?(?:job|business|company|family|PhD|degree|course|diet|career))"
)

_CLAUSE_EN: Final = (
    r"(?<!what\s)(?<!which\s)(?<!when\s)(?<!how\s)(?<!why\s)(?<!where\s)(?<!if\s)(?<!whether\s)(?<!who\s)\b"
)
_KIN: Final = rf"[Mm]y\s(?:[a-z-]+\s)?(?:{KIN_EN})(?:\sand\sI)?"
PLANS: Final[tuple[str, ...]] = (
    # a day to come, and what is done then
    rf"^(?=.*?{_SOON}).*?{_CLAUSE_EN}I{_WILL_EN}(?!{_CHAT_EN})[a-z0-9]",
    rf"^(?=.*?{_FAR}).*?{_CLAUSE_EN}(?:[Ww]e|{_KIN}){_WILL_EN}(?!{_CHAT_EN})[a-z0-9]",
    rf"^(?=.*?{_FAR}).*?{_CLAUSE_EN}(?:I|[Ww]e|{_KIN})\s(?:start|begin|leave|flie?|turn|graduate|retire|move|return|marrie?)(?:y|s)?\s(?!{_CHAT_EN}|to\ssee|the\b|it\b|off|on\s(?!20|[A-Z])|this\b)",
    rf"^(?=.*?(?:{_FAR}|{_MONTH_EN}))(?!.*?{_CHAT_ZH}).*?{_WHO_ZH}[^，。！？]{{0,14}}?(?:要|会(?!议)|将|想(?!象|法|到|起)|打算|准备(?!好)|计划|考虑|决定|去|来|回|飞|搬|入职|出差|结婚|订婚|毕业|开学|"
    r"考[研公博试]|生孩子|开始|退休|高考|中考|上[大中小]学|手术|出生|\b(?:plan|move|fly|go|visit|apply|start)\b)",
    rf"^(?=.*?{_NEAR_ZH})(?!.*?{_CHAT_ZH}).*?{_WHO_ZH}[^，。！？]{{0,14}}?(?:(?:要|会|得|打算|准备)\s?(?:去|到|飞|回|做|fly|go|搬|参加|陪|带)|"
    r"的(?:飞机|航班|火车|高铁|[机车]票))",
    # a turn that a life takes, dated or not
    rf"{_CLAUSE_EN}(?:I|[Ww]e|{_KIN}){_WILL_EN}{_TURN_EN}",
    r"\bI(?:\sjust|['’]ve|\shave)?\s(?:just\s|already\s)?(?:accepted\san?\s(?:offer|job|position)|signed\san?\s(?:lease|contract)|quit\s(?:my\sjob|smoking)|"
    r"gave\sup\s(?:smoking|drinking|alcohol|sugar|meat)|got\s(?:engaged|married|divorced|promoted|the\sjob|into\s[A-Z]))",
    rf"^(?!.*?(?:怎么|多少|该不该|要不要|哪)).*?{_WHO_ZH}[^，。！？]{{0,10}}?(?:要|快要?|会|想|打算|准备|考虑|决定|计划|开始|已经|刚)\s?[^，。！？我你他]{{0,6}}?{_TURN_ZH}(?!是|的[人时])",
    r"我(?:已经|刚刚?|终于|最近|正)?(?:拿到了?[^，。！？]{0,10}?(?:offer|录取)|被[^，。！？]{1,12}?录取|报了[^，。！？]{0,4}(?:驾校|班|课)|在学(?!校|[^，。！？]{0,14}时))",
)
"""For `re.search` on one sentence, case kept."""
