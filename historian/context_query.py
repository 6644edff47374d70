"""What to look for before a message is answered: the conversation so far, since the last line alone says little."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from historian.fold import fold
from historian.gate import GateKind, inspect
from historian.model import Message
from historian.patterns import lazy_pattern
from historian.session import Session
from historian.text import clip, drop_unusable, says_nothing, unframe

SHORT = 20
"""Characters up to which a message is taken for one that leans on what was said before."""
MESSAGE_LENGTH = 800
TURN_LENGTH = 200
"""Characters of the message and of each earlier turn that are searched for."""
_MENTION = lazy_pattern(r"[@＠](?=\S)")
_PRESENT = frozenset(
    {"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "you", "your", "yours", "yourself"}
) | frozenset({"我", "我的", "我们", "我們", "咱", "咱们", "咱們", "俺", "你", "你的", "您", "你们", "你們", "自己"})
# The gate does not mind these in a statement; in a question they stand for what was named before.
_POINTING = lazy_pattern(
    r"^(?:那|这|這)(?:个|個|些|边|邊|里|裡|样|樣|呢|么|麼)(?!周|週|星期|礼拜|禮拜|月|季|年|学|學|假)"
    r"|^(?:然后|然後|还有|還有|另外|其他的?|后来|後來|为什么|為什麼)呢?\W*$"
    r"|^(?!.*(?:哪|什|几|幾|多少|怎|谁|誰)).{1,6}呢\W*$"
    r"|\b(?:the\s+other(?:\s+one)?|that\s+one|this\s+one|what\s+about|how\s+about|and\s+then|why\s+not|the\s+same)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """The texts to search for, the most telling one first; none where there is nothing to go by."""

    texts: tuple[str, ...]

    @property
    def main(self) -> str:
        """The most telling text, or nothing."""
        return self.texts[0] if self.texts else ""


def said(message: str) -> str:
    """Return what a message says: out of its XML frame, without unusable characters, cut to a bounded length."""
    return clip(drop_unusable(unframe(message)).strip(), MESSAGE_LENGTH)


def make_query(message: str, turns: Sequence[Message], session: Session) -> ContextQuery:
    """Return what to look for. `turns` are the last ones of the conversation, oldest first.

    A message that stands alone is looked for by itself and with the turns before it. One that is short gets the names
    of sender and group too; one that points back ("那个呢？", "and the other one?") is looked for only with all these.
    """
    text = without_mention(said(message), session.agent_name)
    earlier = _earlier(turns, message)
    names = _names(session) if leans_back(text) else ()
    alone = _joined([*names, text])
    whole = _joined([*earlier, *names, text])
    texts = (whole,) if points_back(text) and earlier else (alone, whole)
    return ContextQuery(tuple(dict.fromkeys(one for one in texts if not says_nothing(one))))


def leans_back(text: str) -> bool:
    """Say whether a message is short or points at something that was named before."""
    return len(text) <= SHORT or points_back(text)


def points_back(text: str) -> bool:
    """Say whether a message does not say itself what it is about; its sender is known, so that "I" points nowhere."""
    found = {one.found.casefold() for one in inspect(text) if one.kind is GateKind.PRONOUN}
    return bool(found - _PRESENT) or _POINTING.search(text) is not None


def without_mention(text: str, agent: str | None) -> str:
    """Return a message without the mention of whom it is addressed to, and other mentions as plain names."""
    if agent:
        text = re.sub(rf"[@＠]{re.escape(agent)}(?!\w)\s*", "", text, flags=re.IGNORECASE)
    return _MENTION.sub("", text).strip()


def _names(session: Session) -> tuple[str, ...]:
    return tuple(name for name in (session.sender_name, session.group_name) if name)


def _earlier(turns: Sequence[Message], message: str) -> list[str]:
    """Return what was said before the message, which may be in the record already."""
    before = list(turns)
    if before and message and _bare(before[-1].content) == _bare(message):
        before.pop()
    return [clip(said(turn.content), TURN_LENGTH) for turn in before]


def _bare(text: str) -> str:
    return "".join(fold(said(text)).split())


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(part for part in parts if part)
