"""Private keys in text: PEM and its relatives, whole, cut off, or with their line ends written as `\\n` in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

HINT = "PRIVATE KEY"
LONGEST = 20_000
"""Characters of one key; an RSA key of 16384 bits has 12,500."""
_BEGIN = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_END = "-----END"
_BODY = r"[A-Za-z0-9+/]{32}"
"""What stands in every key, and not where somebody writes about the first and the last line of one."""
_BREAK = r"(?:\s|\\[nr])"
_LINE = r"[A-Za-z0-9+/]{16,}+={0,2}+"
_REST = (
    rf"{_BREAK}*+(?:[A-Za-z-]{{1,20}}: ?[^\n\\]{{0,200}}{_BREAK}++)*+(?:{_LINE}(?:{_BREAK}++{_LINE})*+)?+"
    rf"(?:{_BREAK}+[A-Za-z0-9+/]{{1,15}}={{0,2}}(?=\s*\Z))?"
)
"""What of a key can follow its first line where the last one is cut off: headers of old ones, and lines of base64."""


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the private keys of `text` stand, in time linear in its length."""
    if HINT not in text:
        return
    end, after = 0, 0
    for begin in re.finditer(_BEGIN, text):
        if begin.start() < after:
            continue
        if end < begin.end():
            found = text.find(_END, begin.end())
            end = found if found >= 0 else len(text) + LONGEST + 1
        after = _after(text, begin.end(), end)
        if re.search(_BODY, text[begin.end() : after]):
            yield begin.start(), after
        else:
            after = begin.end()


def _after(text: str, start: int, end: int) -> int:
    """Return where a key ends whose first line ends at `start`; `end` is where the next last line begins."""
    between = text[start:end] if end - start <= LONGEST else ""
    if between and "-----BEGIN" not in between:
        last = re.compile(r"-----END [A-Z0-9 ]{1,60}-----").match(text, end)
        return last.end() if last else end
    rest = re.compile(_REST).match(text, start, start + LONGEST)
    return rest.end() if rest else start
