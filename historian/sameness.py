"""When two texts say the same. Conservative: what is taken for the same is merged, and a wrong merge loses a fact.

A text is brought into a canonical form: case, width, punctuation and blanks are folded, contractions and a few
equivalent phrases written out, dates made alike, and words that carry no meaning (articles, particles, emphasis) left
out.
Two texts say the same when what remains is equal, word for word. A measure of likeness will not do instead: in a long
sentence one changed character (小李 / 小王, 吃辣 / 不吃辣, parcel 17 / parcel 18) leaves any measure above any bar.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from historian.patterns import lazy_pattern

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff"
_TOKEN = lazy_pattern(
    rf"(?:(?<![^\W{_CJK}])(?<!\.)[-+])?\d+(?:[.,:/-]\d+)*"  # a number, amount, time or date, with its sign
    rf"|[{_CJK}]"
    rf"|[^\W\d_{_CJK}]+(?:[-'.@][^\W\d_{_CJK}]+)*"  # a word, an address
    r"|[\d_\w]|!=|(?<!\S)--?(?=[a-z])|[^\w\s]"
)
_SIGNS = frozenset("?%‰#/*&@\\^~") | {"!=", "-", "--"}
"""Signs that change what is said, beside every symbol of mathematics, money and pictures."""
_RAISED = str.maketrans({digit: f"^{number}" for number, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
_MARK = "¦"
"""Stands for what folding would take away."""
_ABBREVIATION = lazy_pattern(
    r"(?<![A-Za-z])(?:US|IT|WHO|AM|OR|IN|IS|SO|HE|ME|DO|GO|NO|ON|AS|AT|BE|IF|MAY|CAN|WILL)(?![A-Za-z])"
)
_BARE_DENIAL = lazy_pattern(
    r"(?<=[不没])\s*[,;，；]|(?<=\bno)\s*[,;，；]|(?<=\bnot)\s*[,;，；]"
)  # 说不，要加辣: who said no?
_AT_THE_END = lazy_pattern(
    r"(?<=[\u4e00-\u9fff])(?<![叫姓名啊呀呢哦嘛啦哈])[啊呀呢哦嘛啦哈](?=[^\w]*$|[，。！？；,!?;~…])"
)
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "−": "-", "–": "-"})

LETTER_A = lazy_pattern(r"(?<=[a-z] )A(?!\w)")  # plan A, vitamin A: no article
_NAMED = lazy_pattern(r"(?<=[a-z] )(An|The|Very|Please)(?= [A-Z])")  # An Li, The Hague
_CHINESE_DATE = lazy_pattern(r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]")
_NUMERIC_DATE = lazy_pattern(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_CHINESE_CLOCK = lazy_pattern(r"(?<!\d)(\d{1,2})点(\d{1,2})分")
_THOUSANDS = lazy_pattern(r"(?<=\d),(?=\d{3}(?!\d))")

_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([吃喝受看听说走做用忍喜穿住买睡])不[了得](?!解)", r"不能\1"),  # 吃不了辣 → 不能吃辣
        (r"(?:没办法|没法子?|无法|不能够|不太能|不怎么能)", "不能"),
        (r"没有", "没"),
        (r"[您]", "你"),
        (r"([这那哪])儿", r"\1里"),
        (r"喜爱", "喜欢"),
        (r"居住", "住"),
        (r"\b(?:is|am|are) (?:not able|unable) to\b", "can not"),
        (r"\b(?:cannot|can't)\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\bshan't\b", "shall not"),
        (r"\b(\w+)n't\b", r"\1 not"),
        (r"\b(he|she|it|who|that|there)'s (?=\w+ing\b|not\b|an?\b|the\b|allergic\b)", r"\1 is "),
        (r"\bi'm\b", "i am"),
        (r"\b(\w+)'re\b", r"\1 are"),
        (r"\b(\w+)'ll\b", r"\1 will"),
        (r"\b(\w+)'ve\b", r"\1 have"),
    )
)

_LIGHT_PHRASES = lazy_pattern(r"(?<![不没])(?<!不是)(?:非常|十分地?|其实|确实|真的|特别地)|(?<!\w)of course(?!\w)")
_DEGREES = frozenset({"很", "挺", "very", "really", "quite", "indeed", "actually"})
"""Words of emphasis: behind a denial they say how much, not very, 不是很."""
_LIGHT = _DEGREES | frozenset("的了並并") | frozenset({"a", "an", "the", "please"})
_DENIALS = frozenset({"not", "no", "never", "不", "没", "别"})
_MEANT = lazy_pattern(
    r"目的|的确|的士|的哥|了解|受不了|罢了|为了|除了|并且|并非|并列|并州|并购|并存|并发|并入|合并|兼并|挺身|力挺|挺进|挺拔|坚挺|笔挺"
)
"""Words in which a light character is part of the meaning."""

_REMEMBERED_CHARS = 2000


def fingerprint(text: str) -> str:
    """Return a form that is equal for texts that differ in case, width, punctuation or blanks only; "" for no words."""
    return _remembered_print(text) if len(text) <= _REMEMBERED_CHARS else _print(text)


def _print(text: str) -> str:
    return "\x1f".join(_tokens(_folded(text)))


def statement_key(text: str) -> str:
    """Return a form that is equal for texts that say the same, as `same_statement` has it; "" for a text without words.

    It can be stored beside a text and looked up, so that finding an equal one among many costs one look.
    """
    return _remembered_key(text) if len(text) <= _REMEMBERED_CHARS else _key(text)


def _key(text: str) -> str:
    folded = _folded(_NAMED.sub(r"\1_", LETTER_A.sub("a_", _ABBREVIATION.sub(rf"\g<0>{_MARK}", text))))
    folded = _AT_THE_END.sub("", _BARE_DENIAL.sub(_MARK, folded))
    folded = _CHINESE_DATE.sub(_date, folded)
    folded = _NUMERIC_DATE.sub(_date, folded)
    folded = _CHINESE_CLOCK.sub(lambda found: f" {int(found[1])}:{int(found[2]):02d} ", folded)
    for pattern, replacement in _PHRASES:
        folded = pattern.sub(replacement, folded)
    tokens = _tokens(_LIGHT_PHRASES.sub(" ", folded))
    meant = {place for found in _MEANT.finditer("".join(tokens)) for place in range(*found.span())}
    kept: list[str] = []
    place = 0
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if token not in _LIGHT or place in meant or _says_how_much(kept, token, following):
            kept.append(token)
        place += len(token)
    return "\x1f".join(kept or tokens or _tokens(folded))


def _says_how_much(before: Sequence[str], token: str, following: str) -> bool:
    """Tell whether a light word changes what is said: a few, not very, 不是很."""
    if token == "a":
        return following in ("few", "little")
    denied = before[-1:] and (before[-1] in _DENIALS or (before[-1] == "是" and before[-2:-1] == ["不"]))
    return token in _DEGREES and bool(denied)


_remembered_key = lru_cache(maxsize=8192)(_key)
_remembered_print = lru_cache(maxsize=2048)(_print)


def same_statement(one: str, other: str) -> bool:
    """Return whether two texts say the same. Never where an id, number, name, time or polarity differs."""
    key = statement_key(one)
    return bool(key) and key == statement_key(other)


class Sameness:
    """`same_statement` for many comparisons among the same texts: each is looked at once, however many there are."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}

    def __call__(self, one: str, other: str) -> bool:
        """Return whether two texts say the same."""
        key = self._key(one)
        return bool(key) and key == self._key(other)

    def _key(self, text: str) -> str:
        known = self._keys.get(text)
        if known is None:
            known = self._keys[text] = statement_key(text)
        return known


def _folded(text: str) -> str:
    folded = (
        unicodedata.normalize("NFKC", text.translate(_APOSTROPHES).translate(_RAISED))
        .casefold()
        .translate(_APOSTROPHES)
    )
    return _THOUSANDS.sub("", unicodedata.normalize("NFKC", folded))


def _tokens(folded: str) -> list[str]:
    return [token for token in _TOKEN.findall(folded) if token[0].isalnum() or token[0] == "_" or _counts(token)]


def marks(text: str) -> tuple[str, ...]:
    """Return what folding would take out of a text: its signs, abbreviations, and names that begin like an article."""
    told = [sign for sign in unicodedata.normalize("NFKC", text) if not sign.isalnum() and _counts(sign)]
    return (*told, *_ABBREVIATION.findall(text), *_NAMED.findall(text))


def _counts(token: str) -> bool:
    return token in _SIGNS or len(token) > 1 or unicodedata.category(token) in ("Sm", "Sc", "So")


def _date(found: re.Match[str]) -> str:
    return f" {found[1]}-{int(found[2]):02d}-{int(found[3]):02d} "
