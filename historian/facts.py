"""What is known in code before a model is asked: resolved times, names, and the language of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from historian.fold import CJK
from historian.rewrite import RewriteContext, Rewritten

Language = Literal["zh", "en"]

_WEEKDAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
}
_SPEAKER = {"en": 'the speaker ("I", "my") = {}', "zh": "说话人（“我”）= {}"}
_AGENT = {"en": 'the assistant ("you") = {}', "zh": "助手（“你”）= {}"}
_CJK = re.compile(f"[{CJK}]")
_LATIN = re.compile(r"[A-Za-z]+")


def language_of(texts: Iterable[str]) -> Language:
    """Return "zh" where two characters or more are Chinese and they are not outnumbered by Latin words, else "en"."""
    text = "\n".join(texts)
    chinese = len(_CJK.findall(text))
    return "zh" if chinese >= 2 and chinese >= len(_LATIN.findall(text)) else "en"


def facts_of(rewritten: Sequence[Rewritten], context: RewriteContext, language: Language) -> tuple[str, ...]:
    """Return the facts for a prompt, one a line: whose names are known, and what each relative time means."""
    names = [
        words[language].format(name)
        for words, name in ((_SPEAKER, context.speaker_name), (_AGENT, context.agent_name))
        if name
    ]
    times = [f"{time.found.strip()} = {time.meaning}" for one in rewritten for time in one.times]
    return tuple(dict.fromkeys([*names, *times]))


def moment(said_at: datetime, language: Language) -> str:
    """Return when something was said, with its weekday: `2026-02-21 14:30 星期六`."""
    return f"{said_at:%Y-%m-%d %H:%M} {_WEEKDAYS[language][said_at.weekday()]}"
