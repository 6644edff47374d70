"""What is so for a moment only, or only worded as if it lasted: my son is crying, 我女儿在睡觉, I moved some code."""

from __future__ import annotations

from typing import Final

from historian.life_words import PERSON_EN, PERSON_ZH, PET_EN, PET_ZH
from historian.patterns import lazy_pattern

_ROWS: Final = (
    # what those close to somebody do just now
    rf"\b(?i:my|our)\s(?:\w+\s)?(?:{PERSON_EN}|{PET_EN})(?:['’]s|\sis|\sare)\s(?:(?:still|just|now|so|always|really|being|currently)\s)*"
    r"(?:being|crying|sleeping|napping|snoring|meowing|barking|purring|screaming|shouting|yelling|laughing|singing\sagain|eating|cooking|talking|sitting|"
    r"standing|looking|watching|driving\sme|annoying|funny|cute|adorable|silly|hungry|tired|angry|mad|upset|grumpy|busy|going\sto\s(?:kill|fire|be\s(?:mad|angry|late))|"
    r"in\sa\s(?:meeting|call|mood)|on\s(?:the|my)\s(?:phone|way|couch|sofa|keyboard|table|lap|roof|bed)|doing\s(?:the|some|her|his|their)\s(?:dishes|laundry|homework|shopping)|at\sthe\sdoor|off\stoday|(?:asleep|awake|here|home|back|late|off|out)(?=$|[.,!]))",
    rf"\b(?i:my|our)\s(?:\w+\s)?(?:{PERSON_EN}|{PET_EN})\sjust\s(?:called|texted|rang|arrived|left|got\s(?:home|here|back)|came|woke|said|told|asked|went\sto)\b",
    rf"[我咱](?:们)?(?:的|家)?(?:{PERSON_ZH}|{PET_ZH})(?:子)?(?:又|还|正|现在|一直|刚才?|今天|好像|真的?){{0,3}}"
    r"(?:在(?:哭|睡|叫|闹|吵|笑|吃|喝|洗|等|找|喊|催|看电视|写作业|做饭|开会|打电话|打呼|玩|路上|门口|楼下|外面)|趴在|躺在|坐在|刚?打电话|打翻|到家|回来了|睡着|醒了|请假|生气|饿了|困了|可爱|好笑|烦)",
    # the words of a move, a study or a loss, of something else
    r"\bI(?:['’]ve)?\smoved\s(?:on\b|some\b|all\b|everything\b|an?\b|it\b|this\b|that\b|them\b|(?:the|my|your)\s(?:file|code|function|folder|test|mouse|cursor|line|class|data|call)|"
    r"to\s(?:the\snext|version|v\d|[A-Za-z]+\s\d+\.\d|TypeScript|Rust\b|Postgres))",
    r"搬到[^，。]{0,5}(?:仓库|下一|分支|目录|文件夹|服务器|云上|上面|下面|后面|这边|那边)",
    r"\bI(?:['’]m|\sam)\s(?:studying|learning)\s(?:this|that|these|those|your|how|it|from)\b|在学习?(?:这|那|你|怎么|如何)",
    r"\b(?i:my)\s(?:phone|laptop|battery)\sis\s(?:about\sto|at\s\d+|dead|dying|low|charging|almost|not|off)\b",
    r"^(?i:assume|act\sas|let['’]?s\ssay|say|roleplay|you\sare)\b.{0,20}\bI\b",
    r"\A\s*(?:git|pip|npm|docker|sudo|curl|echo)\s|\w\([\"“']",
    r"[没不](?:有|确定|知道)?(?:决定|想好|想清楚)|[我咱]们?还?可能会?(?:搬|辞|换|离|跳槽)|的?(?:小说|故事|剧本|游戏)里[，,]",
    r"\bI\s(?:just\s|once\s)?(?:dreamed|dreamt|had\sa\sdream|keep\sdreaming)\b|[我咱]\S{0,4}?(?:做梦|梦见|梦到)",
    # what somebody else says
    r"\A\s*[\"“「『][^\"”」』]+[\"”」』],?\s?(?:(?:said|says|asked|cried|wrote)\b|[^，。！？]{0,6}(?:说|道|喊))",
    r"\b(?i:do\snot|don['’]?t|not|no\sidea|wonder(?:ing)?)\s(?:\w+\s)?(?:if|whether)\b",
)
_PASSING: Final = tuple(lazy_pattern(row) for row in _ROWS)


def passes_soon(sentence: str) -> bool:
    """Tell whether a sentence speaks of the moment only, although its words are those of what lasts."""
    return any(pattern.search(sentence) for pattern in _PASSING)
