"""One request to a chat endpoint and what came back, with everything that can be wrong with it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from historian.chat import Finish, Message, ToolCall, ToolSpec, Usage
from historian.connection import Connection
from historian.endpoint import model_error
from historian.errors import ModelError, RetryableModelError, UnusableAnswerError
from historian.options import ChatOptions

if TYPE_CHECKING:
    from openai import APIStatusError

WHAT = "chat model endpoint"
_TOO_LONG, _FILTERED = "context_length_exceeded", "content_filter"
_FINISHES: Mapping[str, Finish] = {"length": "length", "content_filter": "refused", "max_tokens": "length"}


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered."""

    text: str
    model: str
    finish: Finish
    tool_calls: tuple[ToolCall, ...]
    usage: Usage


class RefusedRequestError(Exception):
    """The endpoint refused a request, perhaps for how it was worded: `reason` is our error, `said` is for no eye."""

    def __init__(self, reason: ModelError, status: int, said: str) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.status = status
        self.said = said


class ChatWire:
    """Speaks with one endpoint. Thread-safe."""

    def __init__(self, options: ChatOptions) -> None:
        self._options = options
        self._connection = Connection(options.base_url, options.api_key, options.timeout)

    def complete(self, request: Mapping[str, Any]) -> Completion:
        """Send a request and return the answer.

        Raises:
            RefusedRequestError: the endpoint answered with an error of its own; the reason may be retryable.
            RetryableModelError: it did not answer, not in time, or not in a way that can be read.
            UnusableAnswerError: its filter refused the request.
        """
        import openai

        begun = time.monotonic()
        body = {"model": self._options.model, **request}
        try:
            answer = self._connection.post("/chat/completions", body)
        except openai.APIStatusError as error:
            raise _refused(error) from None
        except openai.OpenAIError as error:
            raise model_error(error, WHAT) from None
        return _completion(answer, self._options.model, time.monotonic() - begun)

    def close(self) -> None:
        """Let go of the connections. Another request opens them again."""
        self._connection.close()


def message_parameters(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return turns of a conversation as they are sent."""
    return [_message(message) for message in messages]


def tool_parameters(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """Return the parameters that offer tools; none for no tools."""
    if not tools:
        return {}
    described = [
        {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)} for tool in tools
    ]
    return {"tools": [{"type": "function", "function": one} for one in described]}


def _message(message: Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        sent["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.wrote}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        sent["tool_call_id"] = message.tool_call_id
    return sent


def _refused(error: APIStatusError) -> Exception:
    said = f"{error.code or ''} {error.message}"
    if error.code == _FILTERED:
        return declined("")
    reason = model_error(error, WHAT)
    return RefusedRequestError(reason, 0 if error.code == _TOO_LONG else error.status_code, said)


def declined(wrote: str) -> UnusableAnswerError:
    """Return the error for a model that refuses to answer."""
    return UnusableAnswerError("The chat model declined to answer.", kind="refused", wrote=wrote)


def _completion(body: bytes, model: str, seconds: float) -> Completion:
    try:
        answer: Any = json.loads(body)
        choice: Any = answer["choices"][0]
        message: Any = choice["message"]
        text, refusal = _text(message.get("content")), _text(message.get("refusal"))
        calls = tuple(_call(number, one) for number, one in enumerate(message.get("tool_calls") or ()))
        counted: Any = answer.get("usage") or {}
        usage = Usage(_count(counted, "prompt_tokens"), _count(counted, "completion_tokens"), seconds)
    except (ValueError, RecursionError, LookupError, AttributeError, TypeError):
        raise RetryableModelError(
            "The chat model endpoint gave an answer that cannot be read; check that base_url leads to a chat API."
        ) from None
    finish = _FINISHES.get(str(choice.get("finish_reason")), "tools" if calls else "stop")
    if refusal.strip() and not text.strip():
        text, finish = refusal, "refused"
    return Completion(text, str(answer.get("model") or model), finish, calls, usage)


def _text(content: Any) -> str:
    """Some servers give a list of parts instead of a string."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def _call(number: int, call: Any) -> ToolCall:
    function = call["function"]
    wrote = function.get("arguments")
    wrote = wrote if isinstance(wrote, str) else json.dumps(wrote or {}, ensure_ascii=False)
    return ToolCall(str(call.get("id") or f"call_{number}"), str(function["name"]), _arguments(wrote), wrote)


def _arguments(wrote: str) -> Mapping[str, Any] | None:
    from historian.chat_reading import read_object

    return read_object(wrote or "{}")


def _count(usage: Any, name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value >= 0 else 0
