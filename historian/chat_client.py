"""Chat models behind OpenAI-compatible endpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from historian.chat import Answer, ChatTrouble, Message, Reply, Role, Shape, ToolSpec
from historian.clock import Clock
from historian.errors import NotConfiguredError
from historian.options import ChatOptions
from prompts import Prompt


class OpenAIChat:
    """The chat models of the settings, one for each role."""

    def __init__(self, options: Mapping[Role, ChatOptions], clock: Clock) -> None:
        self._options = options
        self._clock = clock

    def configured(self, role: Role) -> bool:
        """Say whether a model is set for this role."""
        return role in self._options

    def answer(self, role: Role, prompt: Prompt, shape: type[Shape]) -> Answer[Shape]:
        """Return the model's answer in the given shape; see `Chat`."""
        raise NotConfiguredError(f"No chat model is set for {role}; set chat.model.")

    def converse(self, role: Role, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
        """Return the model's next turn; see `Chat`."""
        raise NotConfiguredError(f"No chat model is set for {role}; set chat.model.")

    def troubles(self) -> tuple[ChatTrouble, ...]:
        """Return what does not work at the moment."""
        return ()
