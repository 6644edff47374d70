"""Words as far as the check of a model's wording needs them: forms of one word, words of one meaning, opposites."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from historian.patterns import words
from historian.stems import STOP_WORDS, stem

_GRAMMAR: Final = words(
    "also off up down out over under again once because while during until since through between both each other "
    "such own same very really just quite actually indeed even still yet already ever any anymore more than as by "
    "user users speaker said say says saying mention mentions mentioned state states stated call called named name "
    "who whose that which himself herself themselves itself myself yourself ourselves one ones there here this "
    "these those year years month months week weeks day days date dates am pm o clock not no never nor none nobody "
    "nothing cannot cant dont doesnt didnt isnt wont without hardly longer won isn aren wasn weren hasn haven hadn "
    "wouldn shouldn couldn mustn needn ain going go gonna well oh ok okay yes yeah before after"
)
_MEANT: Final = words("like told tell tells")
_LIGHT_WORDS: Final = (STOP_WORDS | frozenset(_GRAMMAR)) - frozenset(_MEANT)

_LIGHT_CHARACTERS: Final = frozenset(
    "的地得了着过是吗呢吧啊呀嘛么哦啦哈嗯我你您他她它咱俺们这那哪谁什怎就也还都很挺并且而或与和跟及同把被让给在于至到从"
    "自以之其所将会要能可有个位名件只条些说表示提到称叫名为因由对向往里上下中内外时候间期后前起来去又再则即该本此某各每"
    "年月日号周天点分钟秒星期礼拜零〇一二两三四五六七八九十百千万亿几半第不没无未非别勿甭用户助手人呗哎诶嘿喂呵"
)

_VARIANTS: Final = (
    ("妈妈", "母亲", "老妈", "娘亲", "妈"),
    ("爸爸", "父亲", "老爸", "爸"),
    ("老婆", "妻子", "太太", "媳妇"),
    ("老公", "丈夫"),
    ("喜欢", "喜爱", "热爱", "爱"),
    ("居住", "住"),
    ("购买", "买"),
    ("小孩", "孩子"),
    ("因为", "由于"),
    ("目前", "现在", "当前"),
    ("不能", "无法", "没办法", "没法"),
    ("在", "正在"),
    ("昵称", "外号", "绰号"),
    ("mother", "mom", "mum", "mommy", "mummy"),
    ("father", "dad", "daddy"),
    ("child", "kid"),
    ("children", "kids"),
    ("bicycle", "bike"),
    ("phone", "telephone"),
    ("grandmother", "grandma", "granny"),
    ("grandfather", "grandpa"),
    ("television", "tv"),
    ("okay", "ok"),
)
"""Words that may stand for each other; the first takes the place of all."""

_FORMS: Final = """
be am is are was were been being|have has had having|do does did done doing|go goes went gone going|come comes came
eat eats ate eaten|drink drinks drank drunk|drive drives drove driven|write writes wrote written|read reads
ride rides rode ridden|rise rises rose risen|speak speaks spoke spoken|break breaks broke broken|choose chose chosen
take takes took taken|give gives gave given|see sees saw seen|know knows knew known|grow grew grown|throw threw thrown
fly flies flew flown|draw drew drawn|wear wore worn|tear tore torn|begin began begun|swim swam swum|sing sang sung
ring rang rung|run ran|get gets got gotten|forget forgot forgotten|buy buys bought|bring brought|think thought
teach taught|catch caught|fight fought|seek sought|sell sold|tell told|say said|pay paid|lay laid|make made|leave left
lose lost|win won|send sent|spend spent|lend lent|build built|keep kept|sleep slept|feel felt|meet met|lead led|feed fed
hold held|stand stood|understand understood|find found|sit sat|hear heard|mean meant|learn learnt|dream dreamt
become became|hide hid hidden|bite bit bitten|fall fell fallen|steal stole stolen|wake woke woken|hang hung|dig dug
stick stuck|strike struck|swear swore sworn|shake shook shaken|shoot shot|light lit|quit quits|child children
person people|foot feet|tooth teeth|wife wives|knife knives|man men|woman women|mouse mice
"""

ANTONYMS: Final = tuple(
    (lemma_pair[0], lemma_pair[1])
    for lemma_pair in (
        pair.split("/")
        for pair in words(
            "like/hate love/hate like/dislike love/dislike agree/disagree before/after more/less increas/decreas "
            "allow/forbid buy/sell lend/borrow win/lose open/clos start/stop join/leave hir/fir first/last "
            "enabl/disabl accept/reject higher/lower better/worse most/least left/right morn/even true/fals "
            "marri/divorc ris/fall "
            "喜欢/讨厌 爱/恨 买/卖 左/右 同意/反对 加入/退出 入职/离职 结婚/离婚 上午/下午 以前/以后 之前/之后 "
            "早于/晚于 增加/减少 打开/关闭 开始/停止 借给/借自 高于/低于 多于/少于 进口/出口 赢/输 支持/反对 喜欢/厌恶"
        )
    )
)
"""Pairs of opposites, as lemmas."""

ATTITUDES: Final = (
    ("喜", "欢"),
    ("愿", "意"),
    ("习", "惯"),
    ("想",),
    ("lik",),
    ("like",),
    ("love",),
    ("want",),
    ("enjoy",),
)
"""What somebody does about many things, as lemmas: denying it says nothing about the next thing."""

AND_ANEW: Final = (
    r"\b[Aa]nd\s+(?=(?:I|i|you|he|she|we|they|my|your|his|her|our|their|am|is|are|was|were|never|not|no)\b"
    r"|(?:do|does|did|is|are|was|were|has|have|had|wo|ca|would|could|should)n['’]t\b|(?:do|does|did|can|will)\s?not\b)"
)
"""An "and" after which another clause begins: one with a subject or a verb of its own."""

ONLY_BUT: Final = "不过(?!敏|瘾|期(?![待望]))"
"""The "but" that is no 不过敏."""

HEDGES: Final = tuple(
    (re.compile(said, re.IGNORECASE), re.compile(enough, re.IGNORECASE))
    for said, enough in (
        (r"\b(?:may|might|could|maybe|perhaps|possibly|probably|likely)\b",) * 2,
        (
            r"\b(?:wants?|wanted|wish(?:es|ed)?|hopes?|hoped)\b|(?:\bwould|['’]d)\s(?:like|love)\b",
            r"\b(?:wants?|wanted|wish(?:es|ed)?|hopes?|hoped)\b|(?:\bwould|['’]d)\s(?:like|love)\b",
        ),
        (
            r"\b(?:plans?|planned|planning|intends?|intended|considering|thinking (?:of|about))\b",
            r"\b(?:plan\w*|intend\w*|consider\w*|think\w*|thought)\b",
        ),
        (r"\b(?:will|shall|going to|gonna)\b|['’]ll\b", r"\b(?:will|shall|going to|would|to be)\b|['’]ll\b"),
        (r"打算|计划(?!书|表)|准备|考虑|想(?![法念像象起到]|当然)", r"打算|计划|准备|考虑|想|希望|有意"),
        (r"希望|但愿", r"希望|但愿|想"),
        (r"可能|也许|或许|大概|说不定|估计", r"可能|也许|或许|大概|说不定|估计"),
    )
)
"""What says that something is not so yet, and what of it is enough to have said the same."""


@cache
def _forms() -> dict[str, str]:
    rows = (row.split() for line in _FORMS.strip().splitlines() for row in line.split("|"))
    return {form: row[0] for row in rows for form in row[1:]}


@cache
def _variants() -> tuple[re.Pattern[str], dict[str, str]]:
    first = {other: row[0] for row in _VARIANTS for other in row[1:]}
    own = {row[0]: row[0] for row in _VARIANTS}
    known = own | first
    longest = sorted(known, key=len, reverse=True)
    parts = (rf"\b{word}\b" if word.isascii() else word for word in longest)
    return re.compile("|".join(parts)), known


def canonical(folded: str) -> str:
    """Return a folded text in which words that may stand for each other are the same word."""
    pattern, known = _variants()
    return pattern.sub(lambda match: known[match[0]], folded)


@lru_cache(maxsize=16_384)
def lemma(word: str) -> str:
    """Return one form for all forms of a folded word: ate, eats, eating → eat. It need not be a word."""
    if len(word) == 1:
        return word
    return stem(_forms().get(word, word))


@cache
def _light_lemmas() -> frozenset[str]:
    return _LIGHT_WORDS | {lemma(word) for word in _LIGHT_WORDS}


def is_light(token: str) -> bool:
    """Tell whether a lemma or CJK character may come and go: grammar, references, numerals, negations, dates.

    Numbers and negations are compared by themselves.
    """
    return token in _LIGHT_CHARACTERS or token in _light_lemmas()
