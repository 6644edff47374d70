"""Reading a text that should be a JSON object, where whatever else it is counts as an empty one."""

from __future__ import annotations

import json
from typing import Any


def object_in(text: str | bytes) -> dict[str, Any]:
    """Return the JSON object that a text is, or an empty one."""
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
