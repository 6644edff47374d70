"""A chat model for `FakeEndpoint`: a function of the test says what it answers, well or in any way that models err."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.kit.reply import Reply, failing

REMEMBERED = 5_000
"""Requests that are kept, the last ones."""
MODES = ("json_schema", "json_object", "text")


@dataclass(frozen=True)
class ChatAsked:
    """One request to a chat model."""

    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def system(self) -> str:
        return "\n".join(str(one["content"]) for one in self.messages if one["role"] == "system")

    @property
    def last(self) -> str:
        """What was said last."""
        return str(self.messages[-1]["content"])

    @property
    def mode(self) -> str:
        """How structure is asked for: json_schema, json_object or text."""
        return str(self.body.get("response_format", {}).get("type", "text"))

    @property
    def shape(self) -> str | None:
        """The name of the schema, where there is one."""
        name = self.body.get("response_format", {}).get("json_schema", {}).get("name")
        return None if name is None else str(name)

    def block(self, name: str, turn: int = -1) -> str:
        """Return what stands in a prompt between the tags of a variable; without `turn`, of the last that has it."""
        found = ""
        for message in self.messages if turn < 0 else self.messages[turn : turn + 1]:
            if message["role"] == "user" and f"<{name} " in message["content"]:
                found = str(message["content"]).split(f"<{name} ", 1)[1].split(">\n", 1)[1].split(f"\n</{name} ", 1)[0]
        return found

    def entries(self, name: str) -> list[str]:
        """Return the entries of a list in a prompt, numbered or not, in order."""
        entries: list[str] = []
        for line in self.block(name).split("\n"):
            if line.startswith(("[", "- ")):
                entries.append(line.split("] ", 1)[-1] if line.startswith("[") else line[2:])
            elif entries:
                entries[-1] += "\n" + line.strip()
        return entries


@dataclass(frozen=True)
class Said:
    """What a model says, with all that an endpoint may add to it."""

    content: object = None
    finish: str = "stop"
    refusal: str | None = None
    tool_calls: Sequence[tuple[str, object]] = ()
    prompt_tokens: int = 100
    completion_tokens: int = 20


Answer = Callable[[ChatAsked], object]
"""Gives a string, a `Said`, a `Reply`, or anything that becomes JSON."""


@dataclass
class ScriptedModel:
    """A chat model and the server that it runs on.

    `modes` are those ways to ask for structure that the server takes; it refuses others with 400, as weak ones do.
    `refuses` names parameters that it does not know.
    """

    answer: Answer
    modes: Sequence[str] = MODES
    refuses: Sequence[str] = ()
    asked: list[ChatAsked] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def __call__(self, body: dict[str, Any]) -> object:
        """Answer one request."""
        asked = ChatAsked(body)
        with self._lock:
            self.asked.append(asked)
            del self.asked[:-REMEMBERED]
        for name in self.refuses:
            if name in body:
                return failing(400, f"Unsupported parameter: '{name}' is not supported with this model.")
        if asked.mode not in self.modes:
            return failing(400, f"response_format of type {asked.mode} is not supported")
        answer = self.answer(asked)
        return answer if isinstance(answer, Reply) else self.completion(body, _said(answer))

    def completion(self, body: Mapping[str, Any], said: Said) -> dict[str, Any]:
        """Return the body of a chat completion."""
        message: dict[str, Any] = {"role": "assistant", "content": said.content, "refusal": said.refusal}
        if said.tool_calls:
            message["tool_calls"] = [
                {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": _json(arguments)}}
                for number, (name, arguments) in enumerate(said.tool_calls)
            ]
        total = said.prompt_tokens + said.completion_tokens
        return {
            "id": f"chatcmpl-{next(self._numbers)}",
            "object": "chat.completion",
            "created": 1_771_000_000,
            "model": body.get("model", ""),
            "choices": [{"index": 0, "message": message, "finish_reason": said.finish, "logprobs": None}],
            "usage": {
                "prompt_tokens": said.prompt_tokens,
                "completion_tokens": said.completion_tokens,
                "total_tokens": total,
            },
        }


def _said(answer: object) -> Said:
    if isinstance(answer, Said):
        return answer
    return Said(content=_json(answer))


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


Fault = Callable[[str], object]
"""From the right answer to what is given instead."""

HARMLESS: Mapping[str, Fault] = {
    "prose around": lambda right: f"Sure, here you are [1]:\n{right}\nIs there {{anything}} else? 还有别的吗？",
    "code fence": lambda right: f"```json\n{right}\n```",
    "thoughts": lambda right: f'<think>Perhaps {{"a": 1}}? No.</think>\n\n{right}',
    "byte order mark": lambda right: f"\ufeff{right}",
    "trailing comma": lambda right: right[:-1] + ",}",
    "list of one": lambda right: f"[{right}]",
    "wrapped": lambda right: f'{{"result": {right}}}',
    "extra keys": lambda right: right[:-1] + ', "confidence": 0.9, "comment": "a"}',
    "cut off afterwards": lambda right: Said(f"{right}\nNote that", finish="length"),
    "parts": lambda right: Said([{"type": "text", "text": right}]),
}
"""What a good client reads all the same."""

UNUSABLE: Mapping[str, Fault] = {
    "empty": lambda right: "",
    "blank": lambda right: " \n\t",
    "nothing": lambda right: Said(None),
    "null": lambda right: "null",
    "prose only": lambda right: "I'm afraid I do not know. 抱歉。",
    "number": lambda right: "42",
    "empty list": lambda right: "[]",
    "empty object": lambda right: "{}",
    "other keys": lambda right: {"answer": "x"},
    "truncated": lambda right: Said(right[: len(right) * 2 // 3], finish="length"),
    "truncated silently": lambda right: right[: right.rindex('"') - 1],
    "endless thought": lambda right: Said(f"<think>{right}", finish="length"),
    "refusal": lambda right: Said(None, refusal="I can't help with that."),
    "filtered": lambda right: Said("", finish="content_filter"),
}
"""What is no answer, and has to be asked for again."""

OUTAGES: Mapping[str, Fault] = {
    "429": lambda right: failing(429),
    "500": lambda right: failing(500),
    "502": lambda right: Reply(502, b"<html>Bad gateway</html>", {"content-type": "text/html"}),
    "503": lambda right: failing(503),
    "dropped": lambda right: Reply(drop=True),
    "cut body": lambda right: Reply(200, b'{"choices": [{"message": {"content": "', cut=True),
    "not JSON": lambda right: Reply(200, b"<html>It works!</html>", {"content-type": "text/html"}),
    "no choices": lambda right: Reply(200, b'{"object": "chat.completion", "choices": []}'),
    "other JSON": lambda right: Reply(200, b'["error"]'),
}
"""What passes by itself."""


class Erring:
    """Wraps an answer: a share of the requests meets a fault, in an order that a seed fixes. `met` counts them."""

    def __init__(
        self, answer: Answer, share: float, *, seed: int = 1, faults: Mapping[str, Fault] | None = None
    ) -> None:
        self._answer = answer
        self._share = share
        self._random = random.Random(seed)
        self._faults = list((faults or {**UNUSABLE, **OUTAGES}).items())
        self._lock = threading.Lock()
        self.met: dict[str, int] = {}

    def __call__(self, asked: ChatAsked) -> object:
        """Answer one request, or err."""
        right = self._answer(asked)
        with self._lock:
            if isinstance(right, Reply) or self._random.random() >= self._share:
                return right
            name, fault = self._random.choice(self._faults)
            self.met[name] = self.met.get(name, 0) + 1
        return fault(str(_said(right).content or ""))
