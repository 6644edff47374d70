"""A prompt that is ready to be sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal


class PromptError(ValueError):
    """A template is broken, or was given other variables than it declares; the sentence names the template."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the conversation that a prompt is."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Turns for a model, and which template they come from."""

    name: str
    language: str
    version: str
    turns: tuple[Turn, ...]

    def again(self, wrote: str, correction: Prompt) -> Prompt:
        """Return this prompt continued: the model's unusable answer, then a correction (see `rewrite.retry`)."""
        tried = (Turn("assistant", wrote),) if wrote.strip() else ()
        return replace(self, turns=(*self.turns, *tried, *correction.turns))
