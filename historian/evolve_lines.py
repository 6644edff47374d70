"""JSON Lines for models that write no JSON object: one action a line, each repaired by itself, bad ones named."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from historian.chat_reading import LONGEST, read_object
from historian.evolve_answer import ActionSaid

MOST_LINES = 2_000
_WITHOUT = ("{", "}", "{}", "[{", "}]")
"""Lines that frame others and say nothing."""


@dataclass(frozen=True, slots=True)
class LinesRead:
    """The actions that were found, and the numbers of the lines that should have been one and are none."""

    actions: tuple[ActionSaid, ...]
    bad_lines: tuple[int, ...]


def read_lines(wrote: str, *, cut_off: bool = False) -> LinesRead:
    """Return the actions in a text that holds one on each line; prose without a brace is passed over.

    The last line of an answer that was `cut_off` is not completed by guessing.
    """
    lines = wrote[:LONGEST].lstrip("\ufeff").splitlines()[:MOST_LINES]
    actions: list[ActionSaid] = []
    bad: list[int] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip().rstrip(",")
        if "{" not in text or text in _WITHOUT:
            continue
        found = _strict(text) if cut_off and number == len(lines) else _strict(text) or read_object(_from_brace(text))
        if found is None or "action" not in found:
            bad.append(number)
            continue
        actions.append(ActionSaid.model_validate(found))
    return LinesRead(tuple(actions), tuple(bad))


def _from_brace(text: str) -> str:
    return text[text.index("{") :]


def _strict(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
