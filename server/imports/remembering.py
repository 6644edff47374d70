"""The second half of an import with `--remember`: a few exchanges at a time go to the historian, oldest first."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from server.imports.exchanges import Exchange, Exchanges

AT_ONCE = 16
"""Exchanges that wait at a time: what a person says meanwhile does not wait behind years of chats."""
LOOK_SECONDS = 0.2

Ask = Callable[[dict[str, Any]], dict[str, Any]]
"""Asks the owner for the operation `remember`."""


@dataclass(slots=True)
class Remembered:
    """How much was handed to the historian; `known` of the exchanges were handed in before.

    `statements` is how many more there are in the memory than when the import began.
    """

    exchanges: int = 0
    known: int = 0
    messages: int = 0
    left_out: int = 0
    statements: int = 0

    def summary(self, *, dry: bool) -> str:
        """Return what to tell on stdout."""
        if dry:
            return f"{self.exchanges} exchanges would be considered."
        known = f", {self.known} of them before" if self.known else ""
        left_out = f" {self.left_out} could not be handed in." if self.left_out else ""
        more = f"{self.statements or 'no'} new statement{'' if self.statements == 1 else 's'} remembered"
        return f"{self.exchanges} exchanges considered{known}; {more}.{left_out}"


def remember(exchanges: Exchanges, ask: Ask, show: Callable[[int, int], None]) -> Remembered:
    """Hand all exchanges in and wait until the historian has done them; interrupted, it can be repeated.

    Raises:
        InvalidInputError: the owner refuses.
        StoreError: the owner hung up.
    """
    done = Remembered()
    before = _statements(ask)
    batch: list[Exchange] = []
    for exchange in exchanges:
        batch.append(exchange)
        if len(batch) == AT_ONCE // 2:
            _hand_in(batch, ask, done, show)
            batch = []
    _hand_in(batch, ask, done, show)
    while ask({"exchanges": []})["waiting"]:
        time.sleep(LOOK_SECONDS)
    done.statements = max(0, _statements(ask) - before)
    return done


def rehearse(exchanges: Exchanges) -> Remembered:
    """Return how much there is."""
    done = Remembered()
    for exchange in exchanges:
        done.exchanges += 1
        done.messages += len(exchange.message_ids)
    return done


def _statements(ask: Ask) -> int:
    return int(ask({"exchanges": [], "count": True})["statements"])


def _hand_in(batch: list[Exchange], ask: Ask, done: Remembered, show: Callable[[int, int], None]) -> None:
    if not batch:
        return
    answer = ask({"exchanges": [one.as_request() for one in batch]})
    done.exchanges += len(batch) - answer["left_out"]
    done.known += answer["known"]
    done.left_out += answer["left_out"]
    done.messages += sum(len(one.message_ids) for one in batch)
    show(done.exchanges, done.messages)
    while answer["waiting"] > AT_ONCE // 2:
        time.sleep(LOOK_SECONDS)
        answer = ask({"exchanges": []})
