"""Chat models behind OpenAI-compatible endpoints: how they are asked, what they cost, and when they are left alone."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from historian.chat import (
    ROLES,
    Answer,
    ChatCall,
    ChatTrouble,
    Message,
    Outcome,
    Reply,
    Role,
    Shape,
    ToolSpec,
    Usage,
)
from historian.chat_dialect import REFUSING, Dialect, Mode
from historian.chat_wire import (
    WHAT,
    ChatWire,
    Completion,
    RefusedRequestError,
    declined,
    message_parameters,
    tool_parameters,
)
from historian.clock import Clock
from historian.errors import ModelError, NotConfiguredError, RetryableModelError, UnusableAnswerError
from historian.options import ChatOptions
from historian.outages import OutageGuard
from prompts import Prompt

MOST_WORDINGS = 8
"""So many wordings of one request are tried before its refusal is believed."""
UNUSABLE_IN_A_ROW = 3
"""After so many unusable answers in a row another way to ask for structure is tried."""

log = logging.getLogger(__name__)

Word = Callable[[Dialect], dict[str, Any]]


class _Line:
    """What is known of one model at one endpoint. Thread-safe."""

    def __init__(self, options: ChatOptions, clock: Clock) -> None:
        self.wire = ChatWire(options)
        self.guard = OutageGuard(WHAT, clock)
        self._lock = threading.Lock()
        self._dialect = Dialect()
        self._unusable = 0

    @property
    def dialect(self) -> Dialect:
        """The wording that worked last."""
        with self._lock:
            return self._dialect

    def learn(self, dialect: Dialect) -> None:
        """Remember a wording that worked."""
        with self._lock:
            if dialect != self._dialect:
                log.info("the %s is asked for %s now", WHAT, dialect.mode.value)
            self._dialect = dialect

    def note_usable(self) -> None:
        """Note that an answer was of its shape."""
        with self._lock:
            self._unusable = 0

    def note_unusable(self, kind: str) -> None:
        """Note that an answer was not of its shape; after several in a row structure is asked for in another way."""
        if kind not in ("empty", "malformed", "invalid"):
            return
        with self._lock:
            self._unusable += 1
            if self._unusable >= UNUSABLE_IN_A_ROW:
                self._unusable = 0
                modes = list(Mode)
                following = modes[(modes.index(self._dialect.mode) + 1) % len(modes)]
                self._dialect = replace(self._dialect, mode=following)
                log.info("the %s gave no usable answer as it was asked; %s is tried", WHAT, following.value)


class OpenAIChat:
    """The chat models of the settings, one for each role; see `Chat`. Roles of one endpoint share what it taught.

    `counted` is told of every call that was made. Not told are those that a remembered outage spares.
    Endpoints are waited for within `waiting`.
    """

    def __init__(
        self,
        options: Mapping[Role, ChatOptions],
        clock: Clock,
        counted: Callable[[ChatCall], object],
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._options = options
        self._counted = counted
        self._waiting = waiting
        lines = {_place(one): _Line(one, clock) for one in options.values()}
        self._lines = {role: lines[_place(one)] for role, one in options.items()}

    def configured(self, role: Role) -> bool:
        """Say whether a model is set for this role."""
        return role in self._options

    def answer(self, role: Role, prompt: Prompt, shape: type[Shape]) -> Answer[Shape]:
        """Return the model's answer in the given shape; see `Chat`. The shape needs a field that is required."""
        from historian.chat_reading import read_answer

        line = self._line(role)
        turns = [{"role": turn.role, "content": turn.content} for turn in prompt.turns]

        def word(dialect: Dialect) -> dict[str, Any]:
            return {"messages": dialect.messages(_instructed(turns, dialect.hint(shape))), **dialect.format(shape)}

        with line.guard.guard(), self._measured(role) as call:
            completion = self._ask(role, line, word, structured=True)
            call.usage = completion.usage
            try:
                if completion.finish == "refused":
                    raise declined(completion.text)
                value, repaired = read_answer(completion.text, shape, cut_off=completion.finish == "length")
            except UnusableAnswerError as error:
                line.note_unusable(error.kind)
                raise
            line.note_usable()
        return Answer(value, completion.text, completion.model, completion.usage, repaired)

    def converse(self, role: Role, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
        """Return the model's next turn; see `Chat`."""
        line = self._line(role)
        sent = message_parameters(messages)
        offered = tool_parameters(tools)
        with line.guard.guard(), self._measured(role) as call:
            found = self._ask(role, line, lambda dialect: {"messages": dialect.messages(sent), **offered})
            call.usage = found.usage
        return Reply(found.text, found.model, found.tool_calls, found.finish, found.usage)

    def troubles(self) -> tuple[ChatTrouble, ...]:
        """Return what does not work at the moment."""
        found: list[ChatTrouble] = []
        for line in dict.fromkeys(self._lines.values()):
            outage = line.guard.outage
            if outage is not None:
                roles: list[Role] = [role for role in ROLES if self._lines.get(role) is line]
                found.append(ChatTrouble(tuple(roles), outage.reason, outage.since, outage.retry_at))
        return tuple(found)

    def close(self) -> None:
        """Let go of all connections."""
        for line in self._lines.values():
            line.wire.close()

    def _line(self, role: Role) -> _Line:
        line = self._lines.get(role)
        if line is None:
            raise NotConfiguredError(f"No chat model is set for {role}; set chat.model, or chat.{role}.model.")
        return line

    def _ask(self, role: Role, line: _Line, word: Word, *, structured: bool = False) -> Completion:
        """Ask in the wording that is known to work; where it is refused, in others, and remember the one that works."""
        waiting, tried = [line.dialect], set[Dialect]()
        believed: ModelError | None = None
        while waiting and len(tried) < MOST_WORDINGS:
            dialect = waiting.pop(0)
            if dialect in tried:
                continue
            tried.add(dialect)
            parameters = dialect.parameters(self._options[role].max_tokens)
            try:
                wording = {**word(dialect), **parameters}
                with self._waiting():
                    completion = line.wire.complete(wording)
            except RefusedRequestError as refused:
                if refused.status not in REFUSING:
                    raise refused.reason from None
                believed = believed or refused.reason
                waiting = [*dialect.alternatives(refused.status, refused.said, structured=structured), *waiting]
            else:
                line.learn(dialect)
                return completion
        assert believed is not None
        raise believed

    @contextmanager
    def _measured(self, role: Role) -> Generator[_Running]:
        """Tell of a call when it has ended, however it did."""
        call, begun = _Running(), time.monotonic()
        try:
            yield call
            call.outcome = "answered"
        except UnusableAnswerError:
            call.outcome = "unusable"
            raise
        except RetryableModelError:
            call.outcome = "outage"
            raise
        finally:
            usage = replace(call.usage, seconds=time.monotonic() - begun)
            self._counted(ChatCall(role, self._options[role].model, call.outcome, usage))


@dataclass(slots=True)
class _Running:
    outcome: Outcome = "rejected"
    usage: Usage = field(default_factory=Usage)


def _place(options: ChatOptions) -> ChatOptions:
    """Return what tells endpoints apart."""
    return replace(options, max_tokens=ChatOptions().max_tokens)


def _instructed(turns: Sequence[dict[str, Any]], hint: str) -> list[dict[str, Any]]:
    """Return the turns with a hint added to the instructions."""
    first, *others = turns
    if not hint:
        return [first, *others]
    if first["role"] != "system":
        return [{"role": "system", "content": hint}, first, *others]
    return [{**first, "content": f"{first['content']}\n\n{hint}"}, *others]
