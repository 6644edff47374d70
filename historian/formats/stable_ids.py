"""Ids for messages of exports that give them none: the same for the same message in every export of the chat."""

from __future__ import annotations

import hashlib
import json
from collections import Counter


class StableIds:
    """Tells apart equal messages of one instant by counting them, as two short answers within one minute are."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._ts: object = None
        self._seen: Counter[str] = Counter()

    def next(self, conversation: str, sender: str, ts: str, content: str) -> str:
        """Return the id of a message. Messages come in the order of the export."""
        if ts != self._ts:
            self._ts = ts
            self._seen.clear()
        parts = json.dumps([conversation, sender, ts, content])
        self._seen[parts] += 1
        number = self._seen[parts]
        digest = hashlib.sha256(f"{number}:{parts}".encode()).hexdigest()[:32]
        return f"{self._prefix}:{digest}"
