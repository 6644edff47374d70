"""Speaks with the model that recalls: with tools where it takes them, else in JSON, and switches by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from historian.chat import Chat, Message, ToolCall, Usage
from historian.errors import ModelSettingsError, PermanentModelError, UnusableAnswerError
from historian.recall_budget import Budget
from historian.recall_looking import HANDS, SPECS
from prompts import Prompt, Turn

if TYPE_CHECKING:
    from historian.recall_moves import Move

LAST = "This is the last round: hand in the view now, with what is proven, and put all else under uncertain."
CALLED_AT_ONCE = 8
"""Calls of one reply that are carried out."""


@dataclass(frozen=True, slots=True)
class Look:
    """One look that the model asks for; `call_id` is that of its call, where it has tools."""

    tool: str
    arguments: Mapping[str, Any]
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What the model wants: looks, a view or both; neither, where it wrote what is of no use."""

    looks: tuple[Look, ...] = ()
    view: Move | None = None
    is_done: bool = False


class Speaker:
    """One conversation with the model of the role `recall`. Blocks. Raises as `Chat` does."""

    def __init__(self, chat: Chat, prompt: Prompt, budget: Budget) -> None:
        self._chat = chat
        self._prompt = prompt
        self._budget = budget
        self._turns = [Message(turn.role, turn.content) for turn in prompt.turns]
        self._told: list[str] = []
        self._has_tools = True
        self._unanswered: list[ToolCall] = []

    def next(self) -> Said:
        """Return what the model says next; what it was told is told before."""
        if self._budget.is_last_round:
            self.tell(LAST)
        if self._has_tools:
            try:
                return self._with_tools()
            except ModelSettingsError:
                raise
            except PermanentModelError:  # some servers refuse every request that offers tools
                self._switch()
        return self._in_json()

    def answer(self, look: Look, text: str) -> None:
        """Tell what a look gave."""
        if look.call_id:
            self._turns.append(Message("tool", text, tool_call_id=look.call_id))
            self._unanswered = [call for call in self._unanswered if call.id != look.call_id]
            self._told.append(text)
        else:
            self.tell(f"{look.tool}: {text}")

    def tell(self, text: str) -> None:
        """Tell the model something, once every call of it has an answer."""
        self._answer_the_rest()
        self._told.append(text)
        if self._turns[-1].role == "user":
            self._turns[-1] = replace(self._turns[-1], content=f"{self._turns[-1].content}\n\n{text}")
        else:
            self._turns.append(Message("user", text))

    def _with_tools(self) -> Said:
        from historian.recall_moves import move_from

        self._answer_the_rest()
        offered = HANDS if self._budget.is_last_round else SPECS
        reply = self._budget.within(lambda: self._chat.converse("recall", self._turns, offered))
        self._count(reply.usage, reply.text + "".join(call.wrote for call in reply.tool_calls))
        if not reply.tool_calls:
            self._switch(reply.text)
            return self._read(reply.text)
        self._turns.append(reply.message)
        self._unanswered = [*reply.tool_calls]
        hands = {spec.name for spec in HANDS}
        handed = [call for call in reply.tool_calls if call.name in hands]
        view = move_from(handed[-1].arguments or {}) if handed else None
        looks = [Look(call.name, call.arguments or {}, call.id) for call in reply.tool_calls if call.name not in hands]
        is_done = view is not None and handed[-1].name == HANDS[-1].name
        return Said(tuple(looks[:CALLED_AT_ONCE]), view, is_done)

    def _in_json(self) -> Said:
        from historian.recall_moves import Move

        self._answer_the_rest()
        turns = tuple(Turn(one.role, one.content) for one in self._turns if one.role != "tool")
        prompt = replace(self._prompt, turns=turns)
        try:
            answer = self._budget.within(lambda: self._chat.answer("recall", prompt, Move))
        except UnusableAnswerError as error:
            self._count(Usage(), error.wrote)
            self._heard(error.wrote)
            return Said()
        self._count(answer.usage, answer.text)
        self._heard(answer.text)
        return _said(answer.value)

    def _read(self, text: str) -> Said:
        """Read the move that a model without tools may have written."""
        from historian.chat_reading import read_answer
        from historian.recall_moves import Move

        try:
            return _said(read_answer(text, Move)[0])
        except UnusableAnswerError:
            return Said()

    def _switch(self, wrote: str = "") -> None:
        """Go on without tools: what was told so far is told again in one turn."""
        self._has_tools = False
        *first, last = (Message(turn.role, turn.content) for turn in self._prompt.turns)
        told = "\n\n".join((last.content, *self._told))
        self._turns = [*first, Message(last.role, told)]
        self._unanswered = []
        self._heard(wrote)

    def _heard(self, wrote: str) -> None:
        if wrote.strip():
            self._turns.append(Message("assistant", wrote))

    def _answer_the_rest(self) -> None:
        """Endpoints refuse a conversation in which a call has no answer."""
        for call in self._unanswered:
            self._turns.append(Message("tool", "Noted.", tool_call_id=call.id))
        self._unanswered = []

    def _count(self, usage: Usage, wrote: str) -> None:
        self._budget.count(usage, len(wrote) + _length(self._turns))


def _said(move: Move) -> Said:
    looks = tuple(
        Look(
            look.tool,
            {
                "query": look.query,
                "message_id": look.message_id,
                "since": look.since,
                "until": look.until,
                "role": look.role,
            },
        )
        for look in move.looks[:CALLED_AT_ONCE]
    )
    return Said(() if move.done else looks, move if move.done or move.points else None, move.done)


def _length(turns: Sequence[Message]) -> int:
    return sum(len(turn.content) for turn in turns)
