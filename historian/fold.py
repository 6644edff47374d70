"""Folding text so that what a reader takes for the same is the same string, and cutting it into search terms.

The folding works character by character, so that a part of a text folds to a part of the folded text. That is why
Traditional Chinese goes through OpenCC's character table and not through its phrases.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from historian.patterns import lazy_pattern
from historian.stems import stem

MAX_TERM_LENGTH = 64
"""Characters of a word that are indexed; of longer ones (encoded files, hashes) only so much is searched."""

# Scripts written without blanks (Hangul for its suffixes): Han, kana, bopomofo, and Thai, Lao, Burmese, Khmer.
_HAN_KANA = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00016fe0-\U00016fe4\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7a3\ud7b0-\ud7ff"
_UNSPACED = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u1000-\u103f\u1780-\u17d3"
CJK = f"{_HAN_KANA}{_HANGUL}{_UNSPACED}"
"""The inside of a regular-expression class: characters that are search terms by themselves."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U000e0100-\U000e01ef"
)
_MARK = lazy_pattern(f"[{_MARKS}]")
_MAYBE_MARKED = lazy_pattern(f"[^\x00-\x7f{_HAN_KANA}{_HANGUL}\u2010-\u2027\u3000-\u3004\u3008-\u3020\uff00-\uffef]")
_CJK = lazy_pattern(f"[{CJK}]")
_RUN = lazy_pattern(f"([{CJK}]+)|((?:(?![{CJK}])[^\\W_])+)")
_BLANKS = lazy_pattern(r"[\s\x00-\x1f\x7f-\x9f]+")
# 「用 docker 部署」 and 「用docker部署」 differ in typography only.
_GAP = lazy_pattern(f"(?<=[{_HAN_KANA}]) (?=[a-z0-9])|(?<=[a-z0-9]) (?=[{_HAN_KANA}])")
_SPACING_MARK = lazy_pattern("[\u309b\u309c]")
_SPACING_MARKS = {0x309B: 0x3099, 0x309C: 0x309A}
_ALIKE = {
    **dict.fromkeys(map(ord, "‘’‚‛′"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    ord("〜"): "~",
}
_NO_OPENCC_CHARACTER = {ord("著"): "着", ord("妳"): "你", ord("甚"): "什"}


def fold(text: str) -> str:
    """Return `text` as it is compared: width, case, accents, traditional characters, quotes and blanks made alike.

    Kana voicing marks are kept (が is not か). Invisible characters vanish, runs of white space become one blank, and a
    blank between Chinese or Japanese and a Latin word vanishes. Folding twice changes nothing.
    """
    text = text.lower() if text.isascii() else _fold_unicode(text)
    return _GAP.sub("", _BLANKS.sub(" ", text).strip())


def _fold_unicode(text: str) -> str:
    if _SPACING_MARK.search(text):
        text = text.translate(_SPACING_MARKS)
    text = unicodedata.normalize("NFKC", text).casefold()
    if _MAYBE_MARKED.search(text):
        text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cs"))
        text = _MARK.sub("", unicodedata.normalize("NFKD", text))
        text = _MARK.sub("", unicodedata.normalize("NFKC", text)).casefold()
    return text.translate(_alike_in_cjk() if _CJK.search(text) else _ALIKE)


@cache
def _alike_in_cjk() -> dict[int, str]:
    """Return `_ALIKE` with the table from traditional to simplified characters, read once from OpenCC's dictionary."""
    lines = (files("opencc") / "dictionary" / "TSCharacters.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if "\t" in line)
    table = {ord(old): new.split(" ")[0] for old, new in pairs} | _NO_OPENCC_CHARACTER
    closed = {old: table.get(ord(new), new) for old, new in table.items()}
    return {old: new for old, new in closed.items() if chr(old) != new} | _ALIKE


def simplified(text: str) -> str:
    """Return `text` with traditional characters as simplified ones, each in its place: offsets stay right."""
    if text.isascii() or _CJK.search(text) is None:
        return text
    return text.translate(_simplified_of())


@cache
def _simplified_of() -> dict[int, str]:
    return {old: new for old, new in _alike_in_cjk().items() if old not in _ALIKE}


def has_cjk(text: str) -> bool:
    """Say whether `text` holds a character of a script that is written without blanks."""
    return _CJK.search(text) is not None


def runs(folded: str) -> Iterator[tuple[str, bool]]:
    """Yield the runs of a folded text in order: words, and unbroken stretches of CJK characters (second value true)."""
    for match in _RUN.finditer(folded):
        yield match.group(), match.group(1) is not None


def bigrams(run: str) -> list[str]:
    """Return each pair of neighbours in a stretch of CJK characters, in order."""
    return [run[i : i + 2] for i in range(len(run) - 1)]


def terms(folded: str) -> list[str]:
    """Return the index terms of a folded text: stems of words, and each CJK character and each pair of neighbours.

    A term holds letters, digits and CJK characters only, so that a tokenizer that splits at blanks keeps it whole.
    """
    found: list[str] = []
    for run, is_cjk in runs(folded):
        if is_cjk:
            found.extend(run)
            found.extend(bigrams(run))
        else:
            found.append(stem(run[:MAX_TERM_LENGTH]))
    return found
