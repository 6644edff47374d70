"""Regular expressions that are compiled when they are first used, and those in which a group's name may repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final, cast

_NAMED: Final = re.compile(r"\(\?P<(\w+)>")
_AGAIN: Final = "__"


class _LazyPattern:
    """Stands in for a pattern until something of it is asked for; from then on its methods are those of the pattern."""

    def __init__(self, make: Callable[[], re.Pattern[str]]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        compiled = self._make()
        for used in ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "pattern"):
            self.__dict__[used] = getattr(compiled, used)
        return getattr(compiled, name)


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled on first use: a process that applies no rule need not wait for all of them."""
    return cast("re.Pattern[str]", _LazyPattern(partial(re.compile, pattern, flags)))


def compile_shared(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern whose group names may repeat, compiled on first use; `pick` reads whichever took part."""
    return cast("re.Pattern[str]", _LazyPattern(partial(_shared, pattern, flags)))


def _shared(pattern: str, flags: int) -> re.Pattern[str]:
    seen: Counter[str] = Counter()

    def rename(match: re.Match[str]) -> str:
        name = match[1]
        seen[name] += 1
        return match[0] if seen[name] == 1 else f"(?P<{name}{_AGAIN}{seen[name]}>"

    return re.compile(_NAMED.sub(rename, pattern), flags)


@cache
def _groups(pattern: re.Pattern[str], name: str) -> tuple[int, ...]:
    return tuple(number for key, number in pattern.groupindex.items() if key.split(_AGAIN)[0] == name)


def pick(match: re.Match[str], name: str) -> str:
    """Return what the group of that name matched, or an empty string."""
    return next((found for number in _groups(match.re, name) if (found := match[number])), "")


def took_part(match: re.Match[str], name: str) -> bool:
    """Tell whether the group of that name matched, be it nothing."""
    return any(match[number] is not None for number in _groups(match.re, name))


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text that lists them: easier to read than one string a line."""
    return tuple(text.split())


def came_from(match: re.Match[str], pattern: re.Pattern[str]) -> bool:
    """Tell whether it was this pattern that matched."""
    return match.re.pattern == pattern.pattern
