"""Taking values out of JSON of which nobody promised the shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_NOTHING: Mapping[str, Any] = {}


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def sequence(value: object) -> Sequence[Any]:
    """Return a list as it is, anything else as an empty one."""
    return value if isinstance(value, list) else ()


def text(value: object) -> str:
    """Return a text as it is, anything else as an empty one."""
    return value if isinstance(value, str) else ""


def identifier(value: object) -> str:
    """Return a text or a whole number as a text, anything else as an empty one."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def instant(value: object) -> str | int | float | None:
    """Return a time as an export has it, text or epoch, or None where there is none."""
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) and value else None


def blocks(content: object, *kinds: str) -> str:
    """Return the texts of content that is a text or a list of blocks with type and text, joined by blank lines."""
    if isinstance(content, str):
        return content.strip()
    texts = [text(mapping(block).get("text")) for block in sequence(content) if mapping(block).get("type") in kinds]
    return "\n\n".join(one.strip() for one in texts if one.strip())
