"""How many tokens a text takes at most in most models, told without a tokenizer, which would be one model's own."""

from __future__ import annotations

from historian.patterns import lazy_pattern

_WIDE = lazy_pattern("[\u1100-\u115f\u2e80-\U0001efff]")
"""Chinese, Japanese and Korean characters with their punctuation; what is no character of any kind counts as these."""
_HEXADECIMAL = lazy_pattern(r"[0-9a-f]{16,}")
"""Identifiers; counted by their length, so that two of one length count alike whichever letters they have."""
_LATIN = lazy_pattern(r"[A-Za-z]+")
_NUMBERS = lazy_pattern(r"[0-9]+")
_SIGNS = lazy_pattern(r"[!-/:-@\[-`{-~\n]")
_OTHERS = lazy_pattern(r"[^\x00-\x7f]")


def count_tokens(text: str) -> int:
    """Return an estimate that is seldom too low, above all not for Chinese.

    Latin words: a token for each four letters or part of them; numbers: one for each two digits; hexadecimal
    identifiers: two for each three characters; punctuation and line ends: one each; blanks: none. Chinese, Japanese and
    Korean characters and their punctuation: one and a half each. Other letters: one each; anything else, as emoji, one
    for each byte of UTF-8 but the first.

    The sum of the counts of the lines of a text and of their ends is never less than the count of the text.
    """
    identifiers = 0
    if len(text) >= 16:
        identifiers = sum(-(-2 * len(one) // 3) for one in _HEXADECIMAL.findall(text))
        text = _HEXADECIMAL.sub(" ", text) if identifiers else text
    wide = 0
    if not text.isascii():
        text, wide = _WIDE.subn(" ", text)
    narrow = sum(-(-len(word) // 4) for word in _LATIN.findall(text))
    narrow += sum(-(-len(number) // 2) for number in _NUMBERS.findall(text)) + len(_SIGNS.findall(text))
    if not text.isascii():
        narrow += sum(map(_of_another, _OTHERS.findall(text)))
    return identifiers + narrow + -(-3 * wide // 2)


def _of_another(character: str) -> int:
    if character.isalpha():
        return 1
    return max(2, len(character.encode("utf-8", "surrogatepass")) - 1)
