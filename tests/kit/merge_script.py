"""A chat model without an endpoint, in the role of merging profiles: it says one thing after the other."""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from pydantic import ValidationError

from historian.chat import Answer, ChatTrouble, Message, Reply, Role, Shape, ToolSpec
from historian.errors import NotConfiguredError, UnusableAnswerError
from prompts import Prompt

Said = Mapping[str, object] | str | Exception
Script = Said | Callable[[Prompt], Said]


class MergeScript:
    """Answers from a script, then as `otherwise` says. Thread-safe."""

    def __init__(self, *script: Script, otherwise: Script = "", roles: Sequence[Role] = ("merge",)) -> None:
        self.asked: list[Prompt] = []
        self.roles = set(roles)
        self.otherwise = otherwise
        self._script = deque(script)
        self._lock = threading.Lock()

    def add(self, *script: Script) -> None:
        """Say this next."""
        self._script.extend(script)

    def configured(self, role: Role) -> bool:
        """Say whether the role is one of those that it plays."""
        return role in self.roles

    def answer(self, role: Role, prompt: Prompt, shape: type[Shape]) -> Answer[Shape]:
        """Return what the script says, if it is of the shape."""
        if role not in self.roles:
            raise NotConfiguredError(f"No chat model is set for {role}.")
        with self._lock:
            self.asked.append(prompt)
            script = self._script.popleft() if self._script else self.otherwise
        said = script(prompt) if callable(script) else script
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps({"lines": [], **said}, ensure_ascii=False)
        try:
            return Answer(shape.model_validate_json(text), text, "scripted")
        except ValidationError as error:
            found = tuple(str(one["msg"]) for one in error.errors())
            raise UnusableAnswerError("no answer", kind="invalid", violations=found, wrote=text) from None

    def converse(self, role: Role, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
        """Refuse: it only answers."""
        raise NotConfiguredError(f"No chat model is set for {role}.")

    def troubles(self) -> tuple[ChatTrouble, ...]:
        """Return nothing: it is always there."""
        return ()

    def close(self) -> None:
        """Nothing is open."""


def listed(prompt: Prompt, name: str) -> list[str]:
    """Return the entries of a numbered list in a prompt."""
    text = "\n".join(turn.content for turn in prompt.turns if turn.role == "user")
    block = re.search(rf"<{name} (\w+)>\n(.*?)\n</{name} \1>", text, re.DOTALL)
    return re.findall(r"^\[\d+\] (.*)$", block[2], re.MULTILINE) if block else []


def adding(prompt: Prompt) -> Mapping[str, object]:
    """Answer a merge by adding each statement word for word, and confirming the line that is the same."""
    lines, statements = listed(prompt, "lines"), listed(prompt, "statements")
    fates = [
        {"line": at, "action": "confirm", "statements": [n for n, said in enumerate(statements, 1) if said == line]}
        for at, line in enumerate(lines, 1)
        if line in statements
    ]
    added = [{"text": said, "statements": [n]} for n, said in enumerate(statements, 1) if said not in lines]
    return {"lines": fates, "added": added, "passing": [], "tags": []}
