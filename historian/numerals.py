"""Numbers as people write them, in Chinese and English: 十二, 两百, 廿一, twenty-one, a."""

from __future__ import annotations

from typing import Final

from historian.patterns import words

_ZH_DIGITS: Final = {
    **{c: i for i, c in enumerate("零一二三四五六七八九")},
    "〇": 0,
    "两": 2,
    "俩": 2,
    "仨": 3,
}
_ZH_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_ZH_JOINED: Final = {"廿": "二十", "卅": "三十"}

ZH_NUMBER: Final = "[零〇一二两俩三仨四五六七八九十百千廿卅0-9０-９]{1,8}"
"""Pattern of one Chinese number; `zh_number` says whether it is one."""

_EN_SMALL: Final = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_EN_TENS: Final = words("twenty thirty forty fifty sixty seventy eighty ninety")
_EN_WORDS: Final = {
    **{word: i for i, word in enumerate(_EN_SMALL)},
    **{word: 20 + 10 * i for i, word in enumerate(_EN_TENS)},
    "a": 1,
    "an": 1,
}
_EN_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}

EN_NUMBER: Final = (
    r"(?:\d{1,4}|(?:" + "|".join(_EN_TENS) + r")(?:[- ](?:one|two|three|four|five|six|seven|eight|nine)\b)?|"
    r"a\ hundred|one\ hundred|" + "|".join(reversed(_EN_SMALL[1:])) + r"|an?)"
)
"""Pattern of one English number up to a hundred, for case-insensitive matching; `a` and `an` count as one."""


def zh_number(word: str) -> int | None:
    """Return the value of a Chinese number, or None when it is not one number (三五, 两三 are guesses, not numbers)."""
    for joined, plain in _ZH_JOINED.items():
        word = word.replace(joined, plain)
    if word.isdigit():
        return int(word)
    if any(c.isdigit() and c not in _ZH_DIGITS for c in word):
        return None
    if not any(c in _ZH_UNITS for c in word):
        return _digit_string(word)
    return _with_units(word)


def _digit_string(word: str) -> int | None:
    """Read one digit, or a string of at least four (二〇二五); two or three in a row are a range."""
    if not word or any(c not in _ZH_DIGITS for c in word) or 1 < len(word) < 4:
        return None
    return int("".join(str(_ZH_DIGITS[c]) for c in word))


def _with_units(word: str) -> int | None:
    total, digit, last_unit = 0, None, 10_000
    for c in word:
        if c in _ZH_UNITS:
            unit = _ZH_UNITS[c]
            if unit >= last_unit:
                return None
            total += (1 if digit is None else digit) * unit
            digit, last_unit = None, unit
        elif c in "零〇":
            last_unit = min(last_unit, 100)
        elif digit is not None:
            return None
        else:
            digit = _ZH_DIGITS[c]
    return total + (digit or 0)


def en_number(word: str) -> int | None:
    """Return the value of an English number up to a hundred, in words or digits, or None."""
    word = word.strip().lower()
    if word.isdigit():
        return int(word)
    if word in {"a hundred", "one hundred"}:
        return 100
    total = 0
    for part in word.replace("-", " ").split():
        if part not in _EN_WORDS:
            return None
        total += _EN_WORDS[part]
    return total or None


def en_ordinal(word: str) -> int | None:
    """Return the day of the month that `3rd`, `15` or `first` names, or None."""
    word = word.strip().lower()
    if word in _EN_ORDINALS:
        return _EN_ORDINALS[word]
    digits = word.rstrip("stndrh")
    return int(digits) if digits.isdigit() else None
