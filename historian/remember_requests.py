"""What somebody says when they ask to have it remembered, without the asking: 请记住，我对花生过敏.

Such a sentence is a request in form, and as plain a statement as there is. Only what goes on in the first person is
freed from it, so that an order to a model stays one.
"""

from __future__ import annotations

import re

from historian.patterns import lazy_pattern

_BEFORE_EN = lazy_pattern(
    r"\A(?:(?:please|and|also|but|so|hey|ok(?:ay)?)[,\s]+){0,2}"
    r"(?:remember|(?:make a )?note|(?:keep|bear) in mind|(?:do not|don['’]?t|never) forget)"
    r"(?:\s+that\b|\s*[:：,，])?\s+(?=(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
_AFTER_EN = lazy_pattern(
    r"[,;，；]?\s{1,3}(?:please\s+(?:remember|note)(?:\s+(?:this|that|it))?|remember\s+(?:this|that|it)(?:,?\s+please)?)"
    r"\s*[.!]*\Z",
    re.IGNORECASE,
)
_BEFORE_ZH = lazy_pattern(
    r"\A(?:(?:请|麻烦|拜托)你?)?(?:帮我|替我|给我)?(?:记住|记一下|记下来?|记着|记录一下|(?<=请)记得|别忘了|不要忘记?了?)"
    r"[：:，,、\s]*(?=(?:[今明后下这本]\S{1,8}?)?(?:我|俺|咱))"
)
_AFTER_ZH = lazy_pattern(
    r"[，,；;]\s{0,3}(?:(?:请|麻烦|拜托)?你?)(?:帮我|替我|给我)?(?:记住|记一下|记下来?|记着|记录一下)(?:了|吧|哦|啊|呀)?\s*[。.!！]*\Z"
)


def without_request(sentence: str) -> str:
    """Return a sentence without the request to remember it, at its beginning and at its end; mostly all of it."""
    for before in (_BEFORE_EN, _BEFORE_ZH):
        if asked := before.match(sentence):
            sentence = sentence[asked.end() :]
    for after in (_AFTER_EN, _AFTER_ZH):
        if asked := after.search(sentence):
            sentence = sentence[: asked.start()]
    return sentence
