"""A light English stemmer, and the words that say nothing about what a question is about."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[a-z]{3,}\Z")
_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"(?<=..)([bdfgmnprt])\1\Z")
_UNCHANGED = frozenset({"news", "always", "perhaps", "need", "feed", "seed", "speed", "evening", "morning", "during"})

_STOP_WORDS = (
    "a about am an and any are as at be been being but by can could did do does doing done for from get got had has "
    "have having he her hers him his how i if in into is it its just like ll me mine my of on or our ours please re "
    "s shall she should so some t tell than that the their theirs them then there these they this those to too us "
    "ve was we were what when where which while who whom whose why will with would you your yours d m don didn "
    "doesn isn wasn aren weren "
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""English words that a ranked search leaves out. `not`, `no` and `never` are not among them: they carry meaning."""

STOP_CHARACTERS = frozenset(
    "的了是吗呢吧啊呀嘛么什我你他她它您们这那哪谁怎就也还和与及跟把被让给在着过地得个请问说一有会要能可以很都"
)
"""Chinese characters that a ranked search leaves out when they stand alone. 不 and 没 are not among them."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return a stem that the common inflections of an English word share: allergy, allergies; run, running.

    It need not be a word. Anything but three or more letters a to z is returned as it is.
    """
    if word in _UNCHANGED or not _WORD.match(word):
        return word
    word = _singular(word)
    for ending in ("ingly", "edly", "ing", "ed", "ly"):
        cut = word.removesuffix(ending)
        if cut != word and len(cut) >= 2 and _VOWEL.search(cut):
            word = _DOUBLED.sub(r"\1", cut)
            break
    if len(word) > 2 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 2 and word.endswith("y") and not _VOWEL.match(word[-2]):
        word = word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
