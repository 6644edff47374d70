"""What of an import is to be remembered, oldest first: exchanges to be considered, and statements of other memories."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from historian.errors import InvalidInputError
from historian.guard import Guard
from historian.intake import message_from
from historian.messages import epoch_ms
from historian.turn import MAX_OBSERVATIONS

MOST = 6
"""Messages of one exchange: a model states one thing of each."""
PAUSE_MS = 30 * 60 * 1000
"""After so long a silence another exchange begins."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Messages of one conversation, or one message with the statements that it makes by itself.

    `since` is when the first was said, ISO 8601; `part` counts where the statements of one message are too many.
    """

    conversation_id: str
    message_ids: tuple[str, ...]
    since: str
    facts: tuple[str, ...] = ()
    part: int = 0

    def as_request(self) -> dict[str, Any]:
        """Return it as the owner takes it."""
        return {name: getattr(self, name) for name in self.__slots__}


class Exchanges:
    """Gathers messages in any order, on the disk where they are many, and gives them back in order of time.

    For one thread at a time.
    """

    def __init__(self, zone: tzinfo, guard: Guard) -> None:
        self._zone = zone
        self._guard = guard
        self._file = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = OFF")
        self._file.execute("CREATE TABLE said (conversation, ms, at INTEGER PRIMARY KEY, message_id, ts, role, facts)")
        self._file.execute("BEGIN")

    def add(self, raw: dict[str, Any], facts: tuple[str, ...]) -> dict[str, Any]:
        """Note a message, and return it with its id, by which it will be found again; a bad one is left to the owner.

        The id is that of the message as it is stored, without the credentials that are masked there.
        """
        try:
            message = message_from(self._guard.value(raw, "A message"), self._zone)
            known = (message.conversation_id, epoch_ms(message.ts), message.message_id, message.ts.isoformat())
        except InvalidInputError:
            return raw
        self._file.execute(
            "INSERT INTO said (conversation, ms, message_id, ts, role, facts) VALUES (?, ?, ?, ?, ?, ?)",
            (*known, message.role, json.dumps(facts) if facts else None),
        )
        return {**raw, "message_id": message.message_id}

    def close(self) -> None:
        """Let go of what was gathered."""
        self._file.close()

    def __iter__(self) -> Iterator[Exchange]:
        """Yield the exchanges, the one that began first first."""
        self._file.execute("CREATE TABLE found (ms, document)")
        with closing(self._file.cursor()) as cursor:
            for ms, exchange in self._cut():
                cursor.execute("INSERT INTO found VALUES (?, ?)", (ms, json.dumps(exchange.as_request())))
        with closing(self._file.execute("SELECT document FROM found ORDER BY ms, rowid")) as rows:
            for (document,) in rows:
                fields = json.loads(document)
                yield Exchange(**fields | {name: tuple(fields[name]) for name in ("message_ids", "facts")})
        self._file.execute("DROP TABLE found")

    def _cut(self) -> Iterator[tuple[int, Exchange]]:
        """Yield exchanges of one conversation after the other; those in which no person speaks are left out."""
        open_ones: list[tuple[str, int, str, str, str]] = []
        rows = self._file.execute(
            "SELECT conversation, ms, message_id, ts, role, facts FROM said ORDER BY conversation, ms, at"
        )
        for conversation, ms, message_id, ts, role, facts in rows:
            if facts is not None:
                yield from _statements(conversation, ms, message_id, ts, json.loads(facts))
                continue
            last = open_ones[-1] if open_ones else None
            if last and (last[0] != conversation or ms - last[1] > PAUSE_MS or len(open_ones) == MOST):
                yield from _exchange(open_ones)
                open_ones = []
            open_ones.append((conversation, ms, message_id, ts, role))
        yield from _exchange(open_ones)


def _statements(
    conversation: str, ms: int, message_id: str, ts: str, facts: list[str]
) -> Iterator[tuple[int, Exchange]]:
    for part, start in enumerate(range(0, len(facts), MAX_OBSERVATIONS)):
        some = tuple(facts[start : start + MAX_OBSERVATIONS])
        yield ms, Exchange(conversation, (message_id,), ts, some, part)


def _exchange(said: list[tuple[str, int, str, str, str]]) -> Iterator[tuple[int, Exchange]]:
    if any(role == "user" for *_, role in said):
        conversation, ms, _, ts, _ = said[0]
        yield ms, Exchange(conversation, tuple(dict.fromkeys(one[2] for one in said)), ts)
