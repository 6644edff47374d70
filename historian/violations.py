"""What is wrong with a rewritten text, as sentences that a model understands, in the language of its prompt."""

from __future__ import annotations

from collections.abc import Sequence

from historian.gate import Finding, GateKind
from historian.identity import Drift

_DRIFTS = {
    "en": {
        "id_lost": 'The id "{}" of the observation is missing; keep it exactly.',
        "id_invented": 'The id "{}" is in nothing that was given; leave it out.',
        "number_lost": 'The number or date part "{}" is missing; keep every number, and copy dates from the facts '
        "exactly.",
        "number_invented": 'The number "{}" is in nothing that was given; leave it out.',
        "polarity": 'Something is affirmed where it is denied, or the other way round (see "{}"); keep every "not" '
        "where it stands.",
        "person_invented": 'The person "{}" occurs in nothing that was given; use the names exactly as given.',
        "word_lost": 'The observation says "{}" and the statement does not; keep its words.',
        "word_invented": 'The word "{}" is in nothing that was given; use the words of the observation.',
        "word_borrowed": '"{}" is from the messages, not from the observation; take from them only whom or what a '
        "pronoun means.",
        "modality": '"{}" is lost; what is over, wished, planned, possible, or so of one thing only, must stay so.',
        "order": 'Names, numbers or words have changed places ("{}"); keep the order of the observation.',
        "language": "The observation is in another language; do not translate it.",
    },
    "zh": {
        "id_lost": "漏了观察里的编号“{}”，请照原样写上。",
        "id_invented": "编号“{}”在给你的材料里都没有，请去掉。",
        "number_lost": "漏了数字或日期“{}”，数字要全部保留，日期照“已知事实”抄写。",
        "number_invented": "数字“{}”在给你的材料里都没有，请去掉。",
        "polarity": "肯定和否定弄反了（见“{}”），每个否定都要留在原处。",
        "person_invented": "人名“{}”在给你的材料里都没有，请照材料里的写法写人名。",
        "word_lost": "观察里有“{}”，陈述里没有，请保留原词。",
        "word_invented": "“{}”在给你的材料里都没有，请用观察里的词。",
        "word_borrowed": "“{}”只出现在消息里，观察里没有；从消息里只能取代词所指的人或物。",
        "modality": "漏了“{}”，过去的、想做的、打算做的、可能的、“只有”的，都不能写成别的样子。",
        "order": "人名、数字或词语换了位置（“{}”），请保持观察里的顺序。",
        "language": "观察用的是另一种语言，不要翻译。",
    },
}
_FINDINGS = {
    "en": {
        GateKind.PRONOUN: '"{}" needs context; write the name.',
        GateKind.TIME: '"{}" needs the day of speaking; write the absolute date from the facts, and leave out a mere '
        '"now" or "recently".',
        GateKind.PLACE: '"{}" needs the place of speaking; write the name of the place.',
    },
    "zh": {
        GateKind.PRONOUN: "“{}”离开上下文就不知道指谁，请写出名字。",
        GateKind.TIME: "“{}”离开说话那天就不知道是哪天，请写“已知事实”里的日期；只是“现在”“最近”就去掉。",
        GateKind.PLACE: "“{}”离开说话的地方就不知道是哪里，请写出地名。",
    },
}
_OTHERS = {
    "en": {
        "missing": "There is no statement with this number; give exactly one for each observation.",
        "empty": "The statement is empty; phrase the observation.",
        "too_long": "The statement is far longer than its observation; say no more than the observation does.",
    },
    "zh": {
        "missing": "没有这个编号的陈述，每条观察都要有且只有一条陈述。",
        "empty": "陈述是空的，请改写这条观察。",
        "too_long": "陈述比观察长得多，不要写观察里没有的内容。",
    },
}
_MOST = 8
"""Sentences about one statement; a model that got more than that wrong starts anew anyhow."""


def about(number: int, language: str, drifts: Sequence[Drift], findings: Sequence[Finding]) -> list[str]:
    """Return what is wrong with the statement of that number, a sentence each."""
    sentences = [_FINDINGS[language][finding.kind].format(finding.found) for finding in findings]
    sentences += [_DRIFTS[language][drift.kind].format(drift.found) for drift in drifts]
    return [f"[{number}] {sentence}" for sentence in dict.fromkeys(sentences)][:_MOST]


def other(number: int, language: str, kind: str) -> str:
    """Return what is wrong with a statement that cannot be compared at all: missing, empty or too_long."""
    return f"[{number}] {_OTHERS[language][kind]}"
