"""Small rules about text that several nouns share."""

from __future__ import annotations

import html
import re
import unicodedata

from historian.errors import InvalidInputError
from historian.patterns import lazy_pattern

_UNUSABLE = lazy_pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""NUL and the other control characters but tab and line ends, and half surrogates."""


def unusable_character(text: str) -> str | None:
    """Return the first NUL, control character or half surrogate of `text` as `U+XXXX`, or None."""
    found = _UNUSABLE.search(text)
    return f"U+{ord(found[0]):04X}" if found else None


def require_text(text: str, what: str, *, limit: int) -> str:
    """Return `text` without surrounding white space.

    Raises:
        InvalidInputError: longer than `limit` characters, or with control characters or half a surrogate.
    """
    stripped = text.strip()
    if len(stripped) > limit:
        raise InvalidInputError(f"{what} has {len(stripped)} characters; send at most {limit}.")
    bad = unusable_character(stripped)
    if bad is not None:
        raise InvalidInputError(f"{what} holds the unusable character {bad}; remove it and send plain text.")
    return stripped


def drop_unusable(text: str) -> str:
    """Return `text` without NUL, control characters and half surrogates: quoted material must not block a turn."""
    return _UNUSABLE.sub("", text)


def says_nothing(text: str) -> bool:
    """Return whether there is no letter, number or symbol in `text`: blank, invisible, control or punctuation only."""
    return not any(unicodedata.category(character)[0] in "LNS" for character in text)


def clip(text: str, limit: int) -> str:
    """Return the first `limit` characters of `text`."""
    return text if len(text) <= limit else text[:limit]


def unframe(text: str) -> str:
    """Return what stands in `<message><content>`, joined by newlines; other text comes back as it is."""
    contents = [content for message in _inside("message", text) for content in _inside("content", message)]
    parts = [html.unescape(content).strip() for content in contents]
    return "\n".join(part for part in parts if part) if any(parts) else text


def _inside(tag: str, text: str) -> list[str]:
    """Return what stands in each element. Behind the last end tag nothing is sought: each start would cost a pass."""
    end = max((match.end() for match in re.finditer(f"</{tag}>", text, re.IGNORECASE)), default=0)
    element = re.compile(rf"<{tag}\b[^<>]*>(.*?)</{tag}>", re.DOTALL | re.IGNORECASE)
    return element.findall(text, 0, end)
