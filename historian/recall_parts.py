"""What a recall works with. Apart from it, since its patterns take time to load and few requests recall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from historian.chat import Chat
from historian.clock import Clock
from historian.live import LiveOptions
from prompts import PromptLibrary

Progress = Callable[[int, int, str], None]
"""Is told how many rounds are done, of how many at most, and what was done last."""


@dataclass(frozen=True, slots=True)
class RecallParts:
    """Who is asked, in which words, within which budgets, and what time it is."""

    chat: Chat
    prompts: PromptLibrary
    options: LiveOptions
    clock: Clock
