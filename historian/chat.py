"""What the memory asks of a chat model, whatever serves it. `chat_client` speaks to endpoints; tests may script one.

Everything here blocks, belongs in a worker thread, and may be used from many threads at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from historian.errors import RetryableModelError
from prompts import Prompt

if TYPE_CHECKING:
    from pydantic import BaseModel

Role = Literal["rewrite", "merge", "capture", "evolve", "recall"]
ROLES: tuple[Role, ...] = ("rewrite", "merge", "capture", "evolve", "recall")
"""What a model is used for. Each role may have a model of its own."""

Finish = Literal["stop", "tools", "length", "refused"]

Shape = TypeVar("Shape", bound="BaseModel")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call took: tokens as the endpoint counts them, 0 where it does not, and seconds."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer(Generic[Shape]):
    """A structured answer that passed validation. `text` is what the model wrote; `repaired` says it was not JSON."""

    value: Shape
    text: str
    model: str
    usage: Usage = Usage()
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that a model may call; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model wishes. `arguments` is None where what it `wrote` is no JSON object even after repair."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    wrote: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. A `tool` message answers the call `tool_call_id`."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model says next: text, calls of tools, or both. `length`: it was cut off; `refused`: it declined."""

    text: str
    model: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage = Usage()

    @property
    def message(self) -> Message:
        """This reply as a turn of the conversation."""
        return Message("assistant", self.text, self.tool_calls)


@dataclass(frozen=True, slots=True)
class ChatTrouble:
    """Why some roles have no model at the moment, in one sentence, since when, and when it is tried again."""

    roles: tuple[Role, ...]
    reason: str
    since: datetime
    retry_at: datetime


Outcome = Literal["answered", "unusable", "outage", "rejected"]


@dataclass(frozen=True, slots=True)
class ChatCall:
    """One finished call to an endpoint, for whoever counts them. `model` is that of the settings."""

    role: Role
    model: str
    outcome: Outcome
    usage: Usage = Usage()


class Chat(Protocol):
    """The chat models of the memory, one for each role.

    Both ways to ask raise:
        NotConfiguredError: the role has no model.
        RetryableModelError: the endpoint is not available now (time-out, refused connection, 429, 5xx), or was not a
            moment ago; `retry_after` in seconds where it is known. What can be done by rules is done by rules.
        ModelSettingsError: the key, the model or the address is wrong (401, 403, 404); trying again does not help.
        PermanentModelError: the endpoint refuses this very request.
    """

    def configured(self, role: Role) -> bool:
        """Say whether a model is set for this role."""
        ...

    def answer(self, role: Role, prompt: Prompt, shape: type[Shape]) -> Answer[Shape]:
        """Return the model's answer in the given shape, which needs a field that is required.

        Raises:
            UnusableAnswerError: besides those above, the answer is not of that shape even after repair: try again with
                its `violations` and what it `wrote`.
        """
        ...

    def converse(self, role: Role, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
        """Return the model's next turn, in free text or with calls of tools."""
        ...

    def troubles(self) -> tuple[ChatTrouble, ...]:
        """Return what does not work at the moment; empty when all is well or nothing was tried."""
        ...

    def close(self) -> None:
        """Let go of all connections."""
        ...


def troubles_of(chat: Chat, role: Role) -> tuple[ChatTrouble, ...]:
    """Return what keeps a role from having a model at the moment."""
    return tuple(trouble for trouble in chat.troubles() if role in trouble.roles)


def is_away(chat: Chat, role: Role, error: RetryableModelError) -> bool:
    """Say whether an endpoint that failed is out of order: asked not to be called, or failed more than by chance."""
    return bool(error.retry_after or troubles_of(chat, role))
