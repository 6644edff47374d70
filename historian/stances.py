"""What a clause is for or against, so that two of them can be told to contradict each other.

Careful in one direction: what is found is a contradiction, what is missed is only not shown. Topics are compared by
words, so that a paraphrase in other words is missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from historian.expressions_en import MONTHS
from historian.fold import CJK, bigrams, fold
from historian.identity import negations
from historian.patterns import words
from historian.wording import AND_ANEW, ONLY_BUT, canonical, is_light, lemma

_CLAUSE = re.compile(
    rf"[,，.。;；:：!！?？、\n]|\b(?:but|while|whereas|although|though|and then)\b|但是?|可是|{ONLY_BUT}|却|后来|然后"
    rf"|而(?!且)|{AND_ANEW}"
)
_AGAINST = re.compile(
    r"\b(?:stop(?:ped|s|ping)?|quit(?:s|ting)?|gave up|giv(?:e|es|en|ing) up|hate[sd]?|dislike[sd]?|detest(?:s|ed)?"
    r"|avoid(?:s|ed)?)\b"
    r"|戒[了掉]?|停止|停了|放弃|讨厌|厌恶|反感|拒绝",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"喜欢|喜爱|热爱|爱|想要?|觉得|特别|最近|现在|目前|以前|从前|曾经|已经|一直|经常|每天|每周|开始|今年|去年|打算|其实|真的|超级?|最|太|再|完全"
    r"|[0-9一二三四五六七八九十]+月[份初底]?|[0-9一二三四五六七八九十]+[日号]|用户|说|大家"
    r"|\b(?:love[sd]?|like[sd]?|enjoy(?:s|ed)?|want(?:s|ed)?|start(?:s|ed)?|every|since|used|always|often|usually|now|"
    r"recently|totally|absolutely|anymore|any more|user|really)\b",
    re.IGNORECASE,
)
_COMMON: Final = frozenset(words("eat drink go work liv us tak mak get play read watch buy food thing tim peopl good"))
"""Lemmas that two clauses on different matters share."""
_TOKEN = re.compile(f"[{CJK}]|(?:(?![{CJK}])[^\\W\\d_])+")
_PLACE = re.compile(
    r"在家|家里|公司|上班|办公室|学校|周末|工作日|早上|上午|中午|下午|晚上|夏天|冬天|出差|旅行"
    r"|\b(?:at home|at work|in the office|at school|on weekends?|on weekdays|in the (?:morning|afternoon|evening)"
    r"|at night"
    r"|in (?:summer|winter)|on trips|travell?ing)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Stance:
    """What a clause speaks of, whether it denies it, and where or when that holds, if it says so."""

    topic: frozenset[str]
    denied: bool
    places: frozenset[str]

    def opposes(self, other: Stance) -> bool:
        """Say whether both speak of the same and one denies it."""
        return self.denied != other.denied and self._is_about(other)

    def agrees(self, other: Stance) -> bool:
        """Say whether both speak of the same in the same way."""
        return self.denied == other.denied and self._is_about(other)

    def takes_back(self, other: Stance) -> bool:
        """Say whether this denies just what the other says, or the other way round: 吃辣 and 戒辣."""
        if not self.opposes(other):
            return False
        shared, all_ = self.topic & other.topic, self.topic | other.topic
        return 3 * len(shared) >= 2 * len(all_) or self._is_of_one_character() or other._is_of_one_character()

    def is_elsewhere(self, other: Stance) -> bool:
        """Say whether both name a place or time of day, and not the same."""
        return bool(self.places and other.places and not self.places & other.places)

    def _is_about(self, other: Stance) -> bool:
        if self._is_of_one_character() or other._is_of_one_character():
            return self._ends_like(other) or other._ends_like(self)
        shared = self.topic & other.topic
        least = min(len(self.topic), len(other.topic))
        if not shared or 2 * len(shared) < least:
            return False
        if any(len(term) == 2 and not term.isascii() for term in shared):
            return True
        return len(shared) >= 2 or (least == 1 and not shared <= _COMMON)

    def _is_of_one_character(self) -> bool:
        return len(self.topic) == 1 and max(map(len, self.topic)) == 1

    def _ends_like(self, other: Stance) -> bool:
        """戒辣 speaks of what 吃辣 does."""
        (one, *more) = self.topic
        return not more and len(one) == 1 and any(term.endswith(one) for term in other.topic if not term.isascii())


def stances(text: str) -> Iterator[Stance]:
    """Yield the stance of each clause that has a topic."""
    for clause in clauses(text):
        topic = frozenset(_topic(clause))
        if topic:
            yield Stance(topic, is_denied(clause), frozenset(found.lower() for found in _PLACE.findall(clause)))


def takes_back(said: Sequence[str], text: str) -> bool:
    """Tell whether a text denies what is said, or says what is denied there, and nothing said bears it out."""
    own, held = [stance for one in said for stance in stances(one)], [*stances(text)]
    agreed = any(one.agrees(other) for one in own for other in held)
    return not agreed and any(one.takes_back(other) for one in own for other in held)


def clauses(text: str) -> list[str]:
    """Return the clauses of a text that hold a word."""
    return [clause for clause in _CLAUSE.split(text) if _TOKEN.search(fold(clause))]


def is_denied(clause: str) -> bool:
    """Say whether a clause denies or ends what it speaks of; what is denied twice is not."""
    return (len(negations(_AGAINST.sub(" ", clause))) + len(_AGAINST.findall(clause))) % 2 == 1


def denies(text: str) -> bool:
    """Say whether a text denies or ends anything."""
    return bool(negations(text) or _AGAINST.search(text))


def topic_words(text: str) -> str:
    """Return what a search for other statements on the same topic looks for."""
    bare = _PLACE.sub(" ", _NOISE.sub(" ", _AGAINST.sub(" ", canonical(fold(text)))))
    return " ".join(_without_denials(bare).split())


def _without_denials(text: str) -> str:
    for word in sorted(set(negations(text)), key=len, reverse=True):
        text = text.replace(word, " ")
    return text


def _topic(clause: str) -> Iterator[str]:
    bare = _NOISE.sub(" ", _AGAINST.sub(" ", _PLACE.sub(" ", canonical(fold(clause)))))
    run = ""
    end = -1
    for match in _TOKEN.finditer(f"{bare} ."):
        token = match[0]
        if run and (token.isascii() or is_light(token) or match.start() != end):
            yield from _pairs(run)
            run = ""
        if token.isascii():
            word = lemma(token)
            if len(token) > 2 and not is_light(word) and token not in MONTHS:
                yield word
        elif not is_light(token):
            run, end = run + token, match.end()
    yield from _pairs(run)


def _pairs(run: str) -> list[str]:
    """Return each two neighbours of a run of CJK characters, or the one that stands alone."""
    return bigrams(run) if len(run) > 1 else [run] if run else []
