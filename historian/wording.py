"""Words as far as the check of a model's wording needs them: forms of one word, words of one meaning, opposites."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from historian.fold import fold
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
    "年月日号周天点分钟秒星期礼拜零〇一二两三四五六七八九十百千万亿几半第不没无未非别勿甭曾用户助手人呗哎诶嘿喂呵"
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
    ("以前", "从前", "曾经"),
    ("改为", "改成"),
    ("变为", "变成"),
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

_NOW: Final = re.compile(
    r"现在(?!代)|目前(?!为止)|当[前下](?![载单])|如今|眼下|此刻|最近(?!公共|邻|的?一?[家条座间站])|近[来期](?![记视点])|刚[刚才]"
    r"|(?<!从)刚(?=[搬换买到来去回做吃写看完起开结辞入装学毕])|这阵子|这段时间|马上(?=[要就去])"
    r"|(?<![a-z])(?:right now|just now|at the moment|at present|these days|now|currently|presently|nowadays|recently"
    r"|lately)(?![a-z])"
)
_ALREADY: Final = re.compile(r"已经|已(?![婚知故往])|(?<![a-z])already(?![a-z])")

_YEARS_OLD: Final = re.compile(r"(?<=\d)[ -]years?[ -]old\b")
"""Who is 4 is 4 years old."""

_OPPOSITES: Final = words(
    "like/hate love/hate like/dislike love/dislike agree/disagree before/after more/less increase/decrease "
    "allow/forbid buy/sell lend/borrow win/lose open/close start/stop join/leave hire/fire first/last "
    "enable/disable accept/reject higher/lower better/worse most/least left/right morning/evening true/false "
    "marry/divorce rise/fall son/daughter brother/sister husband/wife mother/father uncle/aunt "
    "喜欢/讨厌 爱/恨 买/卖 左/右 同意/反对 加入/退出 入职/离职 结婚/离婚 上午/下午 前/后 "
    "早于/晚于 增加/减少 打开/关闭 开始/停止 借给/借自 高于/低于 多于/少于 进口/出口 赢/输 支持/反对 喜欢/厌恶 "
    "儿子/女儿 哥哥/弟弟 姐姐/妹妹 爸爸/妈妈 老公/老婆"
)

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
        (
            r"(?<!am )(?<!is )(?<!are )(?<!get )(?<!got )(?<!be )(?<!was )(?<!were )(?<!been )(?<!['’]m )(?<!['’]re )"
            r"\bused to\b",
            r"\b(?:used to|former(?:ly)?|previously|once|no longer|any ?more|until|past|was|were|had|[a-z]{2,}ed)\b"
            r"|以前|曾|过去|从前|原来",
        ),
        (
            r"(?<![年月日号周天个前\d])(?:以前|从前)|曾经?(?![祖孙国])"
            r"|[当做到学吃住养开看见听用读教谈参买卖玩试坐去]过(?![来去年节敏程期生度于])",
            r"[以之从]前|曾|过去|原来|原先|当年|过(?![敏程期度于])|不再|\b(?:used to|former(?:ly)?|previously|once)\b",
        ),
        (
            r"(?<![需想重主不])要(?=去|来|搬|结婚|换|考|回|走|出国|出差|离)",
            r"[要将会]|打算|计划|准备|希望|想|需|必须|得",
        ),
        (r"打算|计划(?!书|表)|准备|考虑|想(?![法念像象起到]|当然)", r"打算|计划|准备|考虑|想|希望|有意"),
        (r"希望|但愿", r"希望|但愿|想"),
        (r"可能|也许|或许|大概|说不定|估计", r"可能|也许|或许|大概|说不定|估计"),
    )
)
"""What says that something is not so yet, or no more, and what of it is enough to have said the same."""

LIMITS: Final = tuple(
    (re.compile(said, re.IGNORECASE), re.compile(enough, re.IGNORECASE))
    for said, enough in (
        (
            r"(?<!not )(?<!the )(?<!an )\bonly\b(?! (?:yesterday|recently|just|if|when|after|then))",
            r"\b(?:only|solely|just|exclusively|merely|alone|sole|single|nothing|nobody|no ?one|none|except|but)\b"
            r"|[只仅唯才]",
        ),
        (r"(?<!不)只(?=[有能吃喝会用买去看做剩想爱喜接穿])|仅|唯[一独]", r"[只仅唯才除]|\b(?:only|just)\b"),
    )
)
"""The same for what says that something is so of one thing only: what is left out of it still follows."""


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


@cache
def antonyms() -> tuple[tuple[str, str], ...]:
    """Return the pairs of opposites as they stand among the words of a text: lemmas of Latin ones."""
    pairs = (pair.split("/") for pair in _OPPOSITES)
    return tuple((_as_told(one), _as_told(other)) for one, other in pairs)


def _as_told(word: str) -> str:
    return lemma(word) if word.isascii() else word


def speaks_of_now(text: str) -> bool:
    """Tell whether a text names the moment of speaking, or the time about it: 现在, 最近, currently, recently."""
    return _NOW.search(fold(text)) is not None


def timeless(folded: str) -> str:
    """Return a folded text without the words for the moment of speaking: the time of an event stands beside it anyway.

    The gate takes them for relative times, so that a statement must not have them, and has nothing to put for them.
    """
    return _ALREADY.sub(" ", _NOW.sub(" ", folded))


def canonical(folded: str) -> str:
    """Return a folded text in which words that may stand for each other are the same word."""
    pattern, known = _variants()
    return pattern.sub(lambda match: known[match[0]], _YEARS_OLD.sub(" ", folded))


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
