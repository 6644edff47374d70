"""Whose words stand in a message, and whether they are meant: own or quoted, a question, a joke, an order to a model.

Only what somebody states in earnest and in the own name proves anything about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from historian.fold import fold
from historian.injection import looks_like_instruction
from historian.model import Message
from historian.patterns import words
from historian.question_clauses import told_before_asking

Kind = Literal["own", "assistant", "quoted", "question", "hypothetical", "joke", "order"]

_SENTENCE = re.compile(r"(?:[^。！？!?\n.]|\.(?!\s|$))+[。！？!?.]*\s*")
_QUESTION = re.compile(r"[?？][\"'”’」)）\s]*\Z|[吗么呢][。\s]*\Z")
_IF = re.compile(r"如果|要是|假如|假设|万一|\b(?:if|suppose|imagine|what if)\b", re.IGNORECASE)
_EARNEST = re.compile(
    r"(?:不是|没(?:有|在)?|别以为我在?|并非)开?玩笑|\b(?:not|n['’]t|never|no)\s+(?:\w+\s+)?(?:kidding|joking|joke)\b",
    re.I,
)
_JOKE = re.compile(
    r"开(?:个|你)?(?:的)?玩笑|逗你(?:的|玩)|骗你的|说笑|闹着玩|瞎说的|\b(?:just |only )?(?:kidding|joking)\b|\bjk\b"
    r"|\bas a joke\b|\bpulling your leg\b",
    re.IGNORECASE,
)
_PHRASES = re.compile(
    r"(?:说实话|老实说|坦白说|不用说|可以说|比如说|就是说|怎么说|话说|总的来说|应该说|说起|说到|我(?:想|要|得|刚|再|先|也|就)?说)"
)
_SAYS_ZH = re.compile(
    r"(?P<who>[\u4e00-\u9fffA-Za-z]{1,8}?)(?:[总老常也]+[是常]?|曾经?|昨天|今天|上次|跟我|对我|和我)*"
    r"(?:说|讲|表示|告诉我|写道|抱怨)(?:过|了|道)?(?:[，,：:]\s*|(?=[\"“「『])|(?=[^，。,]))"
)
_SAYS_EN = re.compile(
    r"\b(?P<who>[A-Z][\w'’-]+|[Mm]y (?:\w+ )?\w+|[Hh]e|[Ss]he|[Tt]hey|[Ss]omeone|[Tt]he \w+|[Pp]eople)\s+"
    r"(?:always |once |often |just |also )?(?:says?|said|told (?:me|us|everyone)|claims?|claimed|writes|wrote|insists?)"
    r"\b(?:\s+that)?[\s,:]*"
)
_OWN = frozenset({"我", "我们", "咱", "本人", "i", "user", "用户"})
_MINE = re.compile(r"\A(?:my|the|我的?|他的?|她的?|有|那个?|这个?)\s*", re.IGNORECASE)
_ANYBODY = frozenset(words("he she they someone people 他 她 他们 她们 人 有人 大家 人家 别人 听 据 俗话"))
_ASSISTANT_SAID = re.compile(
    r"\b(?:assistant|bot|ai)\s+(?:had |has |once |also )?(?:said|says|told|wrote|suggest\w*|recommend\w*|propos\w*"
    r"|promis\w*|advis\w*|offer\w*|answer\w*|explain\w*|mention\w*|ask\w*)\b"
    r"|(?:助手|助理|机器人)[^，。,]{0,6}?(?:说|推荐|建议|提议|提到|回答|解释|答应|告诉|问|写)",
    re.IGNORECASE,
)
_BEFORE_A_NAME = re.compile(
    r"(?:the |according to |据)?(?:(?:the )?(?:user|asker)'s |用户的?)?(?:(?:older|younger) )?\Z"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a message. `who` is whose words they are, where they are quoted."""

    text: str
    kind: Kind
    who: str = ""

    def proves(self, statement: str) -> bool:
        """Say whether this can prove a statement: own words, or those of somebody whom the statement names."""
        if self.kind == "own":
            return True
        if self.kind == "assistant":
            return _ASSISTANT_SAID.search(statement) is not None
        return self.kind == "quoted" and _names(statement, self.who)

    @property
    def reason(self) -> str:
        """Why this proves nothing, as one sentence."""
        return {
            "assistant": "Only the assistant said so; the user did not.",
            "quoted": f"The message gives the words of somebody else ({self.who}); name who said so.",
            "question": "The message asks; it states nothing.",
            "hypothetical": "The message only supposes it.",
            "joke": "It was said as a joke and taken back.",
            "order": "The message gives orders to a model; it is no evidence.",
        }.get(self.kind, "")


def parts_of(message: Message, following: Sequence[Message] = ()) -> tuple[Part, ...]:
    """Return the parts of a message. `following` are the next of its conversation, in which it may be taken back."""
    if looks_like_instruction(message.content):
        return (Part(message.content, "order"),)
    if message.role != "user":
        return (Part(message.content, "assistant"),)
    if is_joke(message.content) or any(_takes_back(later, message) for later in following):
        return (Part(message.content, "joke"),)
    return tuple(part for sentence in _SENTENCE.findall(message.content) for part in _parts(sentence))


def is_joke(text: str) -> bool:
    """Say whether a text says of itself that it is not meant."""
    return _JOKE.search(_EARNEST.sub(" ", text)) is not None


def _names(statement: str, who: str) -> bool:
    """Say whether a statement is about whoever a message quotes; a pronoun is nobody."""
    name, folded = fold(_MINE.sub("", who)), fold(statement)
    if not name or name in _ANYBODY:
        return False
    found = re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", folded)
    return found is not None and _BEFORE_A_NAME.match(folded[: found.start()]) is not None


def _takes_back(later: Message, message: Message) -> bool:
    same = (later.role, later.sender_id) == (message.role, message.sender_id)
    return same and is_joke(later.content[:60])


def _parts(sentence: str) -> Iterator[Part]:
    if _QUESTION.search(sentence.strip()):
        told = told_before_asking(sentence)
        if told:
            yield from _parts(sentence[:told])
        yield Part(sentence[told:], "question")
        return
    if _IF.search(sentence):
        yield Part(sentence, "hypothetical")
        return
    plain = _PHRASES.sub(lambda found: "，" * len(found[0]), sentence)
    for pattern in (_SAYS_ZH, _SAYS_EN):
        found = pattern.search(plain)
        if found is not None and found["who"].strip().lower() not in _OWN:
            if sentence[: found.start()].strip():
                yield Part(sentence[: found.start()], "own")
            yield Part(sentence[found.end() :], "quoted", found["who"].strip())
            return
    yield Part(sentence, "own")
