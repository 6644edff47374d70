"""Small rules about text that several nouns share."""

from __future__ import annotations

import html
import re
import unicodedata

from historian.errors import InvalidInputError

_FRAME = re.compile(r"<message\b[^>]*>(?P<body>.*?)</message>", re.DOTALL | re.IGNORECASE)
_CONTENT = re.compile(r"<content\b[^>]*>(?P<text>.*?)</content>", re.DOTALL | re.IGNORECASE)
_KEPT_CONTROLS = frozenset("\t\n\r")


def unusable_character(text: str) -> str | None:
    """Return the first NUL, control character or half surrogate of `text` as `U+XXXX`, or None."""
    for character in text:
        if character in _KEPT_CONTROLS:
            continue
        if unicodedata.category(character) in ("Cc", "Cs"):
            return f"U+{ord(character):04X}"
    return None


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
    return "".join(c for c in text if c in _KEPT_CONTROLS or unicodedata.category(c) not in ("Cc", "Cs"))


def clip(text: str, limit: int) -> str:
    """Return the first `limit` characters of `text`."""
    return text if len(text) <= limit else text[:limit]


def unframe(text: str) -> str:
    """Return what stands in `<message><content>`, joined by newlines; other text comes back as it is."""
    bodies = [match["body"] for match in _FRAME.finditer(text)]
    parts = [html.unescape(m["text"]).strip() for body in bodies for m in _CONTENT.finditer(body)]
    return "\n".join(part for part in parts if part) if parts else text
