"""Titles without marks in which a first person is nobody's: My Neighbor Totoro, I, Robot, 电影是我不是药神."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from historian.patterns import lazy_pattern
from historian.phrasing import starts_sentence
from historian.spans import Exempt

_EN: Final = lazy_pattern(
    r"\b(?:(?:My|Me|Mine|Myself)(?=\s[A-Z])"
    r"(?!\s(?:M[ou]m|Mommy|Mummy|Mama|Dad|Daddy|Papa|Mother|Father|Gran|Sister|Brother))|I(?=,?\s[A-Z][a-z]))(?:,?\s[A-Z][\w'’]*)+"
)
_BEHIND_EN: Final = lazy_pattern(r"(?<=[a-z]\s)(?:[A-Z][a-z]{1,20}\s){1,4}(?:Me|My|Mine|Myself)\b")
_WORK_ZH: Final = (
    r"(?:电影|影片|片子|歌曲?|书|小说|[电连网]?[视续短]?剧|动漫|漫画|游戏|"
    r"综艺|节目|专辑|纪录片|动画片?|话剧|音乐剧|播客|乐队)"
)
_ZH: Final = lazy_pattern(
    rf"{_WORK_ZH}(?:的?名字?)?(?:就是|是|叫做?|名叫|名为)(?P<title>我[^，。！？；\n]*)"
    rf"|[看听读追](?:了|过|完)?{_WORK_ZH}(?P<title2>我(?![就很也都才便又还再先会要没觉])[^，。！？；\n]*)"
    r"|(?<=[在去到从追看读])(?P<title3>我[爱要想不是]我[一-鿿])"
)


def title_spans(text: str) -> Exempt:
    """Return the titles in a text that hold a first person. Linear in its length."""
    return Exempt([*_english(text), *_chinese(text)])


def _english(text: str) -> Iterator[tuple[int, int]]:
    for match in _EN.finditer(text):
        if not starts_sentence(text, match.start()):
            yield match.span()
    for match in _BEHIND_EN.finditer(text):
        yield match.span()


def _chinese(text: str) -> Iterator[tuple[int, int]]:
    for match in _ZH.finditer(text):
        yield match.span(match.lastgroup or 0)
