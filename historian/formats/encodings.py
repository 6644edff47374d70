"""Which encoding a text file is in, told by its first bytes: Unicode, that of Chinese Windows, or that of Western."""

from __future__ import annotations

import codecs
import re
import unicodedata
from itertools import islice

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CHARACTER = re.compile(rb"[\x81-\xfe][0-9][\x81-\xfe][0-9]|[\x81-\xfe][\x40-\x7e\x80-\xfe]|[\x80-\xff]")
"""A character of GB18030 outside ASCII, or a byte that is none."""
_COMMON = re.compile(rb"[\xa1-\xa9\xb0-\xd7][\xa1-\xfe]\Z")
"""The signs of GB2312, and the 3755 characters with which nearly all is written."""
_LESS_COMMON = re.compile(rb"[\xd8-\xf7][\xa1-\xfe]\Z")
_JUDGED = 4_000
"""Characters that decide; more would say the same."""


def encoding_of(head: bytes, *, whole: bool) -> str:
    """Return the encoding of a text: by its byte order mark, else UTF-8, GB18030 or Windows-1252, as is plausible.

    `head` is its beginning, and with `whole` all of it. A few damaged bytes do not make UTF-8 something else.
    """
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if _is_utf8(head, whole=whole):
        return "utf-8"
    return "gb18030" if _chineseness(head) >= 0 else "cp1252"


def _is_utf8(head: bytes, *, whole: bool) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")
    try:
        decoder().decode(head, final=whole)
    except UnicodeDecodeError:
        outside = [one for one in decoder("surrogateescape").decode(head, final=whole) if one > "\x7f"]
    else:
        return True
    broken = sum("\udc80" <= character <= "\udcff" for character in outside)
    # a pair of GB18030 that passes for UTF-8 is one character, any other pair is two broken bytes
    return len(outside) - broken > 2 * broken


def _chineseness(head: bytes) -> int:
    """Return by how many characters that real Chinese text has outweigh those that it hardly has."""
    score = before = 0
    for found in islice(_CHARACTER.finditer(head), _JUDGED):
        is_after_letter = head[max(before - 1, 0) : before].isalpha()  # as in `élève`, whose pairs are `él` and `èv`
        score += _weight(found, is_after_another=before == found.start() and not is_after_letter)
        before = found.end()
    return score


def _weight(found: re.Match[bytes], *, is_after_another: bool) -> int:
    """Return 1 for a character that is likely in Chinese text, -1 for an unlikely one, else 0.

    Western accented letters stand alone between plain ones, of which the reading as Chinese eats one: `Köln` is `K鰈n`.
    """
    code, text = found[0], found.string
    try:
        character = code.decode("gb18030")
    except UnicodeDecodeError:
        return -1
    if unicodedata.category(character) in ("Co", "Cn"):
        return -1
    behind = text[found.end() : found.end() + 1]
    is_alone = not is_after_another and behind < b"\x80"
    letters = is_alone * (text[max(found.start() - 1, 0) : found.start()].isalpha() + behind.isalpha())
    if _COMMON.match(code):
        return int(letters < 2)
    if _LESS_COMMON.match(code):
        return -1 if letters else 1
    return -1 if letters or (is_alone and code[1:2].isalpha()) else 0
