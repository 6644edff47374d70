"""The parts of a text that are somebody else's words or no words at all: quotations, titles, code, addresses."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from historian.patterns import lazy_pattern

_CLOSERS: Final = {
    "“": "”",
    "‘": "’",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
    "`": "`",
    '"': '"',
    "'": "'",
}
_ONE_LINE: Final = frozenset("\"'`")
_OPENER: Final = lazy_pattern("[" + "".join(_CLOSERS) + "]")
_TOPIC: Final = lazy_pattern(r"#(?!\d)[^#\s，。；、]{1,40}#")
_TOKEN: Final = lazy_pattern(r"[A-Za-z0-9_@#$%&=+~.:/\\-]+")
_URL: Final = lazy_pattern(
    r"[a-z]{2,8}://[^\s<>，。！？；、）”》]+|(?<!\w)\w{1,64}(?:_\w{1,64})+(?:\.[a-z0-9]{1,5}\b)?"
)
_ADDRESS: Final = lazy_pattern(r"://|[@#_\\]|^[./~]|[A-Za-z0-9]\.[a-z]{1,5}\b|^--|\w=\w")
_NO_ADDRESS: Final = lazy_pattern(r"\d{0,2}(?::\d\d)?[ap]\.m|[ei]\.[ge]", re.IGNORECASE)

Span = tuple[int, int]


class Exempt:
    """Sorted, disjoint spans of a text in which nothing is rewritten."""

    def __init__(self, spans: list[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def touches(self, start: int, end: int) -> bool:
        """Tell whether any of [start, end) is exempt."""
        i = bisect_right(self._starts, start) - 1
        if i >= 0 and self._ends[i] > start:
            return True
        return i + 1 < len(self._starts) and self._starts[i + 1] < end


def exempt_spans(text: str) -> Exempt:
    """Return the quotations, titles, code, addresses and identifiers of a text. Linear in its length."""
    return Exempt([*_quoted(text), *_tokens(text)])


def _quoted(text: str) -> list[Span]:
    spans: list[Span] = []
    missing: dict[str, int] = {}  # opener → no closer before this position, so that hostile text is searched once
    position = line_end = 0
    while match := _OPENER.search(text, position):
        start, opener = match.start(), match.group()
        position = start + 1
        if opener == "'" and not _opens(text, start):
            continue
        if text.startswith("```", start):
            end = text.find("```", start + 3)
            position = len(text) if end < 0 else end + 3
            spans.append((start, position))
            continue
        if start < missing.get(opener, 0):
            continue
        if start >= line_end:
            line_end = _line_end(text, start)
        limit = line_end if opener in _ONE_LINE else len(text)
        end = _closing(text, start + 1, limit, _CLOSERS[opener])
        if end < 0:
            missing[opener] = limit
            continue
        spans.append((start, end + 1))
        position = end + 1
    return spans


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _closing(text: str, start: int, limit: int, closer: str) -> int:
    """Return where a quotation ends, or -1. An apostrophe between letters ends nothing."""
    end = text.find(closer, start, limit)
    while end >= 0 and closer in "'’" and end + 1 < len(text) and _is_ascii_letter(text[end + 1]):
        end = text.find(closer, end + 1, limit)
    return end


def _opens(text: str, at: int) -> bool:
    before = text[at - 1] if at else " "
    after = text[at + 1] if at + 1 < len(text) else " "
    return not (before.isascii() and before.isalnum()) and not after.isspace()


def _is_ascii_letter(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _tokens(text: str) -> list[Span]:
    """Return addresses, paths and identifiers: unbroken runs that hold `://`, `_`, `@`, a dotted name and so on."""
    spans = [match.span() for pattern in (_URL, _TOPIC) for match in pattern.finditer(text)]
    for match in _TOKEN.finditer(text):
        token = match.group().rstrip(".:")
        if len(token) > 2 and _ADDRESS.search(token) and not _NO_ADDRESS.fullmatch(token):
            spans.append((match.start(), match.start() + len(token)))
    return spans
