"""In which language a page speaks: as the reader chose, else as the browser asks for."""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
TAGS = {"en": "en", "zh": "zh-Hans"}
NAMES = {"en": "English", "zh": "中文"}
MOST_READ = 1000
"""Characters of an Accept-Language header that are looked at."""


def chosen(*names: str | None) -> Language | None:
    """Return the first of the names that is a language of ours."""
    return next((language for name in names for language in LANGUAGES if name == language), None)


def accepted(header: str) -> Language:
    """Return the language of ours that an Accept-Language header wants most; English where it wants none."""
    wanted: list[tuple[float, int, Language]] = []
    for place, part in enumerate(header[:MOST_READ].split(",")):
        tag, _, parameters = part.strip().partition(";")
        language = chosen(tag.strip().lower().partition("-")[0])
        quality = _quality(parameters)
        if language is not None and quality > 0:
            wanted.append((-quality, place, language))
    return min(wanted)[2] if wanted else "en"


def _quality(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip().lower() != "q":
        return 1.0
    try:
        return max(0.0, min(1.0, float(value)))
    except ValueError:
        return 0.0
