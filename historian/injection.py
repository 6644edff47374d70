"""Text that gives orders to a model instead of stating something: never taken into a profile, which models read."""

from __future__ import annotations

import re
import unicodedata

from historian.patterns import lazy_pattern

_SOME = r"(?:all|any|the|my|these|those|of)"
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|system|existing|your)"
_ORDERS = r"(?:instructions?|prompts?|directives?)"
_RULES = rf"(?:{_ORDERS}|rules?|guidelines?|guardrails?)"
_SKIP = r"\b(?:ignore|disregard|forget|override|bypass)"
_ENGLISH = lazy_pattern(
    rf"""{_SKIP}\s+(?:{_SOME}\s+){{0,4}}(?:{_EARLIER}\s+){{1,3}}{_RULES}\b
    |{_SKIP}\s+(?:{_SOME}\s+){{1,4}}{_ORDERS}\b|{_SKIP}\s+{_ORDERS}\s+(?:above|before)\b
    |\b(?:ignore|disregard|forget)\s+(?:everything|all|anything)\s+(?:above|before|you\s+were\s+told)\b
    |(?:^|[.!?:;"'“”‘’]\s*)(?:and\s+)?you\s+(?:must|should|will|shall)\s+(?:now|always|never|only|obey|ignore)\b
    |(?:^|[.!?:;"'“”‘’]\s*)you\s+are\s+now\s+(?:a|an|the|in)\b
    |\bfrom\s+now\s+on,?\s+(?:you|always|never|ignore|respond|answer|reply|act)\b
    |\b(?:reveal|print|repeat|output|show)\s+(?:me\s+)?(?:the|your)\s+(?:system\s+|hidden\s+|initial\s+)(?:prompt|instructions?)\b
    |\bnew\s+(?:system\s+)?instructions?\s*:
    |\bdo\s+not\s+(?:tell|inform|mention\s+(?:this|it)\s+to)\s+the\s+user\b
    |^[\W_]*(?:system|assistant|developer|user|human|tool)(?:\s+(?:prompt|message|override))?[\W_]*:
    |<\s*/?\s*(?:system|assistant|developer|instructions?)\s*>|<\|[^|>]{{1,32}}\|>|\[/?inst\]|<<\s*sys\s*>>
    """,
    re.VERBOSE,
)
_RULES_ZH = r"(?:指令|指示|命令|提示词|提示詞|提示|规则|規則|设定|設定|约束|約束|限制)"
_EARLIER_ZH = r"(?:以上|上面|上述|之前|先前|前面|此前|所有|全部|一切|系统|系統|你的|您的|原有)"
_START_ZH = r"(?:^|[,。!?;:、.“”‘’「」\"'请請])"
_CHINESE = lazy_pattern(
    rf"""(?:忽略|无视|無視|不要理会|不要理會|不要遵守|绕过|繞過){_EARLIER_ZH}.{{0,8}}?{_RULES_ZH}
    |{_START_ZH}(?:忘记|忘記|忘掉|忘了){_EARLIER_ZH}.{{0,8}}?{_RULES_ZH}
    |(?:从|從)(?:现在|現在|此刻|今)(?:开始|開始|起|以后|以後),?(?:你|您|请|請)
    |{_START_ZH}(?:你|您)(?:现在|現在|从此|從此)?(?:必须|必須|务必|務必|只能|只许|只許)
    |{_START_ZH}(?:你|您)(?:现在|現在)是
    |^[\W_]*(?:系统|系統|助手|开发者|開發者)(?:提示词|提示詞|提示|指令|消息|訊息)?[\W_]*:
    |(?:输出|輸出|泄露|洩露|显示|顯示|复述|複述)(?:你的|您的)?(?:系统|系統)(?:提示|指令)
    |(?:不要|别|別)(?:告诉|告訴)(?:用户|用戶|使用者)
    """,
    re.VERBOSE,
)


def looks_like_instruction(text: str) -> bool:
    """Tell whether `text` gives orders to a model, in English or Chinese, whatever its width or hidden characters.

    Statements about orders in the third person ("Alice must call Bob", "操作系统：Linux") are none.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = "".join(c for c in folded if unicodedata.category(c) not in ("Cf", "Mn"))
    spaced = " ".join(folded.split())
    return bool(_ENGLISH.search(spaced) or _CHINESE.search("".join(folded.split())))
