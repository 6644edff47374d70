"""Words in which people tell what others ask for in words of their own: the job of somebody who "works as a nurse".

A search by words finds nothing across them, nor across two languages, and one by meaning often falls short of its floor
for a question of four words. What is found by such words alone counts half (`retrieval.BRIDGED`).
"""

from __future__ import annotations

from historian.patterns import lazy_pattern

_BRIDGES = (
    (lazy_pattern(r"(?:不能|不可以|不可|不该|别|不敢|不宜)[吃碰]|忌口|吃不了|忌[食嘴]"), "过敏 忌口 不吃"),
    (
        lazy_pattern(
            r"\b(?:can(?:not|['’]t)|can not|must(?: not|n['’]t)|should(?: not|n['’]t)|may not|unable to|avoid)"
            r"\s+(?:\w+\s+)?(?:eat|eating|have for dinner)\b|\b(?:must|can|may|should) (?:\w+ )?not eat\b"
        ),
        "allergic intolerant",
    ),
    (
        lazy_pattern(
            r"\b(?:what|which)\b.{0,30}\b(?:job|occupation|profession)\b|\bfor a living\b"
            r"|(?:什么|哪种|啥)(?:工作|职业)|做哪一?行|职业是"
        ),
        "works job 工作 职业",
    ),
    (
        lazy_pattern(r"\bhow old\b|\bwhat\b.{0,20}\bage\b|\bwhen\b.{0,20}\bborn\b|多大了|几岁|多少岁|年龄|哪年生"),
        "born birthday 生日 出生",
    ),
    (
        lazy_pattern(r"\b(?:what|which)\b.{0,20}\b(?:car|vehicle|drive)\b|(?:什么|哪种|哪辆|啥)车"),
        "car drives 车 开车",
    ),
    (lazy_pattern(r"\b(?:what|which|any|have)\b.{0,20}\bpets?\b|宠物|养了什么"), "cat dog pet 猫 狗 宠物"),
    (
        lazy_pattern(r"\bwhere\b.{0,20}\blives?\b|\b(?:what|which)\b.{0,20}\baddress\b|住在?哪|家在哪|地址是"),
        "lives moved address 住 搬到 地址",
    ),
    (lazy_pattern(r"\bgirlfriend\b"), "女朋友"),
    (lazy_pattern(r"\bboyfriend\b"), "男朋友"),
    (lazy_pattern(r"\bwife\b"), "妻子 老婆 太太"),
    (lazy_pattern(r"\bhusband\b"), "丈夫 老公 先生"),
    (lazy_pattern(r"\b(?:mother|mom|mum)\b"), "妈妈 母亲"),
    (lazy_pattern(r"\b(?:father|dad)\b"), "爸爸 父亲"),
    (lazy_pattern(r"\bdaughter\b"), "女儿"),
    (lazy_pattern(r"\bson\b"), "儿子"),
    (lazy_pattern(r"\bsister\b"), "姐姐 妹妹"),
    (lazy_pattern(r"\bbrother\b"), "哥哥 弟弟"),
    (lazy_pattern(r"\b(?:boss|manager)\b"), "老板 经理 上司"),
    (lazy_pattern(r"\bcolleagues?\b"), "同事"),
    (lazy_pattern(r"女朋友|女友"), "girlfriend"),
    (lazy_pattern(r"男朋友|男友"), "boyfriend"),
    (lazy_pattern(r"妻子|老婆|太太"), "wife"),
    (lazy_pattern(r"丈夫|老公"), "husband"),
    (lazy_pattern(r"妈妈|母亲"), "mother mom mum"),
    (lazy_pattern(r"爸爸|父亲"), "father dad"),
    (lazy_pattern(r"女儿"), "daughter"),
    (lazy_pattern(r"儿子"), "son"),
    (lazy_pattern(r"姐姐|妹妹"), "sister"),
    (lazy_pattern(r"哥哥|弟弟"), "brother"),
    (lazy_pattern(r"老板|上司"), "boss manager"),
    (lazy_pattern(r"同事"), "colleague"),
)
"""What asks for a thing, and words in which the thing is told."""


def bridge(query: str) -> str:
    """Return words in which a text may answer the query though it has none of its words; mostly none."""
    lowered = query.lower()
    return " ".join(told for asks, told in _BRIDGES if asks.search(lowered))
