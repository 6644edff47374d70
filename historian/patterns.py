"""Regular expressions in which one name may stand in several alternatives, as the parts of a date do."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Final

_NAMED: Final = re.compile(r"\(\?P<(\w+)>")
_AGAIN: Final = "__"


def compile_shared(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern whose group names may repeat; `pick` reads whichever of them took part."""
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
