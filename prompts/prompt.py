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
        """Return this prompt continued: the model's unusable answer, then a correction (see `rewrite.retry`).

        Where it wrote nothing the correction joins the last turn, since many models take turns strictly.
        """
        if wrote.strip():
            return replace(self, turns=(*self.turns, Turn("assistant", wrote), *correction.turns))
        *before, last = self.turns
        said = "\n\n".join(turn.content for turn in (last, *correction.turns))
        return replace(self, turns=(*before, Turn("user", said)))
