"""Chat models without an endpoint, for what is asked of them thousands of times."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pydantic import ValidationError

from historian.chat import Answer, ChatTrouble, Message, Reply, Role, Shape, ToolSpec
from historian.errors import UnusableAnswerError
from prompts import Prompt

Says = Callable[[Role, Prompt], str]


class ScriptedChat:
    """Says what a function of the test says, and is as strict about shapes as the real one."""

    def __init__(self, says: Says) -> None:
        self._says = says
        self.asked: list[Prompt] = []

    def configured(self, role: Role) -> bool:
        return bool(role)

    def answer(self, role: Role, prompt: Prompt, shape: type[Shape]) -> Answer[Shape]:
        self.asked.append(prompt)
        text = self._says(role, prompt)
        try:
            return Answer(shape.model_validate_json(text), text, "scripted")
        except ValidationError:
            raise UnusableAnswerError("The model's answer has another shape.", kind="invalid", wrote=text) from None

    def converse(self, role: Role, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
        del role, messages, tools
        return Reply("", "scripted")

    def troubles(self) -> tuple[ChatTrouble, ...]:
        return ()

    def close(self) -> None:
        """Nothing is open."""


def observations(prompt: Prompt) -> list[str]:
    """Return the observations that a prompt asks to phrase."""
    first = prompt.turns[1].content
    block = first.split("<observations ", 1)[1].split(">\n", 1)[1].split("\n</observations ", 1)[0]
    return [" ".join(one.split()) for one in re.split(r"^\[\d+\] ", block, flags=re.MULTILINE)[1:]]
